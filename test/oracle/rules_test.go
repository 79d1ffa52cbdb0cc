package oracle_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/converters/rules"
	"github.com/crdconvert/webhookd/internal/laws/generate"
	"github.com/crdconvert/webhookd/internal/laws/hold"
	"github.com/crdconvert/webhookd/internal/schema/apiserver"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
	"github.com/crdconvert/webhookd/test/helpers/tlstest"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/crdconvert/webhookd/test/oracle/apiclient"
)

// An example is a folder of examples/ with rules.
type example struct {
	kind  converters.Kind
	crd   *crdschema.CRD
	cases map[string]*unstructured.Unstructured // NAME.VERSION -> object
}

func readExample(t *testing.T, name string) example {
	t.Helper()
	folder := filepath.Join("..", "..", "examples", name)
	read := func(file string) []byte {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	crds, err := apiserver.Parse("crd.yaml", read(filepath.Join(folder, "crd.yaml")))
	if err != nil {
		t.Fatal(err)
	}
	source := rules.Source{Name: "rules.yaml", Text: read(filepath.Join(folder, "rules.yaml"))}
	set, findings := rules.Load(t.Context(), []rules.Source{source}, crds, rules.Options{})
	if len(findings) > 0 || len(set.Kinds()) != 1 || len(crds) != 1 {
		t.Fatalf("%d CRDs, %d kinds, findings: %v", len(crds), len(set.Kinds()), findings)
	}
	e := example{kind: set.Kinds()[0], crd: crds[0], cases: make(map[string]*unstructured.Unstructured)}
	files, err := filepath.Glob(filepath.Join(folder, "cases", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		text, err := yaml.YAMLToJSON(read(file))
		if err != nil {
			t.Fatalf("%v: %s", err, file)
		}
		e.cases[strings.TrimSuffix(filepath.Base(file), ".yaml")] = object(t, string(text))
	}
	return e
}

// TestRules holds that kinds of rules come through the API server's client as the cases of their
// examples say, and that objects at random are the same when they come back.
func TestRules(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"crontab-rules", "widget"} {
		e := readExample(t, name)
		w := serve(t, tlstest.NewCA(t, "oracle"), func(s *setup) { s.kinds = []converters.Kind{e.kind} })
		for ref, h := range map[string]apiclient.Hook{"service v1": w.byService("v1"), "URL v1beta1": w.byURL("v1beta1")} {
			t.Run(name+" "+ref, func(t *testing.T) {
				t.Parallel()
				c := w.client().Converter(t, e.kind.GroupKind, e.kind.Versions, h)
				e.driveCases(t, c)
				for _, from := range e.kind.Versions {
					for _, to := range e.kind.Versions {
						if from != to {
							e.driveRandom(t, c, from, to)
						}
					}
				}
			})
		}
	}
}

// driveCases converts each case to each version that the example has it in.
func (e *example) driveCases(t *testing.T, c *apiclient.Converter) {
	t.Helper()
	driven := 0
	for _, key := range slices.Sorted(maps.Keys(e.cases)) {
		name, from := cutLast(key)
		for _, to := range e.kind.Versions {
			want := e.cases[name+"."+from+"-to-"+to]
			if want == nil {
				want = e.cases[name+"."+to]
			}
			if from == to || want == nil || strings.Contains(from, "-to-") {
				continue
			}
			driven++
			got, err := c.To(e.cases[key].DeepCopy(), to)
			if err != nil {
				t.Errorf("%s -> %s: %v", key, to, err)
				continue
			}
			if diff := cmp.Diff(want.Object, content(t, got)); diff != "" {
				t.Errorf("%s -> %s (-want +got):\n%s", key, to, diff)
			}
		}
	}
	if driven < 6 {
		t.Errorf("only %d conversions of cases", driven)
	}
}

func cutLast(key string) (name, version string) {
	i := strings.LastIndexByte(key, '.')
	return key[:i], key[i+1:]
}

// driveRandom converts objects at random there and back.
func (e *example) driveRandom(t *testing.T, c *apiclient.Converter, from, to string) {
	t.Helper()
	generator, err := generate.NewGenerator(e.crd.Version(from), nil)
	if err != nil {
		t.Fatal(err)
	}
	for index := range uint64(100) {
		text := generator.Object(hold.DefaultSeed, index)
		in := object(t, string(text))
		withoutEmptyMaps(in)
		there, err := c.To(in.DeepCopy(), to)
		if err != nil {
			t.Fatalf("%s -> %s: %v: %s", from, to, err, text)
		}
		back, err := c.To(there, from)
		if err != nil {
			t.Fatalf("%s -> %s: %v: %s", to, from, err, text)
		}
		if diff := cmp.Diff(in.Object, content(t, back)); diff != "" {
			t.Fatalf("%s -> %s -> %s of %s (-was +is):\n%s", from, to, from, text, diff)
		}
	}
}

// withoutEmptyMaps writes metadata as the API server does.
func withoutEmptyMaps(u *unstructured.Unstructured) {
	if len(u.GetAnnotations()) == 0 {
		u.SetAnnotations(nil)
	}
	if len(u.GetLabels()) == 0 {
		u.SetLabels(nil)
	}
}
