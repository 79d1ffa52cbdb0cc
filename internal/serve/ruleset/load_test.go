package ruleset

import (
	"testing"

	"github.com/crdconvert/webhookd/test/helpers/rulesettest"
)

// A CRD in a folder that no rules are for is not read, so it may be wrong. It is read if it was
// named, or if rules lack their CRD: perhaps it is that.
func TestOnlyTheCRDsThatAreMeantAreRead(t *testing.T) {
	t.Parallel()
	rules := []File{{Name: "rules.yaml", Text: []byte(rulesettest.Conversion("Apple", "width"))}}
	crd := File{Name: "crds/apple.yaml", Text: []byte(rulesettest.CRD("Apple")), InFolder: true}
	broken := File{Name: "crds/pear.yaml", Text: []byte("a: [")}
	other := broken
	other.InFolder = true
	for _, test := range []struct {
		name  string
		files []File
		want  int // findings
	}{
		{"in a folder", []File{other, crd}, 0},
		{"named", []File{broken, crd}, 1},
		{"perhaps the one that is missing", []File{other}, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			set, err := Compiled{}.Load(t.Context(), rules, test.files)
			if err != nil || len(set.Findings) != test.want {
				t.Errorf("%v, %v, want %d findings", err, set.Findings, test.want)
			}
		})
	}
}
