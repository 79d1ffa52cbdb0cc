package keep

import "context"

// lookEvery is how often the deadline is looked at, in values.
const lookEvery = 256

// A deadline is the context of a call, which is looked at now and then: it takes a lock. Those who work on parts of an object share
// one.
type deadline struct {
	ctx  context.Context //nolint:containedctx // lives as long as one call
	done int             // since the last look, in values
}

// newDeadline returns one whose first look is at once.
func newDeadline(ctx context.Context) *deadline { return &deadline{ctx, lookEvery} }

// passed returns the error of the context after so many values more, if it was looked at.
func (d *deadline) passed(values int) error {
	if d.done += values; d.done < lookEvery {
		return nil
	}
	d.done = 0
	return d.ctx.Err()
}
