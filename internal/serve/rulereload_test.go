package serve

import (
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/serve/config"
	"github.com/crdconvert/webhookd/test/helpers/rulesettest"
	"github.com/crdconvert/webhookd/test/helpers/tlstest"
)

// A reload serves what a fresh start with the same files serves, with the same rules and schemas.
// In addition, a kind with findings, which a fresh start refuses, keeps its previous rules.
func TestAReloadTakesSchemasAsAStartDoes(t *testing.T) {
	t.Parallel()
	mapped := func(kind string) string { // without unmapped, so that a field of one version alone is a finding
		return strings.Replace(rulesettest.Conversion(kind, "width"), " unmapped: Preserve,", "", 1)
	}
	widget, gadget, cog := mapped("Widget"), mapped("Gadget"), rulesettest.Conversion("Cog", "width")
	unreadable := strings.Replace(widget, "spoke:", "spok:", 1)
	typo := rulesettest.Conversion("Widget", "wide") // has a finding, but converts
	crds := map[string]string{"w.yaml": rulesettest.CRD("Widget"), "g.yaml": rulesettest.CRD("Gadget"), "c.yaml": rulesettest.CRD("Cog")}
	rules := map[string]string{"w.yaml": widget, "g.yaml": gadget, "c.yaml": cog}
	with := func(files map[string]string, name, text string) map[string]string {
		all := maps.Clone(files)
		all[name] = text
		if text == "" {
			delete(all, name)
		}
		return all
	}
	newCRDs := with(with(with(crds, "w.yaml", rulesettest.WithNewField(crds["w.yaml"])), "g.yaml", rulesettest.WithNewField(crds["g.yaml"])), "c.yaml", rulesettest.WithNewField(crds["c.yaml"]))
	for name, tt := range map[string]struct {
		rules, crds map[string]string
		differs     []string // kinds that a fresh start has otherwise, or refuses
		lines       []string
	}{
		"schemas that nothing is found in": {
			rules, with(crds, "c.yaml", newCRDs["c.yaml"]), nil,
			[]string{rulesLoaded},
		},
		"schemas with findings": {
			rules, newCRDs,
			[]string{"Gadget.example.com", "Widget.example.com"},
			[]string{"info: schemas loaded: [Cog.example.com Gadget.example.com Widget.example.com]", rulesAsBefore},
		},
		"schemas with findings, and rules that cannot be read": {
			with(rules, "w.yaml", unreadable), newCRDs,
			[]string{"Gadget.example.com", "Widget.example.com"},
			[]string{"info: schemas loaded: [Cog.example.com Gadget.example.com Widget.example.com]", rulesKept},
		},
		"schemas with findings, and rules with some": {
			with(rules, "w.yaml", typo), newCRDs,
			[]string{"Gadget.example.com", "Widget.example.com"}, // whose rules are those before the mistake
			[]string{"info: schemas loaded: [Cog.example.com Gadget.example.com Widget.example.com]", rulesKept},
		},
		"schemas with findings, and no rules": {
			nil, newCRDs,
			[]string{"Cog.example.com", "Gadget.example.com", "Widget.example.com"},
			[]string{"info: schemas loaded: [Cog.example.com Gadget.example.com Widget.example.com]", rulesKept},
		},
		"a kind more": {
			with(rules, "d.yaml", rulesettest.Conversion("Dowel", "width")), with(newCRDs, "d.yaml", rulesettest.CRD("Dowel")),
			[]string{"Gadget.example.com", "Widget.example.com"},
			[]string{"info: schemas loaded: [Cog.example.com Dowel.example.com Gadget.example.com Widget.example.com]", rulesKept},
		},
		"a CRD goes": {
			rules, with(newCRDs, "w.yaml", ""),
			[]string{"Gadget.example.com", "Widget.example.com"},
			[]string{
				"info: schemas loaded: [Cog.example.com Gadget.example.com]", rulesAsBefore,
				"warn: kinds keep the schemas that they had, the CRDs on disk have none for them: [Widget.example.com]",
			},
		},
		"a CRD cannot be read": {
			rules, with(newCRDs, "w.yaml", "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nspec: 1\n"),
			[]string{"Gadget.example.com", "Widget.example.com"},
			[]string{
				"info: schemas loaded: [Cog.example.com Gadget.example.com]", rulesAsBefore,
				"warn: kinds keep the schemas that they had, the CRDs on disk have none for them: [Widget.example.com]",
			},
		},
		"another hub, next to rules that cannot be read": {
			with(with(rules, "c.yaml", strings.Replace(cog, "hub: v1\n", "hub: v2\n", 1)), "g.yaml", strings.Replace(gadget, "spoke:", "spok:", 1)),
			with(newCRDs, "c.yaml", strings.Replace(crds["c.yaml"], "name: v1\n", "name: v2\n", 1)),
			[]string{"Gadget.example.com", "Widget.example.com"},
			[]string{"info: schemas loaded: [Cog.example.com Gadget.example.com Widget.example.com]", rulesKept},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			c := config.Config{Rules: filepath.Join(dir, "rules"), CRDs: filepath.Join(dir, "crds"), WaitForRules: true}
			tlstest.WriteSecretDir(t, c.Rules, contents(rules))
			tlstest.WriteSecretDir(t, c.CRDs, contents(crds))
			reloaded := opened(t, c)
			tlstest.SwapSecretDir(t, c.Rules, contents(tt.rules))
			tlstest.SwapSecretDir(t, c.CRDs, contents(tt.crds))
			lines := logged(t, zapcore.DebugLevel, func(logger *zap.Logger) {
				reloaded.logger = logger
				for range 3 {
					reloaded.look(t.Context())
				}
			})
			fresh := opened(t, c)
			if same := fresh.digest() == reloaded.digest(); same != (len(tt.differs) == 0) {
				t.Errorf("digest %s, that of a fresh start is %s", reloaded.digest(), fresh.digest())
			}
			was, is := conversions(t, fresh), conversions(t, reloaded)
			var differs []string
			for kind := range is {
				if was[kind] != is[kind] {
					differs = append(differs, kind)
				}
				delete(was, kind)
			}
			if diff := cmp.Diff(tt.differs, differs, cmpopts.SortSlices(strings.Compare), cmpopts.EquateEmpty()); diff != "" || len(was) > 0 {
				t.Errorf("kinds that a fresh start has otherwise (-want +got), and %d that it has alone: %s", len(was), diff)
			}
			if diff := cmp.Diff(tt.lines, told(lines), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("log: %s", diff)
			}
		})
	}
}

