//go:build !race

// This converts for long on one goroutine, where there is nothing for the race detector.

package conversion_test

import (
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/conversion"
	"github.com/crdconvert/webhookd/examples/crds"
	"github.com/crdconvert/webhookd/examples/custom-server/database"
	"github.com/crdconvert/webhookd/internal/laws/hold"
	"github.com/crdconvert/webhookd/internal/schema/apiserver"
)

// Law L12: a new field of the API server's CRD in one version, which the CRD here lacks and no Go
// type has, survives at the others.
func TestFieldsThatTheCRDLacksSurvive(t *testing.T) {
	t.Parallel()
	kind := conversion.Internal(conversion.Must(database.Kind(crds.Databases)))
	const engine = "              engine:\n                type: string\n"
	for i, version := range []string{"v1alpha1", "v1beta1", "v1"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			parts := strings.SplitAfter(string(crds.Databases), engine)
			if len(parts) != 4 {
				t.Fatalf("%d versions with an engine", len(parts)-1)
			}
			parts[i] += strings.ReplaceAll(engine, "engine", "owner")
			newer, err := apiserver.Parse("crd", []byte(strings.Join(parts, "")))
			if err != nil {
				t.Fatal(err)
			}
			suite := hold.Suite{
				Kind: &kind, CRD: newer[0], Seed: hold.DefaultSeed, Stored: true, Walks: true,
				NewFields: []hold.NewField{{Version: version, Path: ".spec.owner"}},
			}
			if _, err := suite.Fuzz(t.Context(), 20); err != nil {
				t.Error(err)
			}
		})
	}
}
