package crdguard_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"text/template"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/crdconvert/webhookd/internal/cluster/crdguard"
)

var update = flag.Bool("update", false, "write the generated files")

// machines is a CRD with three served versions, and one that is not served.
const machines = `
metadata: {name: machines.example.com}
spec:
  group: example.com
  names: {plural: machines}
  versions:
  - {name: v1, served: true, storage: true}
  - {name: v1beta1, served: true}
  - {name: v1alpha2, served: true}
  - {name: v1alpha1}
`

func crdOf(t *testing.T, text string) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict([]byte(text), crd); err != nil {
		t.Fatal(err)
	}
	return crd
}

// owned is a CRD that Crossplane makes.
const owned = `
metadata:
  name: machines.example.com
  ownerReferences:
  - {apiVersion: apiextensions.crossplane.io/v1, kind: CompositeResourceDefinition, name: xmachines.example.com, uid: a, controller: true}
spec:
  group: example.com
  names: {plural: machines}
  versions: [{name: v1, served: true, storage: true}]
`

// ofChart renders the same with the template of the chart.
func ofChart(t *testing.T, policy string, crd *apiextensionsv1.CustomResourceDefinition, o crdguard.Options) string {
	t.Helper()
	kind := map[string]any{
		"group": crd.Spec.Group, "plural": crd.Spec.Names.Plural, "mode": string(o.Mode), "allowGroup": o.AllowGroup, "labels": nil, "webhook": o.Webhook,
	}
	var others []string
	if owners := crd.OwnerReferences; len(owners) > 0 {
		kind["xrd"] = owners[0].Name
	}
	for _, v := range crd.Spec.Versions {
		if v.Served && !v.Storage {
			others = append(others, v.Name)
		}
	}
	kind["others"] = others
	toJSON := func(v any) (string, error) { // is Helm's toJson
		text, err := json.Marshal(v)
		return string(text), err
	}
	parsed, err := template.New("").Funcs(template.FuncMap{"toJson": toJSON}).ParseFiles(
		"../../../deploy/helm/webhookd/templates/_policies.tpl", "../../../deploy/helm/webhookd/templates/_conversionpolicy.tpl")
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := parsed.ExecuteTemplate(&out, "webhookd.guard."+policy, kind); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// What is printed is read by people, and so held as a whole.
func TestPolicies(t *testing.T) {
	t.Parallel()
	whole := crdOf(t, machines)
	named := crdOf(t, `{metadata: {name: "true.example.com"}, spec: {group: example.com, names: {plural: "true"},
		versions: [{name: v1, served: true, storage: true}, {name: v2, served: true}]}}`)
	for name, tt := range map[string]struct {
		policy  string
		crd     *apiextensionsv1.CustomResourceDefinition
		options crdguard.Options
	}{
		"validate":            {"annotations", whole, crdguard.Options{Mode: crdguard.Validate}},
		"validate-allowed":    {"annotations", whole, crdguard.Options{Mode: crdguard.Validate, AllowGroup: `a "group": <of some>`}},
		"restore":             {"annotations", whole, crdguard.Options{Mode: crdguard.Restore}},
		"restore-allowed":     {"annotations", whole, crdguard.Options{Mode: crdguard.Restore, AllowGroup: "system:masters"}},
		"gate":                {"convertible", whole, crdguard.Options{}},
		"gate-true":           {"convertible", named, crdguard.Options{}},
		"conversion-validate": {"conversion", crdOf(t, owned), crdguard.Options{Mode: crdguard.Validate, AllowGroup: "system:masters", Webhook: "webhookd/webhookd:443/crdconvert"}},
		"conversion-restore":  {"conversion", whole, crdguard.Options{Mode: crdguard.Restore}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			render := map[string]func() ([]byte, error){
				"annotations": func() ([]byte, error) { return crdguard.Annotations(tt.crd, tt.options) },
				"convertible": func() ([]byte, error) { return crdguard.Convertible(tt.crd) },
				"conversion":  func() ([]byte, error) { return crdguard.Conversion(tt.crd, tt.options) },
			}
			got, err := render[tt.policy]()
			if err != nil {
				t.Fatal(err)
			}
			golden := filepath.Join("testdata", name+".yaml")
			if *update {
				if err := os.WriteFile(golden, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("see -update (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(string(want), ofChart(t, tt.policy, tt.crd, tt.options)); diff != "" {
				t.Errorf("the chart renders something else (-want +got):\n%s", diff)
			}
			for document := range strings.SplitSeq(string(got), "\n---\n") {
				if err := yaml.UnmarshalStrict([]byte(document), &map[string]any{}); err != nil {
					t.Errorf("%v in:\n%s", err, document)
				}
			}
		})
	}
}

// Where there is nothing to guard, nothing is made.
func TestNothingToGuard(t *testing.T) {
	t.Parallel()
	const single = "{metadata: {name: a.b}, spec: {group: b, names: {plural: a}, versions: [{name: v1, served: true, storage: true}]}}"
	if got, err := crdguard.Annotations(crdOf(t, single), crdguard.Options{Mode: crdguard.Validate}); len(got) > 0 || err != nil {
		t.Errorf("one version: %s, %v", got, err)
	}
	for _, versions := range []string{
		"[{name: v1, served: true, storage: true}]",
		"[{name: v1, served: true, storage: true}, {name: v2}]",
		"[{name: v1, storage: true}, {name: v2, served: true}]",
	} {
		crd := crdOf(t, "{metadata: {name: a.b}, spec: {group: b, names: {plural: a}, versions: "+versions+"}}")
		if got, err := crdguard.Convertible(crd); len(got) > 0 || err != nil {
			t.Errorf("%s: %s, %v", versions, got, err)
		}
	}
}

// No text of a CRD becomes one of a policy unless it is a name.
func TestNamesAreNames(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"{spec: {group: b, names: {plural: a}}}":                                                              `"": the name of a CRD has to be spec.names.plural, a dot and spec.group`,
		`{metadata: {name: "a\n.b"}, spec: {group: b, names: {plural: "a\n"}}}`:                               `"a\n.b": the name of a CRD has to be spec.names.plural, a dot and spec.group`,
		`{metadata: {name: a.b}, spec: {group: b, names: {plural: a}, versions: [{name: v1}, {name: 'v"'}]}}`: "a.b: spec.versions[1].name: not the name of a version, write one such as v1beta1",
	} {
		crd := crdOf(t, text)
		_, err := crdguard.Annotations(crd, crdguard.Options{Mode: crdguard.Restore})
		_, gateErr := crdguard.Convertible(crd)
		_, conversionErr := crdguard.Conversion(crd, crdguard.Options{})
		for _, err := range []error{err, gateErr, conversionErr} {
			if err == nil || err.Error() != want {
				t.Errorf("%s: %v, want %s", text, err, want)
			}
		}
	}
}
