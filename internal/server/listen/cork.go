package listen

import "github.com/crdconvert/webhookd/internal/server/gate"

// net/http passes an answer of more than 4 KiB to TLS in several pieces, and TLS makes records of
// at most 16 KiB. Each is a system call that wakes the client. A cork collects them below TLS until
// the handler is done: one write for an ordinary object, a quarter of the writes for a list (make
// bench-serve: a tenth of the CPU).

const (
	// CorkSize is the memory of a cork.
	CorkSize = 64 << 10
	// CorkAbove is the size from which an answer is worth a cork; smaller ones are one write
	// anyway.
	CorkAbove = 2 << 10
)

// Watch makes each write count its bytes as done of s.
func (c *Conn) Watch(s *gate.Share) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.share = s
}

// Cork collects writes from now on.
func (c *Conn) Cork() {
	buffer, ok := c.conns.corks.Get().(*[]byte)
	if !ok {
		made := make([]byte, 0, CorkSize)
		buffer = &made
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.corked = buffer
}

// Uncork writes what the cork has collected.
func (c *Conn) Uncork() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.flush()
	c.conns.corks.Put(c.corked)
	c.corked = nil
}

// Write writes what TLS has sealed, or collects it under a cork. After an error it always fails, so
// net/http gets a delayed error from its next write.
func (c *Conn) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.corked != nil && len(*c.corked)+len(p) > CorkSize {
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

// flush writes what the cork has collected. Callers hold mu.
func (c *Conn) flush() {
	if len(*c.corked) > 0 {
		_, c.failed = c.send(*c.corked)
	}
	*c.corked = (*c.corked)[:0]
}
