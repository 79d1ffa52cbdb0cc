package xrd_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crdconvert/webhookd/internal/schema/xrd"
)

func TestWithBundleReplacesOnlyWhatIsNotBase64(t *testing.T) {
	t.Parallel()
	crd := func(conversion any) map[string]any {
		return map[string]any{"kind": "X", "spec": map[string]any{"group": "g", "conversion": conversion}}
	}
	with := func(bundle any) any {
		return map[string]any{"webhook": map[string]any{"clientConfig": map[string]any{"url": "u", "caBundle": bundle}}}
	}
	for name, tt := range map[string]struct{ in, want any }{
		"a placeholder":     {with("Ci0t...<base64>"), with("Q2kwdC4uLjxiYXNlNjQ+")},
		"base64":            {with("LS0t"), with("LS0t")},
		"no text":           {with(1), with(1)},
		"no webhook":        {map[string]any{"strategy": "None"}, map[string]any{"strategy": "None"}},
		"another text":      {"Ci0t...", "Ci0t..."},
		"an empty bundle":   {with(""), with("")},
		"a name in its way": {map[string]any{"webhook": "caBundle"}, map[string]any{"webhook": "caBundle"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := crd(tt.in)
			if diff := cmp.Diff(crd(tt.want), xrd.WithBundle(in)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(crd(tt.in), in); diff != "" {
				t.Errorf("the argument changed (-was +is):\n%s", diff)
			}
		})
	}
}
