package review

import (
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
)

// maxStuck bounds the abandoned conversions of one kind that still run. More would only take more
// memory and processor time.
const maxStuck = 8

var (
	errStuck = errors.New("converter did not return before the deadline of the request, fix it")
	errFull  = errors.New(strconv.Itoa(maxStuck) +
		" conversions of this kind have never returned, fix the converter and restart webhookd")
)

// stuckCounts counts the abandoned conversions that still run, by kind. It is safe for concurrent
// use.
type stuckCounts struct {
	hook func(kind string, delta int) // may be nil

	mu     sync.Mutex
	counts map[string]int // by name of the kind
	any    atomic.Bool
}

// count adds delta to the count of a kind. It ignores an empty kind.
func (s *stuckCounts) count(kind string, delta int) {
	if kind == "" {
		return
	}
	s.mu.Lock()
	if s.counts == nil {
		s.counts = map[string]int{}
	}
	s.counts[kind] += delta
	if s.counts[kind] == 0 {
		delete(s.counts, kind)
	}
	s.any.Store(len(s.counts) > 0)
	s.mu.Unlock()
	if s.hook != nil {
		s.hook(kind, delta)
	}
}

// full reports whether the kind has as many stuck conversions as it may have.
func (s *stuckCounts) full(kind string) bool {
	if !s.any.Load() {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.counts[kind] >= maxStuck
}
