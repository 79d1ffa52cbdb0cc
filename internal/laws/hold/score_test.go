package hold_test

import (
	"testing"

	"github.com/crdconvert/webhookd/internal/laws/hold"
)

// A fragment may come back with what the API server fills in, and with nothing else.
func TestFragmentsMayGetDefaults(t *testing.T) {
	t.Parallel()
	crd := twoVersions(t, "type: {type: string, default: Git}, o: {type: object, properties: {type: {type: string, default: Git}}}, note: {type: string}", "note: {type: string}")
	for name, test := range map[string]struct {
		computed any // in v1
		in, path string
	}{
		"the default":                              {computed: "Git", in: "type"},
		"another value":                            {computed: "Other", in: "type", path: ".spec.type"},
		"the default, with the object around it":   {computed: map[string]any{"type": "Git"}, in: "o", path: ".spec.o"},
		"what the schema has no default for":       {computed: "", in: "note", path: ".spec.note"},
		"a default of another place is no default": {computed: "Git", in: "note", path: ".spec.note"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			scorer, err := hold.Suite{Seed: 1, CRD: crd, Kind: pair(func(spec, _ map[string]any, from string) (to, _ map[string]any, err error) {
				if _, found := spec[test.in]; !found && from == "v2" {
					spec[test.in] = test.computed
				} else if from == "v1" && test.in != "note" {
					delete(spec, test.in)
				}
				return spec, nil, nil
			})}.Prepare()
			if err != nil {
				t.Fatal(err)
			}
			score, err := scorer.Score(t.Context(), hold.Total, 60)
			if err != nil || score.Objects == 0 {
				t.Fatal(score, err)
			}
			path := ""
			if score.First != nil {
				path = score.First.Path
			}
			if path != test.path {
				t.Errorf("%q is reported, want %q", path, test.path)
			}
		})
	}
}
