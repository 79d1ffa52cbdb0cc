package suggest_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/internal/converters/rules"
	"github.com/crdconvert/webhookd/internal/converters/rules/binding"
	"github.com/crdconvert/webhookd/internal/converters/rules/check"
	"github.com/crdconvert/webhookd/internal/converters/rules/suggest"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// With -folders, the rules of each folder of a folder are compared as well.
//
//nolint:gochecknoglobals // a flag
var folders = flag.String("folders", "", "where other folders with crd.yaml and rules.yaml are looked for")

// A score counts rules. Found and all are those of a file that need neither CEL nor values. Right
// and wrong are those of suggest.
type score struct{ all, found, foundSure, right, wrong, rightSure, wrongSure int }

func (s *score) add(t score) {
	s.all, s.found, s.foundSure = s.all+t.all, s.found+t.found, s.foundSure+t.foundSure
	s.right, s.wrong = s.right+t.right, s.wrong+t.wrong
	s.rightSure, s.wrongSure = s.rightSure+t.rightSure, s.wrongSure+t.wrongSure
}

func (s score) String() string {
	return fmt.Sprintf("%3d of %3d found (%3d by sure rules), guesses: %3d right, %2d wrong; sure: %3d right, %2d wrong",
		s.found, s.all, s.foundSure, s.right, s.wrong, s.rightSure, s.wrongSure)
}

// A floor has percentages: how many rules must be found, and how many guesses and sure guesses may
// be wrong.
type floor struct{ found, wrong, wrongSure int }

// Suggest finds the rules that people wrote. Raise the floors when it gets better.
func TestSuggestionsAreAsPeopleWroteThem(t *testing.T) {
	t.Parallel()
	for pattern, limit := range map[string]floor{
		"../../../../testdata/kinds/*":      {found: 84, wrong: 6, wrongSure: 3},
		"../../../../examples/*":            {found: 76, wrong: 4, wrongSure: 0},
		"../../../../test/upstream/kinds/*": {found: 75, wrong: 9, wrongSure: 0},
	} {
		var s score
		for _, file := range glob(t, pattern+"/rules.yaml") {
			s.add(compare(t, filepath.Dir(file)))
		}
		t.Log(pattern, s)
		if s.found*100 < limit.found*s.all || s.wrong*100 > limit.wrong*(s.wrong+s.right) ||
			s.wrongSure*100 > limit.wrongSure*(s.wrongSure+s.rightSure) {
			t.Errorf("%s: %s, want percentages %+v", pattern, s, limit)
		}
	}
	if *folders != "" {
		var sum score
		for _, file := range glob(t, filepath.Join(*folders, "*", "rules.yaml")) {
			sum.add(compare(t, filepath.Dir(file)))
		}
		t.Log(sum)
	}
}

// compare compares suggest's rules for the CRD of a folder with the rules there.
func compare(t *testing.T, folder string) score {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, "rules.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var s score
	for _, crd := range crdsOf(t, filepath.Join(folder, "crd.yaml")) {
		want := kindOf(t, text, crd, sharedBy(t, folder)...)
		if want == nil || want.Hub == nil {
			continue
		}
		suggested, err := suggest.Conversion(t.Context(), crd, want.Hub.Name)
		if err != nil {
			t.Fatal(err)
		}
		sure := kindOf(t, suggested, crd)
		all := kindOf(t, uncommented(suggested), crd)
		for i, of := range mapped(want) {
			wanted, got, certain := of, mapped(all)[i], mapped(sure)[i]
			if wanted.version != got.version || got.version != certain.version {
				continue
			}
			s.count(t, folder, wanted, got, certain)
		}
	}
	t.Logf("%-40s %s", filepath.Base(folder), s)
	return s
}

// uncommented returns a suggestion with all guesses as rules.
func uncommented(text []byte) []byte { return withRules(text, " Perhaps") }

