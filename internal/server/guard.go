package server

import (
	"fmt"
	"net/http"
	"runtime/debug"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crdconvert/webhookd/internal/apistatus"
)

// guard wraps everything on the webhook listener: it ends connections that are to end with this
// answer, and turns a panic into an answer.
func (s *Server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a := &answer{ResponseWriter: w, server: s, request: r}
		defer s.recoverPanic(a)
		next.ServeHTTP(a, r)
		a.begin()
	})
}

// recoverPanic answers 500, for a dropped connection would tell kube-apiserver nothing. It must be
// deferred directly.
func (s *Server) recoverPanic(w http.ResponseWriter) {
	value := recover()
	if value == nil {
		return
	}
	if value == http.ErrAbortHandler { //nolint:errorlint,err113 // net/http compares it so
		panic(value)
	}
	s.opts.Hooks.panicked(fmt.Sprintf("%T", value), debug.Stack())
	if len(w.Header()["Content-Type"]) > 0 {
		// The handler has begun its own answer. What is sent cannot be taken back, and half of it
		// must not pass for the whole.
		panic(http.ErrAbortHandler)
	}
	s.reject(w, http.StatusInternalServerError, metav1.StatusReasonInternalError,
		"webhookd failed inside; its log has the stack of the panic")
}

// reject answers a request on the webhook listener that gets no review.
func (s *Server) reject(w http.ResponseWriter, code int, reason metav1.StatusReason, message string) {
	s.opts.Hooks.rejected(code)
	apistatus.Write(w, code, reason, message)
}
