package controlplane_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/test/e2e/scenario"

	"github.com/crdconvert/webhookd/test/controlplane/plane"
)

// scenarios runs what test/e2e runs on its small API server. The environment's
// CONTROLPLANE_SCENARIOS says which: "all", "none" or a regular expression of names; by default all
// but those that would show nothing else here: for which one environment is enough, and which are
// the same with rules, as kube-apiserver does not see who converts.
func scenarios(t *testing.T, p *plane.Plane) {
	t.Helper()
	wanted := selection(t, os.Getenv("CONTROLPLANE_SCENARIOS"))
	for _, s := range scenario.All() {
		if wanted(&s) && s.Fits(env(p)) {
			t.Run(s.Name, func(t *testing.T) {
				progress(t)
				s.Run(t, byService(t, p))
			})
		}
	}
}

func selection(t *testing.T, which string) func(s *scenario.Scenario) bool {
	t.Helper()
	switch which {
	case "":
		return func(s *scenario.Scenario) bool { return !s.Needs.Once && !strings.HasSuffix(s.Name, "ByRules") }
	case "all":
		return func(*scenario.Scenario) bool { return true }
	case "none":
		return func(*scenario.Scenario) bool { return false }
	}
	names, err := regexp.Compile(which)
	if err != nil {
		t.Fatalf("CONTROLPLANE_SCENARIOS: %v", err)
	}
	return func(s *scenario.Scenario) bool { return names.MatchString(s.Name) }
}
