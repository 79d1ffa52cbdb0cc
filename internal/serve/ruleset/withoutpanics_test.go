package ruleset

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crdconvert/webhookd/internal/serve/panics"
	"github.com/crdconvert/webhookd/test/helpers/rulesettest"
)

// A replica starts with a file that makes a parser panic: it serves the kinds of the other files.
func TestAPanicAtTheStartLeavesOutOneFile(t *testing.T) {
	t.Parallel()
	kinds := []string{"Anchor", "Bracket", "Cog", "Dowel", "Eyelet"}
	for _, tt := range []struct {
		name         string
		rules, crds  []string // files that make it panic
		served       []string
		wantFindings []string
	}{
		{"a file of rules", []string{"Cog"}, nil, []string{"Anchor", "Bracket", "Dowel", "Eyelet"}, []string{"Cog.yaml: panic, the log has the stack: string"}},
		{"two files of rules", []string{"Anchor", "Bracket"}, nil, []string{"Cog", "Dowel", "Eyelet"}, []string{
			"Anchor.yaml: panic, the log has the stack: string", "Bracket.yaml: panic, the log has the stack: string",
		}},
		{"a CRD", nil, []string{"Eyelet"}, []string{"Anchor", "Bracket", "Cog", "Dowel"}, []string{
			"Eyelet.yaml: panic, the log has the stack: string", "Eyelet.yaml:3:18: there is no CRD eyelets.example.com",
		}},
		{"all", kinds, nil, nil, []string{
			"Anchor.yaml: panic, the log has the stack: string", "Bracket.yaml: panic, the log has the stack: string",
			"Cog.yaml: panic, the log has the stack: string", "Dowel.yaml: panic, the log has the stack: string",
			"Eyelet.yaml: panic, the log has the stack: string",
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			rules, crds := make([]File, 0, len(kinds)), make([]File, 0, len(kinds))
			for _, kind := range kinds {
				rules = append(rules, File{Name: kind + ".yaml", Text: []byte(rulesettest.Conversion(kind, "width")), InFolder: true})
				crds = append(crds, File{Name: kind + ".yaml", Text: []byte(rulesettest.CRD(kind)), InFolder: true})
			}
			panicking := func(files []File, over []string) {
				for _, f := range files {
					for _, kind := range over {
						if strings.HasPrefix(f.Name, kind) {
							panic("with a value")
						}
					}
				}
			}
			set, err := WithoutPanics(func(ctx context.Context, rules, crds []File) (Set, error) {
				panicking(rules, tt.rules)
				panicking(crds, tt.crds)
				return exampleKinds().Load(ctx, rules, crds)
			})(t.Context(), rules, crds)
			if err != nil {
				t.Fatal(err)
			}
			var served []string
			for _, kind := range set.Kinds {
				served = append(served, kind.Kind)
			}
			var findings []string
			for _, f := range set.Findings {
				findings = append(findings, f.String())
			}
			if diff := cmp.Diff(tt.served, served); diff != "" {
				t.Errorf("served: %s", diff)
			}
			if diff := cmp.Diff(tt.wantFindings, findings); diff != "" {
				t.Errorf("findings: %s", diff)
			}
			if set.Broken < len(tt.rules)+len(tt.crds) || !errors.As(set.Panicked, new(*panics.Error)) {
				t.Errorf("%d broken, a panic of %v", set.Broken, set.Panicked)
			}
		})
	}
}
