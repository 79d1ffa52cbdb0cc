package chart_test

import (
	"testing"

	"helm.sh/helm/v4/pkg/chart/v2/lint"
	"helm.sh/helm/v4/pkg/chart/v2/lint/support"

	"github.com/crdconvert/webhookd/test/chart"
)

// helm lint --strict finds nothing: neither errors nor warnings.
func TestLint(t *testing.T) {
	t.Parallel()
	for name, v := range ciFiles(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			linter := lint.RunAll(chart.Dir, v, chart.Namespace)
			for _, message := range linter.Messages {
				if message.Severity >= support.WarningSev {
					t.Errorf("%s: %v", message.Path, message.Err)
				}
			}
		})
	}
}
