package annotation

import (
	"context"
	"errors"
	"testing"

	"github.com/crdconvert/webhookd/internal/document/jsondoc"
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

// Put looks at the deadline while it groups entries, and writes no incomplete annotations.
func TestPutLooksAtTheDeadline(t *testing.T) {
	t.Parallel()
	entries := newMaker(1).entries(20_000)
	whole := &countdown{Context: t.Context(), left: 1 << 30}
	if err := Put(whole, parseTest(t, `{}`), "v1", entries); errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
	looks := 1<<30 - whole.left
	if looks < len(entries)/lookEvery {
		t.Errorf("it looks %d times", looks)
	}
	for left := range looks {
		c, obj := &countdown{Context: t.Context(), left: left}, parseTest(t, `{}`)
		if err := Put(c, obj, "v1", entries); !errors.Is(err, context.DeadlineExceeded) || c.late != 1 {
			t.Errorf("after %d looks: %v, and %d more", left, err, c.late)
		}
		if n, err := obj.Get("metadata", "annotations"); err != nil || n.Kind() == jsondoc.Map && string(n.Text()) != "{}" {
			t.Errorf("%.300s, %v", n.Text(), err)
		}
	}
}
