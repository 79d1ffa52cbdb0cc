package controlplane_test

import (
	"cmp"
	"os"
	"regexp"
	"testing"

	"github.com/crdconvert/webhookd/test/e2e/scenario"

	"github.com/crdconvert/webhookd/test/controlplane/plane"
)

// scenarios runs the scenario of load of test/e2e, as only kube-apiserver limits load. The others
// run on the small API server there, which has the same code for custom resources.
// CONTROLPLANE_SCENARIOS of the environment is a regular expression of others.
func scenarios(t *testing.T, p *plane.Plane) {
	t.Helper()
	wanted, err := regexp.Compile(cmp.Or(os.Getenv("CONTROLPLANE_SCENARIOS"), "^Upgraded$"))
	if err != nil {
		t.Fatalf("CONTROLPLANE_SCENARIOS: %v", err)
	}
	for _, s := range scenario.All() {
		if wanted.MatchString(s.Name) && s.Fits(p.WatchCache()) {
			t.Run(s.Name, func(t *testing.T) { s.Run(t, byService(t, p)) })
		}
	}
}
