package controlplane_test

import (
	"cmp"
	"os"
	"regexp"
	"testing"

	"github.com/crdconvert/webhookd/test/e2e/scenario"

	"github.com/crdconvert/webhookd/test/controlplane/plane"
)

// scenarios runs those of test/e2e that CONTROLPLANE_SCENARIOS of the environment, a regular
// expression, is for; by default none, since the small API server there has the same code for
// custom resources, but for limits of load.
func scenarios(t *testing.T, p *plane.Plane) {
	t.Helper()
	wanted, err := regexp.Compile(cmp.Or(os.Getenv("CONTROLPLANE_SCENARIOS"), "^$"))
	if err != nil {
		t.Fatalf("CONTROLPLANE_SCENARIOS: %v", err)
	}
	for _, s := range scenario.All() {
		if wanted.MatchString(s.Name) && s.Fits(p.WatchCache()) {
			t.Run(s.Name, func(t *testing.T) { s.Run(t, byService(t, p)) })
		}
	}
}
