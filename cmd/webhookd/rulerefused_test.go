package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/zap"

	"github.com/crdconvert/webhookd/internal/config"
)

// What check refuses is not served at the start, and what it passes is: for all files that the checker's own goldens are of.
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
			var stdout, stderr bytes.Buffer
			code := run(t.Context(), exampleKinds(), []string{"check", rules, "--crd", crd}, nil, strings.NewReader(""), &stdout, &stderr)
			w, err := openRules(t.Context(), config.Config{Rules: rules, CRDs: crd}, exampleKinds(), zap.NewNop(), &ruleTally{})
			if err != nil {
				t.Fatal(err)
			}
			set := w.current.Load().ruled
			want := 0
			if code == exitOK {
				text, err := os.ReadFile(rules)
				if err != nil {
					t.Fatal(err)
				}
				want = bytes.Count(text, []byte("kind: Conversion"))
			}
			if len(set.kinds) != want {
				t.Errorf("check ends with %d, and %d kinds are served, want %d: %s", code, len(set.kinds), want, stdout.String())
			}
		})
	}
}

// Rules over what every object has are refused by both, each by the finding that check has for it.
func TestServeRefusesRulesOverWhatEveryObjectHas(t *testing.T) {
	t.Parallel()
	for name, place := range map[string]string{
		"the version":               ".apiVersion",
		"all labels":                ".metadata.labels",
		"an annotation of webhookd": `'.metadata.annotations["conversion.webhookd.io/v1.spec"]'`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := strings.Replace(conversionOf("Widget", "width"), "rules: [", "rules: [{field: "+place+"}, ", 1)
			set, err := exampleKinds().loadRules(t.Context(), []textFile{{name: "w.yaml", text: []byte(text)}}, []textFile{{name: "crd.yaml", text: []byte(crdOf("Widget"))}})
			if err != nil {
				t.Fatal(err)
			}
			if len(set.kinds) != 1 || len(set.sound()) != 0 || len(set.errors()) == 0 {
				t.Errorf("%d kinds, %d are served: %v", len(set.kinds), len(set.sound()), set.findings)
			}
			if !slices.Equal(set.findings, set.errors()) {
				t.Errorf("there are notes: %v", set.findings)
			}
		})
	}
}
