package crdguard_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/crdconvert/webhookd/internal/crdguard"
)

var update = flag.Bool("update", false, "write the generated files")

// machines is a CRD with the subresource status at two of its three served versions, and with a
// version that is not served.
const machines = `
metadata: {name: machines.example.com}
spec:
  group: example.com
  names: {plural: machines}
  versions:
  - {name: v1, served: true, storage: true, subresources: {status: {}}}
  - {name: v1beta1, served: true, subresources: {scale: {specReplicasPath: .spec.count}, status: {}}}
  - {name: v1alpha2, served: true, subresources: {scale: {specReplicasPath: .spec.count}}}
  - {name: v1alpha1, subresources: {}}
`

func crdOf(t *testing.T, text string) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict([]byte(text), crd); err != nil {
		t.Fatal(err)
	}
	return crd
}

// What is printed is read by people, and so held as a whole.
func TestPolicies(t *testing.T) {
	t.Parallel()
	whole := crdOf(t, machines)
	bare := crdOf(t, `{metadata: {name: "true.example.com"}, spec: {group: example.com, names: {plural: "true"},
		versions: [{name: v1, served: true, storage: true}, {name: v2, served: true}]}}`)
	guard := func(crd *apiextensionsv1.CustomResourceDefinition, mode crdguard.Mode, group string) func() ([]byte, error) {
		return func() ([]byte, error) {
			return crdguard.Annotations(crd, crdguard.Options{Mode: mode, AllowGroup: group})
		}
	}
	for name, render := range map[string]func() ([]byte, error){
		"validate":         guard(whole, crdguard.Validate, ""),
		"validate-allowed": guard(whole, crdguard.Validate, `a "group": <of some>`),
		"restore":          guard(whole, crdguard.Restore, ""),
		"restore-allowed":  guard(whole, crdguard.Restore, "system:masters"),
		"no-status":        guard(bare, crdguard.Validate, ""),
		"gate":             func() ([]byte, error) { return crdguard.Convertible(whole) },
		"gate-no-status":   func() ([]byte, error) { return crdguard.Convertible(bare) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := render()
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
		"{spec: {group: b, names: {plural: a}}}":                                                              `name of a CRD has to be spec.names.plural, a dot and spec.group: ""`,
		`{metadata: {name: "a\n.b"}, spec: {group: b, names: {plural: "a\n"}}}`:                               `name of a CRD has to be spec.names.plural, a dot and spec.group: "a\n.b"`,
		`{metadata: {name: a.b}, spec: {group: b, names: {plural: a}, versions: [{name: v1}, {name: 'v"'}]}}`: "not the name of a version, write one such as v1beta1: a.b: spec.versions[1].name",
	} {
		crd := crdOf(t, text)
		_, err := crdguard.Annotations(crd, crdguard.Options{Mode: crdguard.Restore})
		_, gateErr := crdguard.Convertible(crd)
		for _, err := range []error{err, gateErr} {
			if err == nil || err.Error() != want {
				t.Errorf("%s: %v, want %s", text, err, want)
			}
		}
	}
}

// The chart has the same policies: its template is a copy.
func TestReferenceChartHasThePolicies(t *testing.T) {
	t.Parallel()
	const copied = "../../deploy/helm/webhookd/templates/_policies.tpl"
	want, err := os.ReadFile("policies.tpl")
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(copied, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(copied)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s is not up to date, run this test with -update (-want +got):\n%s", copied, diff)
	}
}
