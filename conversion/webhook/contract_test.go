package webhook_test

import (
	"context"
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/conversion"
	"github.com/crdconvert/webhookd/conversion/webhook"
	"github.com/crdconvert/webhookd/examples/crds"
)

// A converter that breaks its obligations fails the review, with or without Lossless, and never
// the program: one of each way. internal/review has the others, in TestGuardRefuses.
func TestConvertersThatBreakTheirObligations(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		edit func(obj *conversion.Object) error
		want string
	}{
		"another name":       {func(obj *conversion.Object) error { return obj.Set("b", "metadata", "name") }, ".metadata.name"},
		"no metadata":        {func(obj *conversion.Object) error { return obj.Delete("metadata") }, ".metadata.name"},
		"no object":          {func(obj *conversion.Object) error { return obj.Set(nil) }, "cannot be set to a value that is not an object"},
		"another apiVersion": {func(obj *conversion.Object) error { return obj.Set("other.example.com/v7", "apiVersion") }, `"apiVersion":"example.com/v1"`},
	} {
		for _, how := range []string{"plain", "lossless"} {
			t.Run(name+", "+how, func(t *testing.T) {
				t.Parallel()
				kind := cronTab()
				broken := conversion.Func(func(_ context.Context, obj *conversion.Object, _, _ string) error { return test.edit(obj) })
				if kind.Converter = broken; how == "lossless" {
					kind = conversion.Must(conversion.Lossless(conversion.WithHub(kind.Hub, broken), crds.CronTabs))
				}
				code, answer := post(t, newHandler(t, registryOf(t, kind), webhook.Options{}), "POST", reviewOf("v1", old))
				wantStatus := `"status":"Failed"`
				if strings.HasPrefix(test.want, `"apiVersion"`) {
					wantStatus = `"status":"Success"`
				}
				if code != 200 || !strings.Contains(answer, wantStatus) || !strings.Contains(answer, test.want) {
					t.Errorf("%d %s\nwant %s with %s", code, answer, wantStatus, test.want)
				}
			})
		}
	}
}
