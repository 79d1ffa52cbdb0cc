package rules_test

import (
	"testing"

	"github.com/crdconvert/webhookd/internal/crdschema"
	"github.com/crdconvert/webhookd/internal/roundtrip"
)

// Random objects of both schemas are held to all laws.
func TestLawsOnRandomObjects(t *testing.T) {
	t.Parallel()
	count := uint64(400)
	for _, test := range allCases() {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			kind := test.pair.kind(t)
			crds, err := crdschema.Parse("crd.yaml", test.pair.crd(t))
			if err != nil {
				t.Fatal(err)
			}
			for _, stored := range []bool{false, true} {
				suite := roundtrip.Suite{Kind: kind, Seed: 2, Edits: 2, CRD: crds[0], Drops: test.drops, Stored: stored}
				if _, err := suite.Fuzz(t.Context(), count); err != nil {
					t.Errorf("stored %t: %v", stored, err)
				}
			}
		})
	}
}
