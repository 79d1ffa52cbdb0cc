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

// policyCRDs cover what the policies depend on: which versions are served, and which one is stored.
func policyCRDs() map[string]string {
	return map[string]string{
		"two":      crdOf("twos", "[{name: v1beta1, served: true, storage: false}, {name: v1, served: true, storage: true}]"),
		"unserved": crdOf("unserved", "[{name: v1beta1}, {name: v1, served: true, storage: true}]"),
		"unstored": crdOf("unstored", "[{name: v2, served: true}, {name: v1, storage: true}]"),
		"three":    crdOf("threes", "[{name: v1alpha1, served: true}, {name: v1beta1, served: true, storage: true}, {name: v1, served: true, storage: false}]"),
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
					names, crds := make([]any, 0, 4), make([]map[string]any, 0, 4)
					for _, text := range policyCRDs() {
						crd := values(t, text)
						names, crds = append(names, at(t, crd, "metadata", "name")), append(crds, crd)
					}
					v := map[string]any{
						"keptValues": map[string]any{"guard": string(guard), "allowGroup": group, "gate": gate},
						"crdWiring":  map[string]any{"crds": names},
					}
					got := policiesOf(t, objects(t, render(t, v, chart.NewCluster(crds...))))
					want := printed(t, crdguard.Options{Mode: guard, AllowGroup: group}, gate)
					if diff := cmp.Diff(want, got); diff != "" {
						t.Errorf("(-crd guard +chart):\n%s", diff)
					}
					if len(want) < 6 { // a gate has three policies
						t.Errorf("only %d policies and bindings", len(want))
					}
				})
			}
		}
	}
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

// Kept values of each CRD that the values name are guarded by default, whatever is known of it.
func TestGuardedCRDs(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		values string
		want   []string
	}{
		"rules":           {crdAndRules, []string{"gadgets.example.org"}},
		"Go":              {"crdWiring: {crds: [twos.example.org]}", []string{"twos.example.org"}},
		"Go and rules":    {crdAndRules + "crdWiring: {crds: [twos.example.org]}", []string{"gadgets.example.org", "twos.example.org"}},
		"named by both":   {crdAndRules + "crdWiring: {crds: [gadgets.example.org]}", []string{"gadgets.example.org"}},
		"ConfigMaps":      {"{rulesFrom: [{name: a}], crdsFrom: [{name: b}], crdWiring: {crds: [twos.example.org]}}", []string{"twos.example.org"}},
		"none are named":  {"{rulesFrom: [{name: a}], crdsFrom: [{name: b}]}", nil},
		"none is guarded": {crdAndRules + "keptValues: {guard: none}", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := render(t, values(t, tt.values), nil)
			if diff := cmp.Diff(tt.want, guarded(t, r)); diff != "" {
				t.Errorf("CRDs with a guard (-want +got):\n%s", diff)
			}
			if warned := strings.Contains(r["NOTES.txt"], "WARNING: No policy protects kept values"); warned != (name == "none are named") {
				t.Errorf("a warning: %v", warned)
			}
		})
	}
}

// The notes say what the policies do and cost, and what is open without them.
func TestNotesOfKeptValues(t *testing.T) {
	t.Parallel()
	const (
		open, ungated = "Anyone who may patch an object may change the values that webhookd keeps", "It costs one more conversion for each write and version"
		ask           = "To restore a backup with status, or let webhookd migrate finish, name your group"
		refused       = "changes annotations in which webhookd keeps values is refused, for objects of gadgets.example.org."
		replace       = "kubectl replace without them is refused, too."
	)
	for text, want := range map[string][]string{
		"":                          {refused, replace, ask, ungated},
		"keptValues: {guard: none}": {open, ungated},
		"keptValues: {guard: restore, allowGroup: some, gate: true}": {
			"changes annotations in which webhookd keeps values has them put back, for objects of gadgets.example.org.",
			"Only the group some restores backups with status",
			"The API server refuses to write an object that cannot be converted, for objects of gadgets.example.org.",
		},
	} {
		notes := strings.Join(strings.Fields(render(t, values(t, crdAndRules+text), nil)["NOTES.txt"]), " ")
		for _, line := range append(want, open, ungated, ask, refused, replace) {
			if strings.Contains(notes, line) != slices.Contains(want, line) {
				t.Errorf("%s: %q in the notes: %v:\n%s", text, line, strings.Contains(notes, line), notes)
			}
		}
	}
}
