package server

import "net"

// WebhookListener lets a test break the webhook listener under a running server.
func WebhookListener(s *Server) net.Listener { return s.webhookListener }

// AdminListener is the same for the admin listener.
func AdminListener(s *Server) net.Listener { return s.adminListener }
