package review

import (
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
)

// maxStuck bounds the conversions of one kind that were given up and have not returned: more would only take more memory
// and processors along.
const maxStuck = 8

var (
	errStuck = errors.New("converter did not return before the deadline of the request, fix it")
	errFull  = errors.New(strconv.Itoa(maxStuck) +
		" conversions of this kind have never returned, fix the converter and restart webhookd")
)

// stuckKinds counts the conversions that were given up and have not returned. It is safe for concurrent use.
type stuckKinds struct {
	told func(kind string, more int) // nil: nobody is

	mu     sync.Mutex
	counts map[string]int // by the name of the kind
	any    atomic.Bool
}

// count adds to those of a kind; an empty name is none.
func (s *stuckKinds) count(kind string, more int) {
	if kind == "" {
		return
	}
	s.mu.Lock()
	if s.counts == nil {
		s.counts = map[string]int{}
	}
	s.counts[kind] += more
	if s.counts[kind] == 0 {
		delete(s.counts, kind)
	}
	s.any.Store(len(s.counts) > 0)
	s.mu.Unlock()
	if s.told != nil {
		s.told(kind, more)
	}
}

// full reports whether no more conversions of a kind may begin.
func (s *stuckKinds) full(kind string) bool {
	if !s.any.Load() {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.counts[kind] >= maxStuck
}