func contents(files map[string]string) map[string][]byte {
	all := map[string][]byte{}
	for name, text := range files {
		all[name] = []byte(text)
	}
	return all
}

func opened(t *testing.T, c config.Config) *ruleWatch {
	t.Helper()
	w, err := openRules(t.Context(), c, exampleKinds(), zap.NewNop(), &ruleTally{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// conversions converts an object of each kind with rules from each version, and returns the results
// by kind.
func conversions(t *testing.T, w *ruleWatch) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, kind := range w.registry().Kinds() {
		if exampleKinds().Has(kind.GroupKind) {
			continue
		}
		for _, pair := range [][2]string{{kind.Hub, "v1beta1"}, {"v1beta1", kind.Hub}} {
			obj, err := jsondoc.ParseObject(fmt.Appendf(nil,
				`{"apiVersion":"example.com/%s","kind":%q,"metadata":{"name":"a"},"spec":{"size":1,"width":2,"wide":3,"colour":"red"}}`, pair[0], kind.Kind))
			if err != nil {
				t.Fatal(err)
			}
			if err := kind.Convert(t.Context(), obj, pair[0], pair[1]); err != nil {
				t.Fatal(err)
			}
			all[kind.Name()] += string(obj.Text()) + "\n"
		}
	}
	return all
}

// told returns the lines of a log: level, message and names of kinds.
func told(lines []map[string]any) []string {
	all := make([]string, 0, len(lines))
	for _, line := range lines {
		text := fmt.Sprintf("%s: %s", line["level"], line["msg"])
		if names, is := line["kinds"].([]any); is && len(names) > 0 {
			if _, is := names[0].(string); is {
				text += fmt.Sprintf(": %v", names)
			}
		}
		all = append(all, text)
	}
	return all
}
