package server

// Hooks are called as things happen, so that metrics and logs need no import here. Each may be nil,
// must be quick and must be safe for concurrent use.
type Hooks struct {
	// Shed reports a request answered 429 and why: [ShedBytes], [ShedRequests] or [ShedSlow].
	Shed func(reason string)
	// Rejected reports any other request on the webhook listener that the server refused itself, or
	// whose body it could not read to the end, with the HTTP code of the answer.
	Rejected func(code int)
	// Panicked reports a panic that left the webhook handler: the Go type of the value, because the
	// value may quote an object, and the stack.
	Panicked func(valueType string, stack []byte)
	// CutOff reports a connection of the webhook listener that was closed to make room for another, and what its client had
	// shown of itself, one of [CutOffStandings]: "silent" (sent nothing), "greeting" (its handshake was not done), "fresh" (never
	// had a review answered), "resting" (had, and waited for its next request) or "bringing" (was sending it).
	CutOff func(standing string)
	// HandshakeFailed reports a TLS handshake that failed: the reason, one of [HandshakeReasons], and what net/http says of it,
	// which may be long and quote the client.
	HandshakeFailed func(reason, text string)
	// Draining reports that the server has begun to stop.
	Draining func()
}

// Reasons to answer 429.
const (
	// ShedBytes says that the bodies in flight took the whole byte budget.
	ShedBytes = "bytes"
	// ShedRequests says that too many requests were in flight.
	ShedRequests = "requests"
	// ShedSlow says that the request's body came too slowly while others waited.
	ShedSlow = "slow"
)

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

func (h *Hooks) cutOff(s standing) {
	if h.CutOff != nil {
		h.CutOff(s.String())
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
