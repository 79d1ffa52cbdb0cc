package chart_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/promql/promqltest"
)

// Each alert fires when it should and is silent when it should, as Prometheus' own engine evaluates
// it.
func TestAlertsFire(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("testdata", "alerts.promql"))
	if err != nil {
		t.Fatal(err)
	}
	script := string(text)
	eval := regexp.MustCompile(`(?m)^(eval instant at \w+) (Webhookd\w+)\n((?: {2}.*\n)*)`)
	fires, silent := map[string]bool{}, map[string]bool{}
	for _, match := range eval.FindAllStringSubmatch(script, -1) {
		if match[3] == "" {
			silent[match[2]] = true
		} else {
			fires[match[2]] = true
		}
	}
	for _, a := range alerts(t, render(t, values(t, allAlerts+crdAndRules), nil)) {
		if !fires[a.Alert] || !silent[a.Alert] {
			t.Errorf("%s: no case in which it fires, or none in which it is silent", a.Alert)
		}
		name := regexp.MustCompile(`(?m)^(eval instant at \w+) ` + a.Alert + `$`)
		script = name.ReplaceAllStringFunc(script, func(line string) string {
			return strings.TrimSuffix(line, a.Alert) + a.Expr
		})
	}
	promqltest.RunTest(t, script, promqltest.NewTestEngine(t, false, 0, promqltest.DefaultMaxSamplesPerQuery))
}
