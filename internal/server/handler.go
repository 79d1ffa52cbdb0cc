package server

import (
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A Handler admits and limits reviews as a [Server] does, at any path of a server that is not
// webhookd's. Time limits of connections, TLS and HTTP/2 are that server's concern. Make one with
// [NewHandler].
type Handler struct {
	server  *Server
	handler http.Handler
}

// NewHandler returns a Handler for a webhook handler, with limits and hooks as in [Options].
func NewHandler(webhook http.Handler, limits Limits, hooks Hooks) *Handler {
	s := New(Options{Webhook: webhook, Limits: limits, Hooks: hooks})
	return &Handler{s, s.guard(http.HandlerFunc(s.servePost))}
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) { h.handler.ServeHTTP(w, r) }

// Stats returns what is in progress now.
func (h *Handler) Stats() Stats { return h.server.Stats() }

func (s *Server) servePost(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		s.reject(w, http.StatusMethodNotAllowed, metav1.StatusReasonMethodNotAllowed, "method is not allowed here, send a POST")
		return
	}
	s.serveReview(w, r)
}
