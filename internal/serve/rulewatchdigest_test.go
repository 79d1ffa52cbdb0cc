package serve

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/zap"

	"github.com/crdconvert/webhookd/internal/serve/config"
	"github.com/crdconvert/webhookd/test/helpers/rulesettest"
	"github.com/crdconvert/webhookd/test/helpers/tlstest"
)

// A replica that keeps the last good rules has a different digest than one that starts with the
// files on disk. Once the rules are fixed, the digests are the same.
func TestReplicasThatServeTheSameHaveTheSameDigest(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := config.Config{Rules: filepath.Join(dir, "rules"), CRDs: filepath.Join(dir, "crds"), WaitForRules: true}
	good := map[string][]byte{"w.yaml": []byte(rulesettest.Conversion("Widget", "width")), "g.yaml": []byte(rulesettest.Conversion("Gadget", "width"))}
	bad := map[string][]byte{"w.yaml": good["w.yaml"], "g.yaml": []byte(strings.Replace(string(good["g.yaml"]), "spoke:", "spok:", 1))}
	tlstest.WriteSecretDir(t, c.Rules, good)
	tlstest.WriteSecretDir(t, c.CRDs, map[string][]byte{"w.yaml": []byte(rulesettest.CRD("Widget")), "g.yaml": []byte(rulesettest.CRD("Gadget"))})
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
	good["w.yaml"] = []byte(strings.Replace(rulesettest.Conversion("Widget", "width"), ".spec.size", ".spec.size, defaultInHub: 1", 1))
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

// An edit of only the shared file reloads the kinds that use it. A mistake in it keeps the last
// good rules, and a fresh replica has only the kinds that do not use it.
func TestAnEditOfSharedRulesIsServed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := config.Config{Rules: filepath.Join(dir, "rules"), CRDs: filepath.Join(dir, "crds"), WaitForRules: true}
	files := func(shared string) map[string][]byte {
		return map[string][]byte{
			"w.yaml": []byte(rulesettest.SharingConversion("Widget")), "g.yaml": []byte(rulesettest.Conversion("Gadget", "width")),
			"shared.yaml": []byte(shared),
		}
	}
	shared := rulesettest.RuleSets("width")
	tlstest.WriteSecretDir(t, c.Rules, files(shared))
	tlstest.WriteSecretDir(t, c.CRDs, map[string][]byte{"w.yaml": []byte(rulesettest.CRD("Widget")), "g.yaml": []byte(rulesettest.CRD("Gadget"))})
	w := opened(t, c)
	first, firstDigest := conversions(t, w), w.digest()
	if len(first) != 2 {
		t.Fatalf("kinds: %v", first)
	}
	for _, step := range []struct {
		name, shared string
		changed      bool // from the first
		fresh        int  // kinds that a fresh replica has
	}{
		{"a value that is kept", strings.Replace(shared, "{spoke: .width, hub: .size}", "{spoke: .width}", 1), true, 2},
		{"as at first", shared, false, 2},
		{"a misspelt key", strings.Replace(shared, "spoke:", "spok:", 1), false, 1},
		{"another name", strings.Replace(shared, "name: shared", "name: common", 1), false, 1},
		{"not YAML", strings.Replace(shared, "[", "{[", 1) + "{", false, 1},
	} {
		tlstest.SwapSecretDir(t, c.Rules, files(step.shared))
		w.look(t.Context())
		is := conversions(t, w)
		if (is["Widget.example.com"] != first["Widget.example.com"]) != step.changed || is["Gadget.example.com"] != first["Gadget.example.com"] {
			t.Errorf("%s: %v, at first %v", step.name, is, first)
		}
		if (w.digest() != firstDigest) != step.changed {
			t.Errorf("%s: digest %s, at first %s", step.name, w.digest(), firstDigest)
		}
		if fresh := conversions(t, opened(t, c)); len(fresh) != step.fresh {
			t.Errorf("%s: a fresh replica has %v", step.name, fresh)
		}
	}
}
