package review_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/review"
)

const late = "deadline of the request exceeded, make the converter faster or raise request-timeout up to 30 s"

// A review whose deadline passes fails, and is answered in time.
func TestDeadline(t *testing.T) {
	t.Parallel()
	wait := converters.Func(func(ctx context.Context, _ *jsondoc.Object, _, _ string) error {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(4 * time.Second):
			return nil
		}
	})
	wrap := converters.Func(func(ctx context.Context, obj *jsondoc.Object, from, to string) error {
		if err := wait(ctx, obj, from, to); err != nil {
			return fmt.Errorf("lookup: %w", err)
		}
		return nil
	})
	own := converters.Func(func(ctx context.Context, obj *jsondoc.Object, from, to string) error {
		if wait(ctx, obj, from, to) != nil {
			return errors.New("gave up: .spec")
		}
		return nil
	})
	tests := map[string]struct {
		convert converters.Func
		objects int
		want    []string // parts of the message; none for success
	}{
		"in time":                    {wait, 2, nil},
		"in the middle of an object": {wait, 3, []string{"1 of 3 objects", "objects[2] Widget default/o2 v1beta1 -> v1: " + late}},
		"before others":              {wait, 5, []string{"3 of 5 objects", "objects[2] Widget default/o2", "objects[3] Widget default/o3", "objects[4] Widget default/o4 v1beta1 -> v1: " + late}},
		"wrapped":                    {wrap, 3, []string{"objects[2] Widget default/o2 v1beta1 -> v1: " + late}},
		"in words of its own":        {own, 4, []string{"2 of 4 objects", "objects[2] Widget default/o2 v1beta1 -> v1: gave up: .spec", "objects[3] Widget default/o3 v1beta1 -> v1: " + late}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				objects := make([]string, 0, tt.objects)
				for i := range tt.objects {
					objects = append(objects, named(fmt.Sprintf("o%d", i)))
				}
				started := time.Now()
				text, err := newReviewer(t, tt.convert, review.Hooks{}).Review(ctx, nil, request(objects...))
				if err != nil {
					t.Fatal(err)
				}
				if took := time.Since(started); took > 10*time.Second {
					t.Errorf("took %v", took)
				}
				got := decode(t, text)
				if len(tt.want) == 0 {
					if got.status != "Success" {
						t.Errorf("%+v", got)
					}
					return
				}
				got.wantFailed(t, tt.want...)
			})
		})
	}
}

// A review that comes too late is still answered; objects of the desired version need no time.
func TestDeadlinePassed(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	never := func(context.Context, *jsondoc.Object, string, string) error { t.Error("converter called"); return nil }
	r := newReviewer(t, never, review.Hooks{})
	text, err := r.Review(ctx, nil, request(named("a")))
	if err != nil {
		t.Fatal(err)
	}
	decode(t, text).wantFailed(t, "objects[0] Widget default/a v1beta1 -> v1: "+late)
	current := strings.Replace(named("a"), "v1beta1", "v1", 1)
	if text, err = r.Review(ctx, nil, request(current)); err != nil {
		t.Fatal(err)
	}
	decode(t, text).wantObjects(t, current)
}

// Once its client has gone, a review converts few objects more.
func TestClientThatLeavesEndsItsReview(t *testing.T) {
	t.Parallel()
	ctx, leave := context.WithCancel(t.Context())
	converted := 0
	r := newReviewer(t, func(context.Context, *jsondoc.Object, string, string) error { converted++; leave(); return nil }, review.Hooks{})
	if _, err := r.Review(ctx, nil, request(slices.Repeat([]string{named("a")}, 100)...)); err != nil || converted > 16 {
		t.Errorf("%d of 100 objects are converted: %v", converted, err)
	}
}

// A converter gets the context of the request.
func TestContextReachesTheConverter(t *testing.T) {
	t.Parallel()
	type key struct{}
	var got any
	r := newReviewer(t, func(ctx context.Context, _ *jsondoc.Object, _, _ string) error { got = ctx.Value(key{}); return nil }, review.Hooks{})
	if _, err := r.Review(context.WithValue(t.Context(), key{}, "mine"), nil, request(named("a"))); err != nil || got != "mine" {
		t.Errorf("value %v, error %v", got, err)
	}
}
