package gate

import (
	"cmp"
	"time"
)

const (
	// slowGrace is how long a transfer may be slow.
	slowGrace = 250 * time.Millisecond
	// maxTransferTime is how long a whole transfer may take at its pace while another request
	// waits.
	maxTransferTime = 20 * time.Second
)

// Watch lets the request be given up, whose body of so many bytes arrives since then. Stop makes a
// stage fail at once, and must not call the ledger.
func (s *Share) Watch(size int64, since time.Time, stop func(Stage)) {
	s.ledger.mu.Lock()
	defer s.ledger.mu.Unlock()
	s.size, s.since, s.stop = size, since, stop
	s.ledger.watched[s] = struct{}{}
}

// isSlow reports whether s waits for a client that is slow.
func (s *Share) isSlow(now time.Time) bool {
	took := now.Sub(s.since) - s.waited - slowGrace
	size := max(s.size, s.bytes)
	return float64(s.done.Load()) < float64(size)*took.Seconds()/maxTransferTime.Seconds()
}

// press gives up a request if s is the first of its queue, and waits for memory: the largest slow
// one, or if s has waited for long, the latest of its flow that came after it.
func (l *Ledger) press(s *Share) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.serve() // connections may have closed
	if s.queue == nil || (*s.queue)[0] != s || s.wantsTurn(s.want) {
		return
	}
	now := time.Now()
	long := s.requests > 0 && now.Sub(s.asked) > l.wait/2
	var slow, late *Share
	for other := range l.watched {
		switch {
		case other.refused.Load() != nil || other.stage == Converting:
		case other.queue == nil && other.isSlow(now):
			if slow == nil || other.largerThan(slow) {
				slow = other
			}
		case long && other.flow == s.flow && other.arrival > s.arrival && (late == nil || other.arrival > late.arrival):
			late = other
		}
	}
	switch {
	case slow != nil:
		l.refuse(slow, ShedSlow)
	case late != nil:
		l.refuse(late, ShedSlow)
	}
}

// largerThan compares bytes, and then arrival.
func (s *Share) largerThan(other *Share) bool {
	return cmp.Or(cmp.Compare(s.bytes, other.bytes), cmp.Compare(s.arrival, other.arrival)) > 0
}

// refuse gives up s. Callers hold mu.
func (l *Ledger) refuse(s *Share, reason OverloadError) {
	s.refused.Store(&reason)
	if s.queue != nil {
		s.wake()
		return
	}
	s.stop(s.stage)
}

// refuseLargest gives up the largest request that has no answer yet, the latest if some are equal,
// or if there is none, the largest answer. It reports whether there was any. It does nothing while
// one that was given up still holds its memory.
func (l *Ledger) refuseLargest() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	var largest *Share
	for s := range l.watched {
		if s.refused.Load() != nil {
			return true
		}
		answers := s.stage == Answering
		if largest == nil || answers != (largest.stage == Answering) && !answers ||
			answers == (largest.stage == Answering) && s.largerThan(largest) {
			largest = s
		}
	}
	if largest != nil {
		l.refuse(largest, ShedMemory)
	}
	return largest != nil
}

// stalled reports whether large bodies wait for a turn, and none of them has one and goes on. While
// the heap is almost full, they would all wait until they are shed.
func (l *Ledger) stalled() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	waiting, running := 0, 0
	for key, f := range l.flows {
		if key.Large {
			running += f.held.turns
			waiting += len(f.queues[forTurn])
			for _, s := range f.queues[forTurn] {
				running -= s.turns
			}
		}
	}
	return waiting > 0 && running == 0
}

// setTight says whether large bodies are admitted.
func (l *Ledger) setTight(tight bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tight = tight
	l.serve()
}
