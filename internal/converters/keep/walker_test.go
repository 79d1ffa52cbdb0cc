package keep

import (
	"context"
	"errors"
	"testing"

	"github.com/crdconvert/webhookd/internal/converters/keep/annotation"
)

// A countdown is a context whose deadline passes after a number of looks at it.
type countdown struct {
	context.Context //nolint:containedctx // it is one

	left, late int
}

func (c *countdown) Err() error {
	if c.left--; c.left >= 0 {
		return nil
	}
	c.late++
	return context.DeadlineExceeded
}

// The search for a common subsequence takes quadratic time, so it looks at the deadline.
func TestTheSearchForElementsLooksAtTheDeadline(t *testing.T) {
	t.Parallel()
	l, now := &annotation.ListEntry{}, make([]annotation.Digest, 0, 1000)
	for i := range 1000 {
		l.Elements = append(l.Elements, &annotation.Element{Index: i, Was: annotation.DigestOf(uint64(i))})
		now = append(now, annotation.DigestOf(uint64(3*i+1)))
	}
	never := func(int, int) bool { return false }
	for left := range 20 {
		c := &countdown{Context: t.Context(), left: left}
		if _, err := matchElements(l, now, never, newDeadline(c)); !errors.Is(err, context.DeadlineExceeded) || c.late != 1 {
			t.Errorf("after %d looks: %v, and %d more", left, err, c.late)
		}
	}
}
