package chart_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/internal/serve/config"
	"github.com/google/go-cmp/cmp"

	"github.com/crdconvert/webhookd/test/chart"
)

// A schema has the fields of a JSON Schema that these tests use.
type schema struct {
	root map[string]any
}

func readSchema(t *testing.T) schema {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(chart.Dir, "values.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	var s schema
	if err := json.Unmarshal(text, &s.root); err != nil {
		t.Fatal(err)
	}
	return s
}

// properties returns the properties of a schema, following its reference.
func (s schema) properties(of map[string]any) map[string]any {
	if ref, is := of["$ref"].(string); is {
		resolved, _ := chart.Get(s.root, strings.Split(strings.TrimPrefix(ref, "#/"), "/"))
		of, _ = resolved.(map[string]any)
	}
	properties, _ := of["properties"].(map[string]any)
	return properties
}

// The schema has the values of values.yaml and no others.
func TestSchemaHasEveryValue(t *testing.T) {
	t.Parallel()
	defaults, err := chart.Defaults()
	if err != nil {
		t.Fatal(err)
	}
	documented, err := chart.Documented()
	if err != nil {
		t.Fatal(err)
	}
	whole := map[string]bool{"global": true} // what Helm adds
	for _, v := range documented {
		whole[v.Name()] = true
	}
	s := readSchema(t)
	var compare func(prefix string, mapping, schema map[string]any)
	compare = func(prefix string, mapping, schema map[string]any) {
		properties := s.properties(schema)
		for key, value := range mapping {
			name := prefix + key
			property, found := properties[key].(map[string]any)
			if !found {
				t.Errorf("not in the schema: %s", name)
			} else if below, is := value.(map[string]any); is && !whole[name] {
				compare(name+".", below, property)
			}
		}
		for key := range properties {
			if _, found := mapping[key]; !found && !whole[prefix+key] {
				t.Errorf("in the schema only: %s%s", prefix, key)
			}
		}
	}
	compare("", defaults, s.root)
}

// Every object of the schema lists its keys, except Kubernetes' own, which the chart passes on
// unchanged.
func TestSchemaIsStrict(t *testing.T) {
	t.Parallel()
	handedOn := []string{".$defs.objects", ".$defs.volume", ".$defs.container"}
	var check func(path string, schema any)
	check = func(path string, schema any) {
		switch schema := schema.(type) {
		case map[string]any:
			others, strict := schema["additionalProperties"]
			if schema["type"] == "object" && (!strict || others == true) && schema["maxProperties"] == nil && !slices.Contains(handedOn, path) {
				t.Errorf("the schema accepts any key at %s", path)
			}
			for key, below := range schema {
				check(path+"."+key, below)
			}
		case []any:
			for _, below := range schema {
				check(path, below)
			}
		}
	}
	check("", readSchema(t).root)
}

// The schema refuses malformed values.
func TestMalformedValuesAreRefused(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"replicaCount: 0", "replicaCount: two", "path: crdconvert", "ports: {webhook: 443}",
		"tls: {mode: none}", "tls: {certManager: {duration: 90d}}", "tls: {certManager: {issuerRef: {kind: Issuer}}}",
		"crdWiring: {crds: [gadgets]}", "keptValues: {guard: off}", "conversionGuard: {mode: off}", "crossplane: {definitions: [a]}", "keptValues: {gate: yes please}", "crdWiring: {mode: auto}", "image: {digest: latest}", "image: {pullPolicy: Sometimes}",
		"config: {listen: ':1'}", "config: {tls-dir: /x}", "config: {log-level: loud}", "config: {log-reviews: some}", "config: {drain-delay: 15}", "config: {tls-min-version: 1.2}", "config: {max-body: 1}", "config: {max-body: 9Ki}",
		"rules: {a: ''}", "rules: {'../a': x}", "rulesFrom: [a]", "rulesFrom: [{name: a, items: [{key: a, path: b/c}]}]",
		"extraArgs: [serve]", "extraVolumes: [{name: tls, emptyDir: {}}]", "networkPolicy: {ingress: {cidrs: [10.0.0.1]}}",
		"metrics: {prometheusRule: {disabled: [NoSuchAlert]}}", "commonLabels: {a: 'b c'}", "fullnameOverride: 1webhook",
		"resources: {limits: {memory: 256MB}}", "unknown: 1",
	} {
		_, err := chart.Render(values(t, text), nil)
		if err == nil || !strings.Contains(err.Error(), "schema") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// config has the server's keys, except those that follow from other values.
func TestSchemaHasEveryKeyOfTheConfiguration(t *testing.T) {
	t.Parallel()
	others := []string{"listen", "admin-listen", "path", "rules", "crds", "tls-dir", "self-signed"}
	var want []string
	for _, key := range config.Keys() {
		if !slices.Contains(others, key.Name) {
			want = append(want, key.Name)
		}
	}
	slices.Sort(want)
	s := readSchema(t)
	property, _ := s.properties(s.root)["config"].(map[string]any)
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(s.properties(property)))); diff != "" {
		t.Errorf("keys (-server +schema):\n%s", diff)
	}
}
