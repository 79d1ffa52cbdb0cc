package server

import (
	"net/http"
	"sync"
)

// A large answer leaves as TLS records of 16 KiB, each of them a system call that wakes the client. A cork gathers them
// below TLS while the handler writes, which is a tenth of the CPU of a list (BenchmarkLargeAnswer; make bench-serve).

const (
	corkSize  = 128 << 10
	corkAbove = 64 << 10 // of the request: answers are about as large, and smaller ones are a record or two
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

// cork gathers what is written to the connection of r until the returned function is called.
func (s *Server) cork(r *http.Request) (uncork func()) {
	c, ok := r.Context().Value(connKey{}).(*conn)
	if !ok || r.ContentLength < corkAbove {
		return func() {}
	}
	buffer := s.corks.get()
	c.mu.Lock()
	c.corked = buffer
	c.mu.Unlock()
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.flush()
		c.corked = nil
		s.corks.pool.Put(buffer)
	}
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
		return c.Conn.Write(p)
	}
	if len(*c.corked)+len(p) > corkSize {
		c.flush()
	}
	if c.failed != nil {
		return 0, c.failed
	}
	*c.corked = append(*c.corked, p...)
	return len(p), nil
}

// flush writes what the cork has gathered.
func (c *conn) flush() {
	if len(*c.corked) > 0 && c.failed == nil {
		_, c.failed = c.Conn.Write(*c.corked)
	}
	*c.corked = (*c.corked)[:0]
}
