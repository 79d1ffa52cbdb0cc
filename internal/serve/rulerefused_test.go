package serve

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/zap"

	"github.com/crdconvert/webhookd/internal/serve/config"
	"github.com/crdconvert/webhookd/internal/serve/ruleset"
	"github.com/crdconvert/webhookd/test/helpers/rulesettest"
)

// At the start, serve refuses what check refuses, and serves what check passes, for all golden
// files of the checker.
func TestServeRefusesWhatCheckRefuses(t *testing.T) {
	t.Parallel()
	folders, err := filepath.Glob(filepath.Join("..", "..", "internal", "converters", "rules", "check", "testdata", "*", "rules.yaml"))
	if err != nil || len(folders) == 0 {
		t.Fatalf("%d files, %v", len(folders), err)
	}
	for _, rules := range folders {
		folder := filepath.Dir(rules)
		t.Run(filepath.Base(folder), func(t *testing.T) {
			t.Parallel()
			crd := filepath.Join(folder, "crd.yaml")
			if _, err := os.Stat(crd); err != nil {
				t.Fatal(err)
			}
			var files [2][]ruleset.File
			for i, name := range []string{rules, crd} {
				text, err := os.ReadFile(name)
				if err != nil {
					t.Fatal(err)
				}
				files[i] = []ruleset.File{{Name: name, Text: text}}
			}
			checked, err := exampleKinds().Load(t.Context(), files[0], files[1])
			if err != nil {
				t.Fatal(err)
			}
			w, err := openRules(t.Context(), config.Config{Rules: rules, CRDs: crd, WaitForRules: true}, exampleKinds(), zap.NewNop(), &ruleTally{}, nil)
			if err != nil {
				t.Fatal(err)
			}
			set := w.current.Load().ruled
			want := 0
			if len(checked.Errors()) == 0 { // which check goes by
				want = bytes.Count(files[0][0].Text, []byte("kind: Conversion"))
			}
			if len(set.Kinds) != want {
				t.Errorf("%d kinds are served, want %d: %v", len(set.Kinds), want, checked.Errors())
			}
		})
	}
}

// Both refuse rules for fields that every object has, with the finding of check.
func TestServeRefusesRulesForFieldsOfEveryObject(t *testing.T) {
	t.Parallel()
	for name, place := range map[string]string{
		"the version":               ".apiVersion",
		"all labels":                ".metadata.labels",
		"an annotation of webhookd": `'.metadata.annotations["conversion.webhookd.io/v1.spec"]'`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := strings.Replace(rulesettest.Conversion("Widget", "width"), "rules: [", "rules: [{spoke: "+place+"}, ", 1)
			set, err := exampleKinds().Load(t.Context(), []ruleset.File{{Name: "w.yaml", Text: []byte(text)}}, []ruleset.File{{Name: "crd.yaml", Text: []byte(rulesettest.CRD("Widget"))}})
			if err != nil {
				t.Fatal(err)
			}
			if len(set.Kinds) != 1 || len(set.Sound()) != 0 || len(set.Errors()) == 0 {
				t.Errorf("%d kinds, %d are served: %v", len(set.Kinds), len(set.Sound()), set.Findings)
			}
			if len(set.Findings) != len(set.Errors()) {
				t.Errorf("there are notes: %v", set.Findings)
			}
		})
	}
}
