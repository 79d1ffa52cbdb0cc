package e2e_test

import (
	"fmt"
	"os"
	"testing"
	"time"

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

// TestScenarios runs the scenarios one after the other, each in all variants that it fits at once,
// on servers of their own.
func TestScenarios(t *testing.T) {
	for _, s := range scenario.All() {
		t.Run(s.Name, func(t *testing.T) { runScenario(t, s) })
	}
}

func runScenario(t *testing.T, s scenario.Scenario) {
	t.Helper()
	ran := false
	for _, v := range variants() {
		if ran && s.Needs.Once || !s.Needs.Allow(true, v.cache) {
			continue
		}
		ran = true
		t.Run(v.String(), func(t *testing.T) {
			t.Parallel() // a scenario waits more than it works
			progress(t)
			server := miniapi.Start(t, miniapi.Options{WatchCache: v.cache})
			s.Run(t, &scenario.Env{Cluster: server, Reference: v.reference, Reviews: v.reviews})
		})
	}
	if !ran {
		t.Error("no variant fits the scenario")
	}
}

// progress tells, while the tests run, that this one begins and how it ends. It is the first that a
// test calls, so that the end is that of its cleanups as well.
func progress(t *testing.T) {
	t.Helper()
	begun := time.Now()
	fmt.Fprintf(os.Stdout, "begin  %s\n", t.Name())
	t.Cleanup(func() {
		verdict := "ok    "
		if t.Failed() {
			verdict = "FAILED"
		}
		fmt.Fprintf(os.Stdout, "%s %s (%.1f s)\n", verdict, t.Name(), time.Since(begun).Seconds())
	})
}
