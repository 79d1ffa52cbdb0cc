package review_test

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/crdconvert/webhookd/internal/jsondoc"
	"github.com/crdconvert/webhookd/internal/review"
)

// A long review gives way to others and then has a whole slice again. It once gave way after each
// 16 objects from then on, so lists waited for over a second where others took 80 ms.
//
//nolint:paralleltest // it has one processor
func TestLongReviewGetsAWholeSliceAgain(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var converted atomic.Int64
	r := newReviewer(t, func(context.Context, *jsondoc.Object, string, string) error {
		spin(50 * time.Microsecond)
		converted.Add(1)
		return nil
	}, review.Hooks{})
	objects := make([]string, 1000)
	for i := range objects {
		objects[i] = widget()
	}
	body := request(objects...)

	stop, stopped := make(chan struct{}), make(chan struct{})
	var slices []int64 // objects that were converted in each
	go func() {
		defer close(stopped)
		for last := int64(0); ; {
			if now := converted.Load(); now > last {
				slices, last = append(slices, now-last), now
			}
			select {
			case <-stop:
				return
			default:
			}
			spin(6 * time.Millisecond)
			runtime.Gosched()
		}
	}()
	ask(t, r, body)
	close(stop)
	<-stopped

	whole := 0
	for _, n := range slices {
		if n > 32 { // about 100 where the machine has nothing else to do
			whole++
		}
	}
	if whole < 3 {
		t.Errorf("objects in each slice: %d, want more", slices)
	}
}

func spin(d time.Duration) {
	began := time.Now()
	spinning := func() bool { return time.Since(began) < d }
	for spinning() {
	}
}