// kept returns a suggestion with rules that keep what is open.
func kept(text []byte) []byte { return withRules(text, " Open") }

// withRules removes the # of the rules below some comments.
func withRules(text []byte, comment string) []byte {
	lines, below := strings.Split(string(text), "\n"), false
	for i, line := range lines {
		rest, commented := strings.CutPrefix(line, "    #")
		switch isRule := strings.HasPrefix(rest, "- ") || strings.HasPrefix(rest, "  - "); {
		case strings.HasPrefix(rest, "   "):
		case commented && !isRule:
			below = strings.HasPrefix(rest, comment)
		case commented && below:
			lines[i] = "    " + rest
		}
	}
	return []byte(strings.Join(lines, "\n"))
}

func (s *score) count(t *testing.T, folder string, want, got, sure *mapping) {
	t.Helper()
	for _, r := range want.order {
		if !simple(r) || !want.moves(r) {
			continue
		}
		s.all++
		found := want.each(r, got.agrees)
		switch {
		case want.each(r, sure.agrees):
			s.foundSure++
		case !found && *folders != "":
			t.Logf("%s %s: missed %s", filepath.Base(folder), want.version, written(r))
		}
		if found {
			s.found++
		}
	}
	for _, r := range got.order {
		if r.Spoke == nil || r.Hub == nil || r.Use != nil {
			continue // it keeps further elements of a list, or its rules are counted themselves
		}
		isSure := slices.ContainsFunc(sure.order, func(o *syntax.Rule) bool { return written(o) == written(r) })
		isRight := func(leaf string, to target) bool {
			at := want.leaves[leaf]
			return want.agrees(leaf, to) || (!isSure || r.Template != nil) && at.rule != nil && !simple(at.rule) && strings.Contains(at.to+",", to.to+",")
		}
		right := got.each(r, isRight)
		if got.each(r, func(string, target) bool { return false }) { // its values do not fit
			from, to := r.Spoke.Paths[0].Path.String(), r.Hub.Paths[0].Path.String()
			right = isRight(withoutKeys(from), target{to: withoutKeys(to)})
		}
		switch {
		case right:
			s.right++
		default:
			s.wrong++
		}
		switch {
		case isSure && right:
			s.rightSure++
		case isSure:
			s.wrongSure++
		}
		if !right && *folders != "" {
			t.Logf("%s %s: wrong, sure %t: %s", filepath.Base(folder), want.version, isSure, written(r))
		}
	}
}

// A mapping says what rules make of each leaf of a version.
type mapping struct {
	version string
	leaves  map[string]target
	order   []*syntax.Rule
}

type target struct {
	to   string
	how  string // the codec, and values
	rule *syntax.Rule
}

func (m *mapping) agrees(leaf string, to target) bool {
	at := m.leaves[leaf]
	return at.to == to.to && at.how == to.how && (at.rule == nil || simple(at.rule) || at.rule.Values != nil)
}

// each reports whether a condition holds for every leaf of a rule.
func (m *mapping) each(r *syntax.Rule, holds func(leaf string, to target) bool) bool {
	for leaf, to := range m.leaves {
		if to.rule == r && !holds(leaf, to) {
			return false
		}
	}
	return true
}

// moves reports whether a rule does something that a copy does not.
func (m *mapping) moves(r *syntax.Rule) bool {
	return !m.each(r, func(leaf string, to target) bool { return to.to == leaf && to.how == "" })
}

