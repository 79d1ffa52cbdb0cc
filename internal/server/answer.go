package server

import (
	"net/http"
	"time"
)

// An answer says with its header that it is the connection's last, where it is. What is true when the request comes need not
// be when it is answered: half a minute may lie between, and in it the signal to stop.
type answer struct {
	http.ResponseWriter

	server  *Server
	request *http.Request
	begun   bool
	failed  bool // the code says so
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

// WriteHeader begins the answer, unless it is an interim one.
func (a *answer) WriteHeader(code int) {
	if code >= http.StatusOK {
		a.begin()
		a.failed = code >= http.StatusBadRequest
	}
	a.ResponseWriter.WriteHeader(code)
}

// Write begins the answer where it has not been.
func (a *answer) Write(p []byte) (int, error) {
	a.begin()
	return a.ResponseWriter.Write(p)
}

// FlushError begins the answer where it has not been, and sends what there is of it.
func (a *answer) FlushError() error {
	a.begin()
	return http.NewResponseController(a.ResponseWriter).Flush()
}

// Unwrap is for http.ResponseController.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// bare returns net/http's own writer: http.MaxBytesReader tells no other that there is too much to go on.
func bare(w http.ResponseWriter) http.ResponseWriter {
	if a, ok := w.(*answer); ok {
		return a.ResponseWriter
	}
	return w
}
