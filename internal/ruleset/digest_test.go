package ruleset

import (
	"slices"
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/internal/ruleset/rulesettest"
)

// The digest is that of what the kinds are converted by, however it is spread over files.
func TestDigestOfRules(t *testing.T) {
	t.Parallel()
	widget, gadget := rulesettest.Conversion("Widget", "width"), rulesettest.Conversion("Gadget", "width")
	widgetCRD, gadgetCRD := rulesettest.CRD("Widget"), rulesettest.CRD("Gadget")
	const webhook = "  conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {url: 'https://a/b'}}}\n"
	files := func(texts ...string) []File {
		all := make([]File, 0, len(texts)+1)
		for i, text := range texts {
			all = append(all, File{Name: string(rune('a'+i)) + ".yaml", Text: []byte(text), InFolder: true})
		}
		return all
	}
	base := files(widget, gadget)
	crds := files(widgetCRD, gadgetCRD)
	tests := map[string]struct {
		rules, crds []File
		same        bool
	}{
		"other order":                    {files(gadget, widget), files(gadgetCRD, widgetCRD), true},
		"one file":                       {files(widget + "---\n" + gadget), files(gadgetCRD + "---\n" + widgetCRD), true},
		"a comment":                      {files("# Widgets\n"+widget, gadget), crds, true},
		"CRDs among rules":               {files(widget, gadget, widgetCRD), crds, true},
		"CRDs with a webhook and status": {base, files(widgetCRD+webhook+"status: {storedVersions: [v1]}\n", gadgetCRD), true},
		"a CRD that no rules are about":  {base, append(slices.Clone(crds), File{Name: "c.yaml", Text: []byte(rulesettest.CRD("Cog"))}), true},
		"another rule":                   {files(widget, strings.Replace(gadget, ".spec.size", ".spec.width", 1)), crds, false},
		"another schema":                 {base, files(widgetCRD, rulesettest.WithNewField(gadgetCRD)), false},
		"a kind less":                    {files(widget), crds, false},
		"no kind":                        {nil, crds, false},
	}
	digestOf := func(rules, crds []File) string {
		set, err := exampleKinds().Load(t.Context(), rules, crds)
		if err != nil {
			t.Fatal(err)
		}
		return set.Ruled().Digest()
	}
	want := digestOf(base, crds)
	if len(want) != digestLen || want == digestOf(nil, nil) {
		t.Fatalf("digest %s", want)
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := digestOf(tt.rules, tt.crds); (got == want) != tt.same {
				t.Errorf("digest %s, that of the others is %s, want the same: %t", got, want, tt.same)
			}
		})
	}
}
