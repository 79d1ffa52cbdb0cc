package ruleset

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
)

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
