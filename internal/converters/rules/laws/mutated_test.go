package laws_test

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/crdconvert/webhookd/internal/converters/rules"
	"github.com/crdconvert/webhookd/internal/converters/rules/check"
	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
	"github.com/crdconvert/webhookd/internal/laws/hold"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
	"github.com/crdconvert/webhookd/test/helpers/exampletest"
)

// mutations is 20 in make laws.
//
//nolint:gochecknoglobals // a flag
var mutations = flag.Int("mutations", 3, "how often each file of rules is changed at random")

// Rules with a mistake that check accepts still lose nothing: what fuzz finds has a name, or is
// none.
func TestLawsOnMutatedRules(t *testing.T) {
	t.Parallel()
	const objects = 30
	root := filepath.Join("..", "..", "..", "..")
	all := findExamples(t)
	for _, folder := range []string{"test/upstream/kinds", "testdata/kinds", "testdata/externalsecret"} {
		all = append(all, conversionsIn(t, filepath.Join(root, filepath.FromSlash(folder)))...)
	}
	var accepted atomic.Int64
	t.Cleanup(func() {
		if is := accepted.Load(); is < int64(len(all)/3) {
			t.Errorf("check accepts %d changed files of rules, of %d files", is, len(all))
		}
	})
	for _, e := range all {
		r := rand.New(rand.NewPCG(*lawsSeed, uint64(len(e.sources[0].Text)))) //nolint:gosec // repeatable
		seen := map[string]bool{string(e.sources[0].Text): true}
		for tries := 0; len(seen) <= *mutations && tries < 50**mutations; tries++ {
			what, text := mutated(t, r, e.sources[0].Text)
			if what == "" || seen[string(text)] {
				continue
			}
			seen[string(text)] = true
			t.Run(fmt.Sprintf("%s %d %s", e.name, len(seen)-1, what), func(t *testing.T) {
				t.Parallel()
				if s := e.accepted(t, text); s != nil {
					accepted.Add(1)
					holdAll(t, *s, objects)
				}
				if t.Failed() {
					t.Logf("rules:\n%s", text)
				}
			})
		}
	}
}

// accepted returns the laws of an example with other rules, or nil if check refuses these.
func (e *example) accepted(t *testing.T, text []byte) *hold.Suite {
	t.Helper()
	changed := *e
	changed.sources = append([]rules.Source{{Name: "rules.yaml", Text: text}}, e.sources[1:]...)
	set, findings := rules.Load(t.Context(), changed.sources, []*crdschema.CRD{e.crd}, rules.Options{Go: exampletest.Functions()})
	if len(findings) > 0 {
		return nil
	}
	if found, _ := check.Check(t.Context(), set.Bound()); slices.ContainsFunc(found, finding.Finding.IsError) {
		return nil
	}
	s := lawsOf(set, e.crd)
	s.Walks, s.Forgeries = true, true
	return &s
}

// mutated changes one rule of a file, and says what it has done.
func mutated(t *testing.T, r *rand.Rand, text []byte) (what string, changed []byte) {
	t.Helper()
	var file map[string]any
	if err := yaml.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	lists := ruleLists(file)
	of := lists[r.IntN(len(lists))]
	list, _ := of.owner[of.name].([]any)
	switch i := r.IntN(len(list)); r.IntN(4) {
	case 0:
		what, of.owner[of.name] = "without a rule", slices.Delete(list, i, i+1)
	case 1:
		what = swapped(r, list)
	case 2:
		what = without(r, list[i], "codec", "template", "values", "toHub", "toSpoke", "whenToHub", "whenToSpoke")
	default:
		what = without(r, list[i], "defaultInHub", "defaultInSpoke", "defaultFrom", "omitEmpty", "unmapped", "drop", "use")
	}
	changed, err := yaml.Marshal(file)
	if err != nil {
		t.Fatal(err)
	}
	return what, changed
}

// A ruleList is a list of rules: of a version or of a rule set.
type ruleList struct {
	owner map[string]any
	name  string
}

func ruleLists(n any) (all []ruleList) {
	switch n := n.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(n)) {
			if list, is := n[name].([]any); is && slices.ContainsFunc(list, isRule) {
				all = append(all, ruleList{n, name})
			} else {
				all = append(all, ruleLists(n[name])...)
			}
		}
	case []any:
		for _, e := range n {
			all = append(all, ruleLists(e)...)
		}
	}
	return all
}

func isRule(n any) bool {
	rule, _ := n.(map[string]any)
	return rule["hub"] != nil || rule["spoke"] != nil
}

// swapped exchanges the places of two rules on one side.
func swapped(r *rand.Rand, list []any) string {
	side := []string{"hub", "spoke"}[r.IntN(2)]
	var with []map[string]any
	for _, rule := range list {
		if rule, is := rule.(map[string]any); is && rule[side] != nil {
			with = append(with, rule)
		}
	}
	if len(with) < 2 {
		return ""
	}
	i, j := r.IntN(len(with)), r.IntN(len(with))
	with[i][side], with[j][side] = with[j][side], with[i][side]
	return "with two places of the " + side + " swapped"
}

// without removes one of the members that a rule has.
func without(r *rand.Rand, rule any, names ...string) string {
	members, _ := rule.(map[string]any)
	names = slices.DeleteFunc(names, func(name string) bool { return members[name] == nil })
	if len(names) == 0 {
		return ""
	}
	name := names[r.IntN(len(names))]
	delete(members, name)
	return "without " + name
}
