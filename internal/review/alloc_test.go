//go:build !race

// Under the race detector a sync.Pool drops items at random.

package review_test

import (
	"fmt"
	"testing"

	"github.com/crdconvert/webhookd/test/helpers/reviewtest"
)

// A review of one object of 3 KB stays within its budget of allocations, and so does each further
// object.
func TestAllocations(t *testing.T) {
	hooks := counters()
	for _, tt := range []struct{ objects, budget int }{{1, 10}, {100, 10 + 100*5}} {
		t.Run(fmt.Sprint(tt.objects), func(t *testing.T) {
			body, r := reviewtest.Body(tt.objects, 3<<10), movingReviewer(t, hooks)
			dst, err := r.Review(t.Context(), nil, body)
			if err != nil {
				t.Fatal(err)
			}
			got := testing.AllocsPerRun(100, func() {
				dst, err = r.Review(t.Context(), dst[:0], body)
			})
			if err != nil || got > float64(tt.budget) {
				t.Errorf("%v allocations, want at most %d (error %v)", got, tt.budget, err)
			}
		})
	}
}
