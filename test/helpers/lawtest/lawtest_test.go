package lawtest_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/test/helpers/lawtest"
)

func TestVariantsAreManyAndRepeatable(t *testing.T) {
	t.Parallel()
	collect := func(seed uint64) []string {
		var all []string
		for variant := range lawtest.Variants(seed, 200, []byte(`{"apiVersion":"g/v1","kind":"K","spec":{"a":{"x":"y","n":7},"keep":[1.10,true],"only":"o"}}`), []byte(`{"apiVersion":"g/v2","kind":"K"}`)) {
			if !strings.Contains(string(variant), `"apiVersion":"g/v`) {
				t.Fatalf("a variant of no version: %s", variant)
			}
			all = append(all, string(variant))
		}
		return all
	}
	first := collect(1)
	if !slices.Equal(first, collect(1)) {
		t.Error("the same seed gives other variants")
	}
	if slices.Equal(first, collect(2)) {
		t.Error("another seed gives the same variants")
	}
	if len(first) != 400 {
		t.Errorf("%d variants, want 400", len(first))
	}
	slices.Sort(first)
	if distinct := len(slices.Compact(first)); distinct < 200 {
		t.Errorf("only %d distinct variants", distinct)
	}
}
