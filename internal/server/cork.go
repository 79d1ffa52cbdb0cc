package server

import (
	"net/http"
	"sync"
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

// put takes a buffer back; nil is none.
func (p *corks) put(b *[]byte) {
	if b != nil {
		p.pool.Put(b)
	}
}

// corkAnswer has the answer on c gathered, where memory for that is left. Its request of size bytes has come whole.
func (s *Server) corkAnswer(c *conn, share *share, size int64) {
	if size >= corkAbove && s.gate.growNow(share, corkSize) {
		c.cork(s.corks.get())
	}
}

// serveOn calls the webhook handler for a request on c, and sends what is gathered of its answer.
func (s *Server) serveOn(c *conn, share *share, w http.ResponseWriter, r *http.Request) {
	c.watch(func(n int) { s.gate.left(share, n) })
	defer func() {
		s.corks.put(c.uncork())
		c.watch(nil)
	}()
	s.opts.Webhook.ServeHTTP(w, r)
	if c.isCorked() {
		_ = http.NewResponseController(w).Flush() // not after a panic, which is answered instead
	}
}

// watch has f called with the bytes that each write has sent, and with 0 before the first one.
func (c *conn) watch(f func(n int)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sent = f
}

// cork has writes gathered in buffer.
func (c *conn) cork(buffer *[]byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.corked = buffer
}

func (c *conn) isCorked() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.corked != nil
}

// uncork writes what was gathered and returns the buffer, or nil where there is none.
func (c *conn) uncork() *[]byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	buffer := c.corked
	if buffer != nil {
		c.flush()
	}
	c.corked = nil
	return buffer
}

// Write writes what TLS has sealed, or gathers it under a cork. After an error it always fails: net/http learns of one
// that came late with its next write.
func (c *conn) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.corked != nil && len(*c.corked)+len(p) > corkSize {
		c.flush()
	}
	switch {
	case c.failed != nil:
		return 0, c.failed
	case c.corked == nil:
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
