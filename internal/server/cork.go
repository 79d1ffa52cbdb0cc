package server

import "sync"

// net/http passes an answer of more than 4 KiB to TLS in several pieces, and TLS makes records of
// at most 16 KiB. Each is a system call that wakes the client. A cork collects them below TLS until
// the handler is done: one write for an ordinary object, a quarter of the writes for a list (make
// bench-serve: a tenth of the CPU).

const (
	corkSize  = 64 << 10
	corkAbove = 2 << 10 // size of the answer; smaller ones are one write anyway
)

// corks is a pool of buffers of corkSize.
type corks struct{ pool sync.Pool }

func (p *corks) get() *[]byte {
	if b, ok := p.pool.Get().(*[]byte); ok {
		return b
	}
	b := make([]byte, 0, corkSize)
	return &b
}

func (p *corks) put(b *[]byte) { p.pool.Put(b) }

// watch makes each write count its bytes as done of s; nil: of none.
func (c *conn) watch(s *share) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.share = s
}

// cork collects writes in buffer from now on.
func (c *conn) cork(buffer *[]byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.corked = buffer
}

// uncork writes the buffer, which c does not use any more.
func (c *conn) uncork() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.flush()
	c.corked = nil
}

// Write writes what TLS has sealed, or collects it under a cork. After an error it always fails, so
// net/http gets a delayed error from its next write.
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

// flush writes what the cork has collected. Callers hold mu.
func (c *conn) flush() {
	if len(*c.corked) > 0 && c.failed == nil {
		_, c.failed = c.send(*c.corked)
	}
	*c.corked = (*c.corked)[:0]
}
