package simulation_test

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/schema/apiserver"
	"github.com/crdconvert/webhookd/internal/serve/ruleset"
)

const group = "example.com"

// generations is the number of files of rules, each of which replaces the one before it.
const generations = 3

// A kind is what all clusters have in common. It is safe for concurrent use.
type kind struct {
	versions []string
	schemas  map[string]*structuralschema.Structural
	types    managedfields.TypeConverter
	rules    map[string][]*ruleset.Set // the generations, by the storage version of the CRD with them

	mu         sync.Mutex
	registries map[string]*converters.Registry
}

func readKind(t *testing.T) *kind {
	t.Helper()
	k := &kind{schemas: map[string]*structuralschema.Structural{}, rules: map[string][]*ruleset.Set{}, registries: map[string]*converters.Registry{}}
	crd := strings.Replace(string(read(t, "crd.yaml")), "storage: true", "storage: false", 1)
	parsed, err := apiserver.Parse("crd.yaml", read(t, "crd.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range parsed[0].Versions {
		k.versions = append(k.versions, v.Name)
		k.schemas[v.Name] = v.Root.Structural()
	}
	k.types = typesOf(t, k.schemas)
	for _, stored := range k.versions {
		at := "name: " + stored + "\n    served: true\n    storage: "
		text := []byte(strings.Replace(crd, at+"false", at+"true", 1))
		for i := range generations {
			name := fmt.Sprintf("rules-%d.yaml", i)
			set, err := ruleset.Compiled{}.Load(t.Context(), []ruleset.File{{Name: name, Text: read(t, name)}}, []ruleset.File{{Name: "crd.yaml", Text: text}})
			if err != nil || len(set.Errors()) > 0 {
				t.Fatal(err, set.Errors())
			}
			k.rules[stored] = append(k.rules[stored], &set)
		}
	}
	return k
}

// typesOf returns the types by which the API server merges what clients apply.
func typesOf(t *testing.T, schemas map[string]*structuralschema.Structural) managedfields.TypeConverter {
	t.Helper()
	models := map[string]*spec.Schema{}
	for version, s := range schemas {
		m := s.ToKubeOpenAPI()
		m.AddExtension("x-kubernetes-group-version-kind", []any{map[string]any{"group": group, "version": version, "kind": "Job"}})
		models[version] = m
	}
	types, err := managedfields.NewTypeConverter(models, false)
	if err != nil {
		t.Fatal(err)
	}
	return types
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// registry returns what a replica serves with a generation of rules and a stored version, while
// others may have the rules in before, and all know those in known.
func (k *kind) registry(t *testing.T, stored string, generation int, before, known []int) *converters.Registry {
	t.Helper()
	k.mu.Lock()
	defer k.mu.Unlock()
	key := fmt.Sprint(stored, generation, before, known)
	if r := k.registries[key]; r != nil {
		return r
	}
	compiled := func(generations []int) (all []*ruleset.Rules) {
		for _, g := range generations {
			rules, _ := k.rules[stored][g].Rules()
			all = append(all, rules)
		}
		return all
	}
	set := k.rules[stored][generation]
	r, err := ruleset.Compiled{}.Registry(set.During(t.Context(), set.Ruled(), compiled(before), compiled(known)).Kinds)
	if err != nil {
		t.Fatal(err)
	}
	k.registries[key] = r
	return r
}
