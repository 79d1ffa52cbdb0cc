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
// the program. What it writes where it may not has no effect, or is named.
func TestConvertersThatBreakTheirObligations(t *testing.T) {
	t.Parallel()
	set := func(value any, path ...string) func(*conversion.Object) error {
		return func(obj *conversion.Object) error { return obj.Set(value, path...) }
	}
	remove := func(path ...string) func(*conversion.Object) error {
		return func(obj *conversion.Object) error { return obj.Delete(path...) }
	}
	const changed = "converter changed fields it must not change"
	for name, test := range map[string]struct {
		edit func(obj *conversion.Object) error
		want string
	}{
		"another kind":       {set("Other", "kind"), changed + ", let it edit only labels and annotations in metadata: .kind"},
		"no kind":            {remove("kind"), changed},
		"another name":       {set("b", "metadata", "name"), ".metadata.name"},
		"a finalizer":        {set([]string{"x"}, "metadata", "finalizers"), ".metadata.finalizers"},
		"no name":            {remove("metadata", "name"), ".metadata.name"},
		"no metadata":        {remove("metadata"), ".metadata.name"},
		"a list as metadata": {set([]int{1}, "metadata"), ".metadata"},
		"a label that is none": {
			set(1, "metadata", "labels", "x"), "metadata.labels",
		},
		"another object":     {func(obj *conversion.Object) error { return obj.Set(map[string]any{}) }, changed},
		"no object":          {set(nil), "cannot be set to a value that is not an object"},
		"another apiVersion": {set("other.example.com/v7", "apiVersion"), `"apiVersion":"example.com/v1"`},
		"no apiVersion":      {remove("apiVersion"), `"apiVersion":"example.com/v1"`},
		"a panic":            {func(*conversion.Object) error { panic("secret") }, "panicked"},
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
