package editdistance_test

import (
	"testing"

	"github.com/crdconvert/webhookd/internal/editdistance"
)

func TestDistances(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		a, b            string
		plain, swapping int
	}{
		{"", "", 0, 0},
		{"", "abc", 3, 3},
		{"host", "host", 0, 0},
		{"host", "hots", 2, 1},
		{"remdiation", "remediation", 1, 1},
		{"kitten", "sitting", 3, 3},
		{"abcd", "badc", 3, 2},
		{"ca", "abc", 3, 3}, // a letter that was swapped is not moved again
	} {
		if got := editdistance.Plain(test.a, test.b); got != test.plain {
			t.Errorf("plain %q, %q: %d, want %d", test.a, test.b, got, test.plain)
		}
		if got := editdistance.Swapping(test.a, test.b); got != test.swapping {
			t.Errorf("swapping %q, %q: %d, want %d", test.a, test.b, got, test.swapping)
		}
		if editdistance.Plain(test.b, test.a) != test.plain || editdistance.Swapping(test.b, test.a) != test.swapping {
			t.Errorf("%q, %q: not the same the other way round", test.a, test.b)
		}
	}
}
