package server

import (
	"context"
	"net"
)

// WebhookListener lets a test break the socket of the webhook listener under a running server.
func WebhookListener(s *Server) net.Listener { return s.webhookListener.Listener }

// AdminListener is the same for the admin listener.
func AdminListener(s *Server) net.Listener { return s.adminListener.Listener }

// ListenOn has Run serve reviews on l in place of a socket.
func ListenOn(s *Server, l net.Listener) {
	s.listen = func(context.Context, string, string) (net.Listener, error) { return l, nil }
}
