package server

import (
	"fmt"
	"net/http"
	"runtime/debug"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crdconvert/webhookd/internal/review/apistatus"
	"github.com/crdconvert/webhookd/internal/server/listen"
)

// An answer is the ResponseWriter of a request. It sets `Connection: close` if the connection must
// end. It decides so when the answer begins: up to half a minute may pass after the request
// arrives, and with it the signal to stop.
type answer struct {
	http.ResponseWriter

	server  *Server
	conn    *listen.Conn // nil: of another server's listener
	arrived time.Time    // the header of the request
	call    *call        // nil: no review
	begun   bool
	failed  bool // by its code
}

// newAnswer returns the answer to a request that has just arrived.
func (s *Server) newAnswer(w http.ResponseWriter, r *http.Request) *answer {
	return &answer{ResponseWriter: w, server: s, conn: listen.Of(r), arrived: time.Now()}
}

// answerOf returns the answer that guard has made.
func answerOf(w http.ResponseWriter) *answer {
	return w.(*answer) //nolint:forcetypeassert // guard wraps every handler
}

func (a *answer) begin() {
	if a.begun {
		return
	}
	a.begun = true
	if a.server.draining.Load() || a.conn.Expired(a.arrived) {
		a.Header().Set("Connection", "close")
	}
	if a.call != nil {
		a.call.answers()
	}
}

// WriteHeader begins the answer, unless the code is an interim one.
func (a *answer) WriteHeader(code int) {
	if code >= http.StatusOK {
		a.begin()
		a.failed = code >= http.StatusBadRequest
	}
	a.ResponseWriter.WriteHeader(code)
}

// Write begins the answer if necessary.
func (a *answer) Write(p []byte) (int, error) {
	a.begin()
	return a.ResponseWriter.Write(p)
}

// FlushError begins the answer if necessary, and flushes it.
func (a *answer) FlushError() error {
	a.begin()
	return http.NewResponseController(a.ResponseWriter).Flush()
}

// Unwrap is for http.ResponseController.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

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
	s.opts.Hooks.Panicked(fmt.Sprintf("%T", value), debug.Stack())
	if len(w.Header()["Content-Type"]) > 0 {
		// The handler has begun its own answer. Half of it must not pass for the whole.
		panic(http.ErrAbortHandler)
	}
	s.reject(w, http.StatusInternalServerError, metav1.StatusReasonInternalError,
		"webhookd panicked; its log has the stack")
}

// reject answers a request on the webhook listener that gets no review.
func (s *Server) reject(w http.ResponseWriter, code int, reason metav1.StatusReason, message string) {
	s.opts.Hooks.Rejected(code)
	apistatus.Write(w, code, reason, message)
}
