package server

import (
	"net/http"
	"time"
)

// An answer is the ResponseWriter of a request. It sets `Connection: close` if the connection must
// end. It decides so when the answer begins: up to half a minute may pass after the request
// arrives, and with it the signal to stop.
type answer struct {
	http.ResponseWriter

	server  *Server
	conn    *conn     // nil: of another server's listener
	arrived time.Time // the header of the request
	call    *call     // nil: no review
	begun   bool
	failed  bool // by its code
}

// newAnswer returns the answer to a request that has just arrived.
func (s *Server) newAnswer(w http.ResponseWriter, r *http.Request) *answer {
	return &answer{ResponseWriter: w, server: s, conn: connOfRequest(r), arrived: time.Now()}
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
	if a.server.draining.Load() || a.conn.expired(a.arrived) {
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
