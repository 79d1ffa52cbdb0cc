package conversion_test

import (
	"iter"
	"slices"
	"testing"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/roundtrip"
)

// holdLaws holds a kind to all laws on samples, without a CRD, so numbers keep their spelling.
func holdLaws(t *testing.T, kind converters.Kind, samples ...[]byte) {
	t.Helper()
	suite := roundtrip.Suite{Kind: &kind, Seed: roundtrip.DefaultSeed}
	for _, objects := range []iter.Seq[[]byte]{
		slices.Values(samples), roundtrip.Fragments(samples...), roundtrip.Variants(suite.Seed, 250, samples...),
	} {
		if err := suite.Check(t.Context(), objects); err != nil {
			t.Error(err)
		}
	}
}

func TestHubSpokeLaws(t *testing.T) {
	t.Parallel()
	holdLaws(t, typedKind(toHub),
		[]byte(`{"apiVersion":"g/v1","kind":"K","metadata":{"name":"a"},"spec":{"name":"n","pause":true,"weight":1.10,`+
			`"items":[{"name":"a","size":1},{"name":"b"}],"box":{"width":1},"old":"x","oldPtr":true,`+
			`"oldList":[{"name":"c","size":7}],"oldBox":{"width":2},"ratio":0.5,"dropped":"d"}}`),
		[]byte(`{"apiVersion":"g/v2","kind":"K","metadata":{"name":"a","labels":{"b":"c"}},"spec":{"name":"n","pause":true,"weight":1.10,`+
			`"items":[{"name":"a","size":1},{"name":"b"}],"box":{"width":1},"new":"x","newPtr":true,`+
			`"newList":[{"name":"c","size":7}],"newBox":{"width":2},"share":0.5,"hubOnly":"h"}}`),
	)
}
