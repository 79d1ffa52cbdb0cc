package ruleset

import (
	"crypto/sha256"
	"slices"
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/test/helpers/rulesettest"
)

// The digest depends on the rules and CRDs, not on how they are spread over files.
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

// A change of shared rules changes the digests of the kinds that use them, and of no other.
func TestDigestOfSharedRules(t *testing.T) {
	t.Parallel()
	digests := func(shared string) map[string]string {
		t.Helper()
		const kinds = 2
		rules, crds := make([]File, 0, kinds+1), make([]File, 0, kinds)
		rules = append(rules, File{Name: "shared.yaml", Text: []byte(shared)})
		for kind, text := range map[string]string{
			"Widget": rulesettest.SharingConversion("Widget"), "Gadget": rulesettest.Conversion("Gadget", "width"),
		} {
			rules = append(rules, File{Name: kind + ".yaml", Text: []byte(text)})
			crds = append(crds, File{Name: kind + ".yaml", Text: []byte(rulesettest.CRD(kind))})
		}
		set, err := exampleKinds().Load(t.Context(), rules, crds)
		if err != nil || len(set.Findings) > 0 {
			t.Fatal(set.Findings, err)
		}
		all, ruled := map[string]string{}, set.Ruled()
		for _, k := range ruled.Kinds {
			all[k.Kind] = RuledKinds{[]converters.Kind{k}, ruled.CRDs}.Digest()
		}
		return all
	}
	shared := rulesettest.RuleSets("width")
	before, same := digests(shared), digests("# the specs of many kinds\n---\n"+shared)
	changed := digests(strings.Replace(shared, "hub: .size", "hub: .size, defaultInHub: 1", 1))
	if len(before) != 2 || before["Widget"] != same["Widget"] || before["Gadget"] != same["Gadget"] {
		t.Errorf("%s, with a comment %s", before, same)
	}
	if before["Widget"] == changed["Widget"] || before["Gadget"] != changed["Gadget"] {
		t.Errorf("%s, changed %s", before, changed)
	}
}

// An XRD counts for both CRDs that Crossplane makes of it, without its webhook.
func TestDigestOfAnXRD(t *testing.T) {
	t.Parallel()
	digests := func(more, field string) map[string][sha256.Size]byte {
		text := "apiVersion: apiextensions.crossplane.io/v1\nkind: CompositeResourceDefinition\nmetadata: {name: xthings.example.com}\n" +
			"spec: {group: example.com, names: {kind: XThing, plural: xthings}, claimNames: {kind: Thing, plural: things}" + more +
			", versions: [{name: v1, served: true, referenceable: true, schema: {openAPIV3Schema: {type: object, properties: " +
			"{spec: {type: object, properties: {" + field + ": {type: string}}}}}}}]}\n"
		crds, problems := ParseCRDs(t.Context(), []File{{Name: "xrd.yaml", Text: []byte(text)}})
		if len(problems) > 0 || len(crds) != 2 {
			t.Fatal(problems, crds)
		}
		return map[string][sha256.Size]byte{crds[0].Name: crds[0].Digest, crds[1].Name: crds[1].Digest}
	}
	plain, wired, other := digests("", "a"), digests(", conversion: {strategy: Webhook}", "a"), digests("", "b")
	for name, digest := range plain {
		if wired[name] != digest || other[name] == digest || other[name] == other["unknown"] {
			t.Errorf("%s: %x, wired %x, with another field %x", name, digest, wired[name], other[name])
		}
	}
}
