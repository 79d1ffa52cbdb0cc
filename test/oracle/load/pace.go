package load

import (
	"context"
	"sync/atomic"
	"time"
)

// A pace spreads calls evenly. What comes late is not made up for, so that a stall is no burst
// afterwards.
type pace struct {
	interval time.Duration // 0: none
	due      atomic.Int64  // Unix nanoseconds of the next call
}

func newPace(rate int) *pace {
	p := &pace{}
	if rate > 0 {
		p.interval = time.Second / time.Duration(rate)
	}
	return p
}

// next returns when a call is due, and false when ctx has ended.
func (p *pace) next(ctx context.Context) bool {
	if p.interval == 0 {
		return ctx.Err() == nil
	}
	now := time.Now().UnixNano()
	var due int64
	for {
		last := p.due.Load()
		due = max(last, now)
		if p.due.CompareAndSwap(last, due+int64(p.interval)) {
			break
		}
	}
	timer := time.NewTimer(time.Duration(due - now))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return ctx.Err() == nil
	}
}
