package chart_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/crdconvert/webhookd/test/chart"
)

// null removes a default. The schema then reports a missing value that is required; without any
// other value the chart still renders valid manifests, with the certificate.
func TestNullIsHarmlessOrRefused(t *testing.T) {
	t.Parallel()
	defaults, err := chart.Defaults()
	if err != nil {
		t.Fatal(err)
	}
	bases := []map[string]any{
		values(t, "{tls: {mode: helm}, crdWiring: {mode: job, crds: [gadgets.example.org]}, autoscaling: {enabled: true}}"),
		values(t, "tls: {mode: certManager}"), values(t, "tls: {mode: selfManaged}"), values(t, "tls: {mode: existingSecret, existingSecret: a}"),
	}
	want := make([][]string, len(bases))
	for i, base := range bases {
		want[i] = certificates(t, render(t, base, nil))
	}
	for _, path := range paths(nil, defaults) {
		t.Run(strings.Join(path, "."), func(t *testing.T) {
			t.Parallel()
			for i, base := range bases {
				if i > 0 && path[0] != "tls" { // the mode changes nothing about it
					break
				}
				r, err := chart.Render(without(base, path), nil)
				if err != nil {
					if !strings.Contains(err.Error(), "missing propert") && !strings.Contains(err.Error(), "these values cannot work") {
						t.Error(err)
					}
					continue
				}
				for _, sign := range []string{"<nil>", "<no value>", "%!"} {
					if strings.Contains(r.String(), sign) {
						t.Errorf("rendered with %s", sign)
					}
				}
				if diff := cmp.Diff(want[i], certificates(t, r)); diff != "" {
					t.Errorf("other certificates (-want +got):\n%s", diff)
				}
			}
		})
	}
}

// certificates returns the names of the objects that create or contain certificates.
func certificates(t *testing.T, r chart.Rendering) []string {
	t.Helper()
	var all []string
	for _, document := range r.Documents() {
		var o map[string]any
		if err := yaml.Unmarshal([]byte(document), &o); err != nil {
			t.Errorf("no YAML: %v", err)
			continue
		}
		if kind, _ := o["kind"].(string); kind == "Secret" || kind == "Certificate" {
			all = append(all, kind+" "+at(t, o, "metadata", "name"))
		}
	}
	return all
}

// paths returns the paths of all values.
func paths(above []string, mapping map[string]any) [][]string {
	var all [][]string
	for key, value := range mapping {
		path := append(slices.Clone(above), key)
		all = append(all, path)
		if below, is := value.(map[string]any); is {
			all = append(all, paths(path, below)...)
		}
	}
	return all
}

// without returns values with null at a path.
func without(mapping map[string]any, path []string) map[string]any {
	out := maps.Clone(mapping)
	if out == nil {
		out = map[string]any{}
	}
	if len(path) == 1 {
		out[path[0]] = nil
		return out
	}
	below, _ := out[path[0]].(map[string]any)
	out[path[0]] = without(below, path[1:])
	return out
}
