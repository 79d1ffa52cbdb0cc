package e2e_test

import (
	"fmt"
	"testing"

	"github.com/crdconvert/webhookd/test/e2e/miniapi"
	"github.com/crdconvert/webhookd/test/e2e/scenario"
)

// A variant is a way to run a scenario. Together they have both ways of referring to webhookd, both
// versions of ConversionReview, and the watch cache on and off.
type variant struct {
	cache     bool
	reference scenario.Reference
	reviews   []string
}

func (v variant) String() string {
	cached := "uncached"
	if v.cache {
		cached = "cached"
	}
	return fmt.Sprintf("%s-%s-%s", v.reference, v.reviews[0], cached)
}

func variants() []variant {
	return []variant{
		{cache: true, reference: scenario.ByService, reviews: []string{"v1"}},
		{cache: false, reference: scenario.ByURL, reviews: []string{"v1beta1"}},
	}
}

// TestScenarios runs each scenario in all variants, or in one, each time on a server of its own.
func TestScenarios(t *testing.T) {
	t.Parallel()
	for _, s := range scenario.All() {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			for i, v := range variants() {
				if i > 0 && s.Once {
					break
				}
				t.Run(v.String(), func(t *testing.T) {
					t.Parallel()
					server := miniapi.Start(t, miniapi.Options{WatchCache: v.cache})
					s.Run(t, &scenario.Env{Cluster: server, Reference: v.reference, Reviews: v.reviews})
				})
			}
		})
	}
}
