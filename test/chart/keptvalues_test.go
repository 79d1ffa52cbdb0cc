package chart_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/internal/cluster/crdguard"
	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/crdconvert/webhookd/test/chart"
)

// crdOf returns a CRD with versions, in the style of YAML.
func crdOf(plural, versions string) string {
	return `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: ` + plural + `.example.org}
spec: {group: example.org, scope: Namespaced, names: {kind: Any, plural: ` + plural + `}, versions: ` + versions + `}
`
}

// policyCRDs cover what the policies depend on: the number of versions and of served versions, the
// storage version, and which versions have the status subresource, in each notation.
func policyCRDs() map[string]string {
	return map[string]string{
		"one":      crdOf("ones", "[{name: v1, served: true, storage: true}]"),
		"two":      crdOf("twos", "[{name: v1beta1, served: true, storage: false, subresources: {status: {}}}, {name: v1, served: true, storage: true}]"),
		"unserved": crdOf("unserved", "[{name: v1beta1, subresources: {status: null}}, {name: v1, served: true, storage: true, subresources: {}}]"),
		"unstored": crdOf("unstored", "[{name: v2, served: true}, {name: v1, storage: true}]"),
		"three": crdOf("threes", `[{name: v1alpha1, served: true, subresources: {scale: {specReplicasPath: .spec.n}, status: {}}},
			{name: v1beta1, served: true, storage: true, subresources: null}, {name: v1, served: true, storage: false, subresources: {status: {}}}]`),
	}
}

// The chart renders what webhookd crd guard prints, except labels.
func TestPoliciesAreThoseOfTheCommand(t *testing.T) {
	t.Parallel()
	for _, guard := range []crdguard.Mode{"none", crdguard.Validate, crdguard.Restore} {
		for _, group := range []string{"", `a "group": <of some>`} {
			for _, gate := range []bool{false, true} {
				if guard == "none" && (group != "" || !gate) {
					continue
				}
				t.Run(fmt.Sprintf("%s %v %s", guard, gate, group), func(t *testing.T) {
					t.Parallel()
					v := map[string]any{"keptValues": map[string]any{
						"guard": string(guard), "allowGroup": group, "gate": gate, "crds": anyOf(policyCRDs()),
					}}
					got := policiesOf(t, objects(t, render(t, v, nil)))
					want := printed(t, crdguard.Options{Mode: guard, AllowGroup: group}, gate)
					if diff := cmp.Diff(want, got); diff != "" {
						t.Errorf("(-crd guard +chart):\n%s", diff)
					}
					if len(want) < 6 {
						t.Errorf("only %d policies and bindings", len(want))
					}
				})
			}
		}
	}
}

func anyOf(texts map[string]string) map[string]any {
	all := make(map[string]any, len(texts))
	for name, text := range texts {
		all[name] = text
	}
	return all
}

// policiesOf returns the policies and bindings by kind and name, without labels.
func policiesOf(t *testing.T, objects []map[string]any) map[string]map[string]any {
	t.Helper()
	all := map[string]map[string]any{}
	for _, o := range objects {
		kind, _ := o["kind"].(string)
		if !strings.Contains(kind, "AdmissionPolicy") {
			continue
		}
		metadata, _ := o["metadata"].(map[string]any)
		delete(metadata, "labels")
		all[kind+" "+at(t, o, "metadata", "name")] = o
	}
	return all
}

// printed returns what the command prints for all CRDs.
func printed(t *testing.T, o crdguard.Options, gate bool) map[string]map[string]any {
	t.Helper()
	var all []map[string]any
	add := func(text []byte, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		for document := range strings.SplitSeq(string(text), "\n---\n") {
			all = append(all, values(t, document))
		}
	}
	for _, text := range policyCRDs() {
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.Unmarshal([]byte(text), crd); err != nil {
			t.Fatal(err)
		}
		if o.Mode != "none" {
			add(crdguard.Annotations(crd, o))
		}
		if gate {
			add(crdguard.Convertible(crd))
		}
	}
	return policiesOf(t, all)
}

// guarded returns the CRDs that have a guard.
func guarded(t *testing.T, r chart.Rendering) []string {
	t.Helper()
	var names []string
	for _, name := range slices.Sorted(maps.Keys(policiesOf(t, objects(t, r)))) {
		if crd, is := strings.CutPrefix(name, "ValidatingAdmissionPolicy webhookd-kept-values."); is {
			names = append(names, crd)
		}
	}
	return names
}

// The chart finds CRDs in rules, crds, keptValues.crds and the cluster; values win over the
// cluster.
func TestCRDsOfPolicies(t *testing.T) {
	t.Parallel()
	var inFile map[string]any
	if err := yaml.Unmarshal([]byte(policyCRDs()["two"]), &inFile); err != nil {
		t.Fatal(err)
	}
	const validate = "keptValues: {guard: validate}\n"
	cluster := chart.NewCluster(crdInCluster(t), inFile)
	withoutCRDs := values(t, crdAndRules+validate)
	delete(withoutCRDs, "crds")
	for name, tt := range map[string]struct {
		values  map[string]any
		cluster *chart.Cluster
		want    []string
	}{
		"rules and crds":    {values(t, crdAndRules+validate), nil, []string{"gadgets.example.org"}},
		"rules and cluster": {withoutCRDs, cluster, []string{"gadgets.example.org"}},
		"Go and cluster":    {values(t, "crdWiring: {crds: [twos.example.org]}\n"+validate), cluster, []string{"twos.example.org"}},
		"next to rules":     {values(t, crdAndRules+"crdWiring: {crds: [twos.example.org]}\n"+validate), cluster, []string{"gadgets.example.org", "twos.example.org"}},
		"ConfigMaps": {
			map[string]any{
				"rulesFrom": []any{map[string]any{"name": "a"}}, "crdsFrom": []any{map[string]any{"name": "b"}},
				"keptValues": map[string]any{"guard": "validate", "crds": map[string]any{
					"several": policyCRDs()["two"] + "---\n" + policyCRDs()["three"],
				}},
			}, nil, []string{"threes.example.org", "twos.example.org"},
		},
		"the one given has one version": {
			map[string]any{"keptValues": map[string]any{"guard": "validate", "crds": map[string]any{
				"two": crdOf("twos", "[{name: v1, served: true, storage: true}]"),
			}}}, cluster, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, guarded(t, render(t, tt.values, tt.cluster))); diff != "" {
				t.Errorf("CRDs with a guard (-want +got):\n%s", diff)
			}
		})
	}
}

// The notes say which of the two policies is on, and what is open without them.
func TestNotesOfKeptValues(t *testing.T) {
	t.Parallel()
	const open, ungated = "Anyone who may patch an object may change the values that webhookd keeps", "One object that cannot be converted"
	for text, want := range map[string][]string{
		"":                              {open, ungated},
		"keptValues: {guard: validate}": {"changes kept values in annotations is refused, for objects of gadgets.example.org.", ungated},
		"keptValues: {guard: restore, allowGroup: some, gate: true}": {
			"changes kept values in annotations has them put back, for objects of gadgets.example.org.", "The group some may change them.",
			"The API server refuses to write an object that cannot be converted, for objects of gadgets.example.org.",
		},
	} {
		notes := strings.Join(strings.Fields(render(t, values(t, crdAndRules+text), nil)["NOTES.txt"]), " ")
		for _, line := range append(want, open, ungated) {
			if strings.Contains(notes, line) != slices.Contains(want, line) {
				t.Errorf("%s: %q in the notes: %v:\n%s", text, line, strings.Contains(notes, line), notes)
			}
		}
	}
}
