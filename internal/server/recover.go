package server

import (
	"fmt"
	"net/http"
	"runtime/debug"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crdconvert/webhookd/internal/review/apistatus"
)

// guard wraps every handler of the webhook listener. It ends connections that must end, and answers
// panics.
func (s *Server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a := s.newAnswer(w, r)
		defer s.recoverPanic(a)
		next.ServeHTTP(a, r)
		a.begin()
	})
}

// recoverPanic answers 500: kube-apiserver could not explain a dropped connection to its user. It
// must be deferred directly.
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
		// The handler has begun its own answer. Half of it must not pass for the whole.
		panic(http.ErrAbortHandler)
	}
	s.reject(w, http.StatusInternalServerError, metav1.StatusReasonInternalError,
		"webhookd panicked; its log has the stack")
}

// reject answers a request on the webhook listener that gets no review.
func (s *Server) reject(w http.ResponseWriter, code int, reason metav1.StatusReason, message string) {
	s.opts.Hooks.rejected(code)
	apistatus.Write(w, code, reason, message)
}