// mapped returns the mapping of each version.
func mapped(k *binding.Kind) []*mapping {
	var all []*mapping
	for i, d := range check.Explain(k) {
		if i%2 == 1 {
			continue // from the hub
		}
		m := &mapping{version: d.From, leaves: map[string]target{}}
		byName := map[string]*syntax.Rule{}
		for _, r := range k.Conversion.Version(d.From).Rules {
			byName[r.String()] = r
			m.order = append(m.order, r)
		}
		for _, set := range k.Conversion.AllSets() {
			for _, r := range set.Rules {
				byName[r.String()] = r
				m.order = append(m.order, r)
			}
		}
		for _, a := range d.Atoms {
			if a.Kind != check.Value || a.Class != check.Mapped && a.Class != check.Copied {
				continue
			}
			first, _, _ := strings.Cut(a.Rule, ",")
			r := byName[first]
			to := whereTo(d.Atoms, a)
			if a.To == "" {
				to = movedWith(k, d.From, a.Path)
			}
			m.leaves[withoutKeys(a.Path)] = target{withoutKeys(to), howOf(r), r}
		}
		all = append(all, m)
	}
	return all
}

// whereTo returns where an atom goes. Explain says of all atoms of a value where the value goes.
func whereTo(all []check.Atom, a check.Atom) string {
	if a.To == "" {
		return a.Path
	}
	root := a.Path
	for _, b := range all {
		below, ok := strings.CutPrefix(a.Path, b.Path)
		if ok && len(b.Path) < len(root) && b.To == a.To && b.Rule == a.Rule && strings.IndexAny(below, ".[{") == 0 {
			root = b.Path
		}
	}
	return a.To + a.Path[len(root):]
}

// movedWith returns where a copied atom goes: along with the place that a rule set is applied to.
func movedWith(k *binding.Kind, version, path string) string {
	s := k.Spokes[slices.IndexFunc(k.Spokes, func(s *binding.Spoke) bool { return s.Names[binding.OfSpoke] == version })]
	best, to := "", ""
	for _, b := range s.Bindings {
		from := b.Prefix[binding.OfSpoke]
		if strings.HasPrefix(path, from) && len(from) >= len(best) && (len(path) == len(from) || strings.IndexAny(path[len(from):], ".[{") == 0) {
			best, to = from, b.Prefix[binding.OfHub]
		}
	}
	return to + path[len(best):]
}

var keys = regexp.MustCompile(`\[[a-z]\w*\]|\{\w+\}`)

// withoutKeys returns a path without the names of keys: all elements are alike.
func withoutKeys(path string) string {
	return keys.ReplaceAllStringFunc(path, func(key string) string { return key[:1] + key[len(key)-1:] })
}

func howOf(r *syntax.Rule) string {
	if r == nil {
		return ""
	}
	how := ""
	if r.Codec != nil {
		how = r.Codec.Value
	}
	if r.Template != nil {
		how += " template"
	}
	for _, v := range r.Values {
		how += fmt.Sprintf(" %s:%s", v.From.JSON, v.To.JSON)
	}
	return how
}

// simple reports whether a rule needs neither CEL nor values.
func simple(r *syntax.Rule) bool {
	return r.Spoke != nil && r.Hub != nil && r.Values == nil && r.HubValues == nil && r.ToHub == nil && r.ToSpoke == nil &&
		r.WhenToHub == nil && r.WhenToSpoke == nil && r.Go == nil
}

func written(r *syntax.Rule) string {
	text := ""
	for _, p := range []*syntax.Place{r.Spoke, r.Hub} {
		if p == nil {
			continue
		}
		for _, path := range p.Paths {
			text += " " + path.Path.String()
		}
		text += " |"
	}
	return text + howOf(r)
}

// sharedBy returns the rule sets next to a folder, which its rules may use.
func sharedBy(t *testing.T, folder string) []rules.Source {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(filepath.Dir(folder), "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	shared := make([]rules.Source, 0, len(files))
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		shared = append(shared, rules.Source{Name: file, Text: text})
	}
	return shared
}

func kindOf(t *testing.T, text []byte, crd *crdschema.CRD, shared ...rules.Source) *binding.Kind {
	t.Helper()
	sources := append([]rules.Source{{Name: "rules.yaml", Text: text}}, shared...)
	set, _ := rules.Load(t.Context(), sources, []*crdschema.CRD{crd}, rules.Options{})
	return set.Bound().Kind(crd.Name)
}
