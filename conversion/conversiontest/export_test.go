package conversiontest

import (
	"fmt"
	"testing"
)

// WebhookFailures returns how the subtests of Webhook fail, by their names.
func WebhookFailures(t *testing.T, url string, crd []byte, opts *WebhookOptions) (map[string]string, error) {
	t.Helper()
	failures := map[string]string{}
	results, err := results(t.Context(), url, crd, opts)
	for i := range results {
		show(&recorder{t, func(text string) { failures[results[i].Name] = text }}, &results[i])
	}
	return failures, err
}

type recorder struct {
	testing.TB

	failed func(string)
}

func (r *recorder) Errorf(format string, args ...any) { r.failed(fmt.Sprintf(format, args...)) }
