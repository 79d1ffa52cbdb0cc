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
	request *http.Request
	begun   bool
	failed  bool // by its code
}

func (a *answer) begin() {
	if a.begun {
		return
	}
	a.begun = true
	if a.server.draining.Load() || connExpired(a.request, time.Now()) {
		a.Header().Set("Connection", "close")
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

// bare returns net/http's own writer: http.MaxBytesReader reports a body that is too large only to
// that.
func bare(w http.ResponseWriter) http.ResponseWriter {
	if a, ok := w.(*answer); ok {
		return a.ResponseWriter
	}
	return w
}
