package server

import (
	"net/http"
	"sync"
	"time"
)

// net/http hands an answer of more than 4 KiB to TLS in several pieces, and TLS makes records of at most 16 KiB. Each is a
// system call that wakes the client. A cork gathers them below TLS until the handler is done: one write for an ordinary
// object, an eighth of the writes for a list (make bench-serve: a tenth of the CPU).

const (
	corkSize  = 128 << 10
	corkAbove = 2 << 10 // of the request: answers are about as large, and smaller ones are one write anyway
)

// corks are buffers of corkSize.
type corks struct{ pool sync.Pool }

func (p *corks) get() *[]byte {
	if b, ok := p.pool.Get().(*[]byte); ok {
		return b
	}
	b := make([]byte, 0, corkSize)
	return &b
}

// serveCorked calls the webhook handler and sends its answer in as few writes as there can be.
func (s *Server) serveCorked(w http.ResponseWriter, r *http.Request) {
	c, ok := r.Context().Value(connKey{}).(*conn)
	asksFirst := r.Header["Expect"] != nil // and waits for 100 Continue, which a cork would hold back
	if !ok || asksFirst || r.ContentLength < corkAbove {
		s.opts.Webhook.ServeHTTP(w, r)
		return
	}
	deadline, _ := r.Context().Deadline()
	c.cork(s.corks.get(), deadline)
	defer func() { s.corks.pool.Put(c.uncork()) }()
	s.opts.Webhook.ServeHTTP(w, r)
	_ = http.NewResponseController(w).Flush() // not after a panic, which is answered instead
}

// cork has writes gathered in buffer, until the deadline: what is written after it may be the answer for a handler that does
// not return, and so does not end the cork.
func (c *conn) cork(buffer *[]byte, until time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.corked, c.corkedUntil = buffer, until
}

// uncork writes what was gathered and returns the buffer.
func (c *conn) uncork() *[]byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	buffer := c.corked
	c.flush()
	c.corked = nil
	return buffer
}

// Write writes what TLS has sealed, or gathers it under a cork. After an error it always fails: net/http learns of one
// that came late with its next write.
func (c *conn) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.corked == nil {
		if c.failed != nil {
			return 0, c.failed
		}
		return c.send(p)
	}
	late := time.Now().After(c.corkedUntil)
	if late || len(*c.corked)+len(p) > corkSize {
		c.flush()
	}
	if c.failed != nil {
		return 0, c.failed
	}
	if late {
		return c.send(p)
	}
	*c.corked = append(*c.corked, p...)
	return len(p), nil
}

// flush writes what the cork has gathered.
func (c *conn) flush() {
	if len(*c.corked) > 0 && c.failed == nil {
		_, c.failed = c.send(*c.corked)
	}
	*c.corked = (*c.corked)[:0]
}
