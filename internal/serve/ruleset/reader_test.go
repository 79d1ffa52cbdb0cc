package ruleset

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// A file system that hangs does not hold up others: its file is skipped until it answers, and is
// read once.
func TestAFileThatDoesNotAnswerIsSkipped(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		waits, asked := newReadWaits(), 0
		answers := make(chan struct{})
		read := func(ctx context.Context) (string, error) {
			return within(ctx, waits, "f", func() (string, error) {
				asked++
				<-answers
				return "text", nil
			})
		}
		for range 2 {
			_, err := read(t.Context())
			if passed, is := errors.AsType[skippedError](err); !is || !passed.stuck {
				t.Errorf("error %v", err)
			}
		}
		close(answers)
		synctest.Wait()
		if text, err := read(t.Context()); text != "text" || err != nil || asked != 2 {
			t.Errorf("%q, %v, asked %d times", text, err, asked)
		}
	})
}

// When the server ends, so does the wait for a file that does not answer.
func TestAContextEndsAReadThatHangs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		answers := make(chan struct{})
		defer close(answers)
		_, err := within(ctx, newReadWaits(), "f", func() (string, error) {
			<-answers
			return "", nil
		})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	})
}

// An endingContext ends after a number of checks.
type endingContext struct {
	context.Context //nolint:containedctx // it is a context
	left            atomic.Int64
}

func (c *endingContext) Err() error {
	if c.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// A load ends with the context's error wherever the context ends, and checks it only a few more
// times.
func TestAContextEndsALoad(t *testing.T) {
	t.Parallel()
	for _, shape := range loadShapes() {
		t.Run(shape.name, func(t *testing.T) {
			t.Parallel()
			rules, crds := shape.make(100).files()
			whole := &endingContext{Context: t.Context()}
			const many = 1 << 40
			whole.left.Store(many)
			if _, err := exampleKinds().Load(whole, rules, crds); err != nil {
				t.Fatal(err)
			}
			looks := many - whole.left.Load()
			for _, after := range []int64{0, 1, looks / 4, looks / 2, looks * 3 / 4, looks - 1} {
				ctx := &endingContext{Context: t.Context()}
				ctx.left.Store(after)
				if _, err := exampleKinds().Load(ctx, rules, crds); !errors.Is(err, context.Canceled) {
					t.Errorf("ended after %d of %d looks: %v", after, looks, err)
				}
			}
		})
	}
}
