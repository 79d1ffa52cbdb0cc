package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/zap"

	"github.com/crdconvert/webhookd/internal/config"
	"github.com/crdconvert/webhookd/internal/tlsreload/tlstest"
)

// The digest is that of what the kinds are converted by, however it is spread over files.
func TestDigestOfRules(t *testing.T) {
	t.Parallel()
	widget, gadget := conversionOf("Widget", "width"), conversionOf("Gadget", "width")
	widgetCRD, gadgetCRD := crdOf("Widget"), crdOf("Gadget")
	const webhook = "  conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {url: 'https://a/b'}}}\n"
	files := func(texts ...string) []textFile {
		all := make([]textFile, 0, len(texts)+1)
		for i, text := range texts {
			all = append(all, textFile{name: string(rune('a'+i)) + ".yaml", text: []byte(text), inFolder: true})
		}
		return all
	}
	base := files(widget, gadget)
	crds := files(widgetCRD, gadgetCRD)
	tests := map[string]struct {
		rules, crds []textFile
		same        bool
	}{
		"other order":                    {files(gadget, widget), files(gadgetCRD, widgetCRD), true},
		"one file":                       {files(widget + "---\n" + gadget), files(gadgetCRD + "---\n" + widgetCRD), true},
		"a comment":                      {files("# Widgets\n"+widget, gadget), crds, true},
		"CRDs among rules":               {files(widget, gadget, widgetCRD), crds, true},
		"CRDs with a webhook and status": {base, files(widgetCRD+webhook+"status: {storedVersions: [v1]}\n", gadgetCRD), true},
		"a CRD that no rules are about":  {base, append(slices.Clone(crds), textFile{name: "c.yaml", text: []byte(crdOf("Cog"))}), true},
		"another rule":                   {files(widget, strings.Replace(gadget, ".spec.size", ".spec.width", 1)), crds, false},
		"another schema":                 {base, files(widgetCRD, gained(gadgetCRD)), false},
		"a kind less":                    {files(widget), crds, false},
		"no kind":                        {nil, crds, false},
	}
	digestOf := func(rules, crds []textFile) string {
		set, err := exampleKinds().loadRules(t.Context(), rules, crds)
		if err != nil {
			t.Fatal(err)
		}
		return set.ruled().digest()
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

// A replica that keeps the last good rules has another digest than one that starts with what is on disk, and the same one again
// once the rules are fixed.
func TestReplicasThatServeTheSameHaveTheSameDigest(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := config.Config{Rules: filepath.Join(dir, "rules"), CRDs: filepath.Join(dir, "crds")}
	good := map[string][]byte{"w.yaml": []byte(conversionOf("Widget", "width")), "g.yaml": []byte(conversionOf("Gadget", "width"))}
	bad := map[string][]byte{"w.yaml": good["w.yaml"], "g.yaml": []byte(strings.Replace(string(good["g.yaml"]), "field:", "feild:", 1))}
	tlstest.WriteSecretDir(t, c.Rules, good)
	tlstest.WriteSecretDir(t, c.CRDs, map[string][]byte{"w.yaml": []byte(crdOf("Widget")), "g.yaml": []byte(crdOf("Gadget"))})
	old := opened(t, c)
	first := old.digest()
	if fresh := opened(t, c).digest(); fresh != first {
		t.Errorf("a second replica has %s, want %s", fresh, first)
	}
	tlstest.SwapSecretDir(t, c.Rules, bad)
	old.look(t.Context())
	if fresh := opened(t, c).digest(); old.digest() != first || fresh == first {
		t.Errorf("with bad rules on disk: %s, and a fresh replica has %s", old.digest(), fresh)
	}
	good["w.yaml"] = []byte(strings.Replace(conversionOf("Widget", "width"), " unmapped: Preserve,", "", 1))
	tlstest.SwapSecretDir(t, c.Rules, good)
	lines := logged(t, zap.InfoLevel, func(logger *zap.Logger) {
		old.logger = logger
		old.look(t.Context())
	})
	fresh := opened(t, c)
	if old.digest() == first || old.digest() != fresh.digest() {
		t.Errorf("with new rules: %s, and a fresh replica has %s", old.digest(), fresh.digest())
	}
	if diff := cmp.Diff(any(old.digest()), lines[0]["rulesDigest"]); diff != "" {
		t.Errorf("the log: %s", diff)
	}
	if w := opened(t, config.Config{}); w.digest() != "" {
		t.Errorf("digest %s without rules", w.digest())
	}
}
