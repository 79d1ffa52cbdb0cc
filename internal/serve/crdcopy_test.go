package serve

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/review"
	"github.com/crdconvert/webhookd/internal/serve/config"
	"github.com/crdconvert/webhookd/test/helpers/rulesettest"
	"github.com/crdconvert/webhookd/test/helpers/tlstest"
)

// An outdated copy of a CRD is logged once for each kind, until the kind has other schemas.
func TestOutdatedCopiesOfCRDsAreLogged(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := config.Config{Rules: filepath.Join(dir, "rules"), CRDs: filepath.Join(dir, "crds"), WaitForRules: true}
	rules := map[string]string{"w.yaml": rulesettest.Conversion("Widget", "width"), "g.yaml": rulesettest.Conversion("Gadget", "width")}
	crds := map[string]string{"w.yaml": rulesettest.CRD("Widget"), "g.yaml": rulesettest.CRD("Gadget")}
	tlstest.WriteSecretDir(t, c.Rules, contents(rules))
	tlstest.WriteSecretDir(t, c.CRDs, contents(crds))
	w := opened(t, c)
	kindOf := func(name string) *converters.Kind {
		for _, kind := range w.registry().Kinds() {
			if kind.Kind == name {
				return kind
			}
		}
		t.Fatalf("no kind %s", name)
		return nil
	}
	first := kindOf("Widget")
	reload := func() {
		tlstest.SwapSecretDir(t, c.Rules, contents(rules))
		tlstest.SwapSecretDir(t, c.CRDs, contents(crds))
		w.logger = zap.NewNop()
		w.look(t.Context())
	}
	line := func(kind, file string) []map[string]any {
		return []map[string]any{{
			"level": "warn", "msg": "objects have fields that the copy of their CRD lacks, update its file",
			"kind": kind + ".example.com", "from": "v1beta1", "to": "v1", "file": filepath.Join(c.CRDs, file),
		}}
	}
	for _, step := range []struct {
		name     string
		change   func() // before it
		seen     string // the kind of an object with unknown fields; empty: there is none
		lines    []map[string]any
		outdated string
	}{
		{"the first object", nil, "Widget", line("Widget", "w.yaml"), "Widget"},
		{"the next object", nil, "Widget", nil, "Widget"},
		{"another kind", nil, "Gadget", line("Gadget", "g.yaml"), "Gadget Widget"},
		{"other rules", func() { rules["w.yaml"] = rulesettest.Conversion("Widget", "width") + "# new\n"; reload() }, "Widget", nil, "Gadget Widget"},
		{"a schema of another kind", func() { crds["g.yaml"] = rulesettest.WithNewField(crds["g.yaml"]); reload() }, "Widget", nil, "Widget"},
		{"its schema", func() { crds["w.yaml"] = rulesettest.WithNewField(crds["w.yaml"]); reload() }, "", nil, ""},
		{"a review that began before", nil, "first", nil, ""},
		{"the schema is still too old", nil, "Widget", line("Widget", "w.yaml"), "Widget"},
		{"the rules are gone", func() { delete(rules, "w.yaml"); reload() }, "", nil, ""},
		{"a kind in Go", nil, "Database", []map[string]any{{
			"level": "warn", "msg": "objects have fields that the Go types of their converter lack, build webhookd with the types of the CRD",
			"kind": "Database.example.com", "from": "v1beta1", "to": "v1",
		}}, "Database"},
	} {
		if step.change != nil {
			step.change()
		}
		lines := logged(t, zapcore.DebugLevel, func(logger *zap.Logger) {
			w.logger = logger
			kind := first
			switch step.seen {
			case "":
				return
			case "first":
			default:
				kind = kindOf(step.seen)
			}
			w.unknownFields(kind, review.Pair{Kind: kind.Name(), From: "v1beta1", To: "v1"})
		})
		if diff := cmp.Diff(step.lines, lines); diff != "" {
			t.Errorf("%s: log (-want +got): %s", step.name, diff)
		}
		var outdated []string
		for name := range strings.FieldsSeq("CronTab Database Gadget Widget") {
			if w.outdated()[name+".example.com"] {
				outdated = append(outdated, name)
			}
		}
		if got := strings.Join(outdated, " "); got != step.outdated {
			t.Errorf("%s: outdated are %q, want %q", step.name, got, step.outdated)
		}
	}
}
