package gokinds_test

import (
	"os"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crdconvert/webhookd/examples/customserver/gokinds"
	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/crdschema"
	"github.com/crdconvert/webhookd/internal/roundtrip"
)

// schemas returns a CRD of examples/, edited.
func schemas(t *testing.T, name string, edit func(text string) string) *crdschema.CRD {
	t.Helper()
	text, err := os.ReadFile("../../../examples/crds/" + name + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := crdschema.Parse(name, []byte(edit(string(text))))
	if err != nil {
		t.Fatal(err)
	}
	return parsed[0]
}

// fuzz checks the laws for a kind on random objects of its CRD, and on walks.
func fuzz(t *testing.T, crd *crdschema.CRD, gained ...roundtrip.Gain) {
	t.Helper()
	registry, err := converters.NewRegistry(gokinds.Kinds()...)
	if err != nil {
		t.Fatal(err)
	}
	kind := registry.Lookup(schema.GroupKind{Group: crd.Group, Kind: crd.Kind})
	suite := roundtrip.Suite{Kind: kind, CRD: crd, Seed: roundtrip.DefaultSeed, Stored: true, Walks: true, Gained: gained}
	if _, err := suite.Fuzz(t.Context(), 20); err != nil {
		t.Error(err)
	}
}

func TestLawsHoldWithCRDs(t *testing.T) {
	t.Parallel()
	for _, crd := range crds(t) {
		t.Run(crd.Name, func(t *testing.T) {
			t.Parallel()
			fuzz(t, schemas(t, crd.Name, func(text string) string { return text }))
		})
	}
}

// A new field of the CRD in one version, which no Go type has, survives at the others.
func TestFieldsThatGoTypesLackSurvive(t *testing.T) {
	t.Parallel()
	const engine = "              engine:\n                type: string\n"
	for i, version := range []string{"v1alpha1", "v1beta1", "v1"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			crd := schemas(t, "databases.example.com", func(text string) string {
				parts := strings.SplitAfter(text, engine)
				if len(parts) != 4 {
					t.Fatalf("%d versions with an engine", len(parts)-1)
				}
				parts[i] += strings.ReplaceAll(engine, "engine", "owner")
				return strings.Join(parts, "")
			})
			fuzz(t, crd, roundtrip.Gain{Version: version, Path: ".spec.owner"})
		})
	}
}
