package server

import (
	"context"
	"net"
	"net/http"
)

// WebhookListener lets a test break the socket of the webhook listener under a running server.
func WebhookListener(s *Server) net.Listener { return s.webhookListener.Listener }

// AdminListener is the same for the admin listener.
func AdminListener(s *Server) net.Listener { return s.adminListener.Listener }

// AdminHandler returns the handler of the admin listener.
func AdminHandler(s *Server) http.Handler { return s.admin }

// ListenOn has Run serve reviews on l in place of a socket.
func ListenOn(s *Server, l net.Listener) {
	s.listenAt = func(context.Context, string, string) (net.Listener, error) { return l, nil }
}
