package costtest

import "context"

// A Countdown is a context whose deadline passes after a number of looks at it. It is not safe for
// concurrent use.
type Countdown struct {
	context.Context //nolint:containedctx // it is one

	Left, Late int // looks before that, and behind it
}

// Err implements [context.Context].
func (c *Countdown) Err() error {
	if c.Left--; c.Left >= 0 {
		return nil
	}
	c.Late++
	return context.DeadlineExceeded
}
