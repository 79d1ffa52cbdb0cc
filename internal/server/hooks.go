package server

import "net/http"

// Hooks report events to metrics and logs, which this package does not import. Each may be nil,
// must be quick and must be safe for concurrent use.
type Hooks struct {
	// Shed reports a request answered 429, with the reason, one of [ShedReasons].
	Shed func(reason string)
	// Rejected reports any other request on the webhook listener that the server refused, or whose
	// body could not be read, with the HTTP code of the answer, one of [RejectedCodes].
	Rejected func(code int)
	// Panicked reports a panic that left the webhook handler, with the stack and the Go type of the
	// value; the value itself may quote an object.
	Panicked func(valueType string, stack []byte)
	// CutOff reports a connection of the webhook listener that was closed to make room for another,
	// and its state, one of [CutOffStates]: "waiting" (nothing was read of it), "fresh" (never had
	// a review answered) or "idle" (had one).
	CutOff func(state string)
	// HandshakeFailed reports a failed TLS handshake: the reason, one of [HandshakeReasons], and
	// the log text, which may be long and quote the client.
	HandshakeFailed func(reason, text string)
	// Draining reports that the server has begun to stop.
	Draining func()
}

// Reasons to answer 429.
const (
	// ShedBytes: the requests in flight use the whole memory for them, or the client's share.
	ShedBytes = "bytes"
	// ShedRequests: too many requests are in flight.
	ShedRequests = "requests"
	// ShedTurns: too many requests were converted at once.
	ShedTurns = "turns"
	// ShedSlow: the request's body was too slow while others waited.
	ShedSlow = "slow"
	// ShedMemory: the heap was almost full, and this was the largest request.
	ShedMemory = "memory"
)

// ShedReasons returns the reasons of Hooks.Shed.
func ShedReasons() []string {
	return []string{ShedBytes, ShedRequests, ShedTurns, ShedSlow, ShedMemory}
}

// RejectedCodes returns the codes of Hooks.Rejected.
func RejectedCodes() []int {
	return []int{
		http.StatusBadRequest, http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusRequestTimeout,
		http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType, http.StatusInternalServerError,
	}
}

// Reasons for a failed TLS handshake.
const (
	// HandshakeClosed: the connection ended or broke, or the client stopped sending.
	HandshakeClosed = "closed"
	// HandshakeRefusedByClient: the client sent an alert. Most often its caBundle does not trust the
	// served certificate.
	HandshakeRefusedByClient = "refused_by_client"
	// HandshakeRefusedByServer: the client does not speak TLS, has no version, cipher or application
	// protocol in common with the server, or no certificate that the server accepts.
	HandshakeRefusedByServer = "refused_by_server"
)

// HandshakeReasons returns the reasons of Hooks.HandshakeFailed.
func HandshakeReasons() []string {
	return []string{HandshakeClosed, HandshakeRefusedByClient, HandshakeRefusedByServer}
}

func (h *Hooks) shed(reason string) {
	if h.Shed != nil {
		h.Shed(reason)
	}
}

func (h *Hooks) rejected(code int) {
	if h.Rejected != nil {
		h.Rejected(code)
	}
}

func (h *Hooks) panicked(valueType string, stack []byte) {
	if h.Panicked != nil {
		h.Panicked(valueType, stack)
	}
}

func (h *Hooks) cutOff(state string) {
	if h.CutOff != nil {
		h.CutOff(state)
	}
}

func (h *Hooks) handshakeFailed(reason, text string) {
	if h.HandshakeFailed != nil {
		h.HandshakeFailed(reason, text)
	}
}

func (h *Hooks) draining() {
	if h.Draining != nil {
		h.Draining()
	}
}
