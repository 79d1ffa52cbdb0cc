package keep

import (
	"context"
	"errors"
	"testing"

	"github.com/crdconvert/webhookd/internal/converters/keep/annotation"
	"github.com/crdconvert/webhookd/test/helpers/costtest"
)

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
		c := &costtest.Countdown{Context: t.Context(), Left: left}
		if _, err := matchElements(l, now, never, newDeadline(c)); !errors.Is(err, context.DeadlineExceeded) || c.Late != 1 {
			t.Errorf("after %d looks: %v, and %d more", left, err, c.Late)
		}
	}
}
