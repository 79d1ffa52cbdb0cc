package review_test

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/review"
	"github.com/crdconvert/webhookd/test/helpers/exampletest"
	"github.com/crdconvert/webhookd/test/helpers/reviewtest"
)

// builtinReviewer returns a reviewer for the compiled-in kinds.
func builtinReviewer(tb testing.TB) *review.Reviewer {
	tb.Helper()
	registry, err := converters.NewRegistry(exampletest.Kinds()...)
	if err != nil {
		tb.Fatal(err)
	}
	return review.NewReviewer(func() *converters.Registry { return registry }, review.Hooks{})
}

// movingReviewer returns a reviewer for CronTab whose converter does as little as one can, so that
// only the review counts.
func movingReviewer(tb testing.TB, hooks review.Hooks) *review.Reviewer {
	tb.Helper()
	kind := exampletest.CronTab("example.com")
	kind.Converter = converters.Func(func(_ context.Context, obj *jsondoc.Object, _, _ string) error {
		_, err := obj.Move([]string{"hostPort"}, []string{"host"})
		return err
	})
	registry, err := converters.NewRegistry(kind)
	if err != nil {
		tb.Fatal(err)
	}
	return review.NewReviewer(func() *converters.Registry { return registry }, hooks)
}

// counters returns hooks that do the work of metrics, as cheaply as possible.
func counters() review.Hooks {
	var reviews, objects, failed int
	var sum time.Duration
	return review.Hooks{
		ReviewDone: func(_ context.Context, r review.Result) { reviews++; sum += r.Duration },
		ObjectsDone: func(o review.Objects) {
			objects += len(o.Durations)
			failed += o.Failed
			for _, d := range o.Durations {
				sum += d
			}
		},
		GuardRefused: func(review.Pair, string) { failed++ },
		Panicked:     func(context.Context, review.Panic) { failed++ },
	}
}

func BenchmarkReview(b *testing.B) {
	for _, load := range []struct {
		name          string
		objects, size int
	}{
		{"objects=1/3KB", 1, 3 << 10}, {"objects=100/3KB", 100, 3 << 10}, {"objects=1000/3KB", 1000, 3 << 10}, {"objects=1/1MB", 1, 1 << 20},
	} {
		b.Run(load.name, func(b *testing.B) {
			body := reviewtest.Body(load.objects, load.size)
			r := movingReviewer(b, counters())
			var dst []byte
			var err error
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				if dst, err = r.Review(b.Context(), dst[:0], body); err != nil {
					b.Fatal(err)
				}
			}
			if !bytes.Contains(dst, []byte(`"status":"Success"`)) || bytes.Count(dst, []byte(`,"host":"host-`)) != load.objects {
				b.Fatalf("not converted: %.500s", dst)
			}
		})
	}
}
