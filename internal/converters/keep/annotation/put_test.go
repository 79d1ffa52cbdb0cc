package annotation

import (
	"context"
	"errors"
	"testing"

	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/test/helpers/costtest"
)

// Put looks at the deadline while it groups entries, and writes no incomplete annotations.
func TestPutLooksAtTheDeadline(t *testing.T) {
	t.Parallel()
	entries := newMaker(1).entries(20_000)
	whole := &costtest.Countdown{Context: t.Context(), Left: 1 << 30}
	if err := Put(whole, parseTest(t, `{}`), "v1", entries); errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
	looks := 1<<30 - whole.Left
	if looks < len(entries)/lookEvery {
		t.Errorf("it looks %d times", looks)
	}
	for left := range looks {
		c, obj := &costtest.Countdown{Context: t.Context(), Left: left}, parseTest(t, `{}`)
		if err := Put(c, obj, "v1", entries); !errors.Is(err, context.DeadlineExceeded) || c.Late != 1 {
			t.Errorf("after %d looks: %v, and %d more", left, err, c.Late)
		}
		if n, err := obj.Get("metadata", "annotations"); err != nil || n.Kind() == jsondoc.Map && string(n.Text()) != "{}" {
			t.Errorf("%.300s, %v", n.Text(), err)
		}
	}
}
