package server

import "net/http"

// Hooks report events to metrics and logs, which this package does not import. Each may be nil,
// must be quick and must be safe for concurrent use.
type Hooks struct {
	// Shed reports a request answered 429, with the reason, one of [gate.ShedReasons].
	Shed func(reason string)
	// Rejected reports any other request on the webhook listener that the server refused, or whose
	// body could not be read, with the HTTP code of the answer, one of [RejectedCodes].
	Rejected func(code int)
	// Panicked reports a panic that left the webhook handler, with the stack and the Go type of the
	// value; the value itself may quote an object.
	Panicked func(valueType string, stack []byte)
	// CutOff reports a connection of the webhook listener that was closed to make room for another,
	// and its state, one of [listen.CutOffStates].
	CutOff func(state string)
	// HandshakeFailed reports a failed TLS handshake: the reason, one of [listen.HandshakeReasons],
	// and the client's address with the error.
	HandshakeFailed func(reason, text string)
	// HTTPFailed reports a line of net/http's log, such as one for a connection that could not be
	// accepted.
	HTTPFailed func(text string)
	// Draining reports that the server has begun to stop.
	Draining func()
}

// RejectedCodes returns the codes of Hooks.Rejected.
func RejectedCodes() []int {
	return []int{
		http.StatusBadRequest, http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusRequestTimeout,
		http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType, http.StatusInternalServerError,
	}
}

// complete replaces each hook that is nil by one that does nothing.
func (h *Hooks) complete() {
	if h.Shed == nil {
		h.Shed = func(string) {}
	}
	if h.Rejected == nil {
		h.Rejected = func(int) {}
	}
	if h.Panicked == nil {
		h.Panicked = func(string, []byte) {}
	}
	if h.CutOff == nil {
		h.CutOff = func(string) {}
	}
	if h.HandshakeFailed == nil {
		h.HandshakeFailed = func(string, string) {}
	}
	if h.HTTPFailed == nil {
		h.HTTPFailed = func(string) {}
	}
	if h.Draining == nil {
		h.Draining = func() {}
	}
}
