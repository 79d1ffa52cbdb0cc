package diagnosis

import (
	"fmt"
	"regexp"

	"github.com/crdconvert/webhookd/internal/converters/rules/binding"
	"github.com/crdconvert/webhookd/internal/converters/rules/check"
	"github.com/crdconvert/webhookd/internal/converters/rules/hints"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/laws/generate"
	"github.com/crdconvert/webhookd/internal/laws/hold"
)

// Rules are what the rules of a kind say about the laws. It is empty for a compiled-in kind. It is
// safe for concurrent use.
type Rules struct {
	// Conversion is the source of the rules, nil for a compiled-in kind.
	Conversion *syntax.Conversion
	// Hints are values worth trying in each version, Drops what the rules drop on purpose, and
	// MayBeAbsent reports what a valid object may lack after a conversion.
	Hints       map[string]generate.Hints
	Drops       []hold.Drop
	MayBeAbsent func(from, to, path string) bool

	directions []check.Direction
}

// Of returns what the rules of a kind say. K is nil for a compiled-in kind.
func Of(k *binding.Kind) *Rules {
	if k == nil {
		return &Rules{}
	}
	return &Rules{
		Conversion: k.Conversion, Hints: hints.Of(k.Conversion), Drops: hints.Drops(k), MayBeAbsent: hints.MayBeAbsent(k),
		directions: check.Explain(k),
	}
}

// Nearest returns what the rules do at a path of an object of a version, or at the nearest path
// above it that they name, on the way to another version or to the hub. It also returns that
// version.
func (c *Rules) Nearest(version, other, path string) (best check.Atom, to string) {
	if c.Conversion == nil || path == "" {
		return best, other
	}
	if version != c.Conversion.Hub {
		other = c.Conversion.Hub
	}
	path = AnyElement(path)
	for _, d := range c.directions {
		if d.From != version || d.To != other {
			continue
		}
		for _, a := range d.Atoms {
			if above(a.Path, path) && (len(a.Path) > len(best.Path) || len(a.Path) == len(best.Path) && best.Rule == "") {
				best = a
			}
		}
	}
	return best, other
}

// describe says what happens to an atom in the conversion to another version, and where the rule
// is.
func (c *Rules) describe(a *check.Atom, from, to string) string {
	switch {
	case a.Path == "":
		return "no rule names the place"
	case a.Rule == "":
		return fmt.Sprintf("no rule, %s %s is %s to %s", from, a.Path, a.Class, to)
	}
	text := fmt.Sprintf("%s, %s %s is %s", a.Rule, from, a.Path, a.Class)
	if a.To != "" {
		text += fmt.Sprintf(" to %s %s", to, a.To)
	}
	if r := c.RuleOf(a, from, to); r != nil {
		return r.Pos.String() + ": " + text
	}
	return text
}

// RuleOf returns the rule of an atom, nil if it has none or several.
func (c *Rules) RuleOf(a *check.Atom, from, to string) *syntax.Rule {
	if c.Conversion == nil {
		return nil
	}
	spoke := from
	if from == c.Conversion.Hub {
		spoke = to
	}
	for _, r := range c.rules(spoke) {
		if r.String() == a.Rule {
			return r
		}
	}
	return nil
}

func (c *Rules) rules(version string) []*syntax.Rule {
	var rules []*syntax.Rule
	if v := c.Conversion.Version(version); v != nil {
		rules = append(rules, v.Rules...)
	}
	for _, set := range c.Conversion.AllSets() {
		rules = append(rules, set.Rules...)
	}
	return rules
}

var index = regexp.MustCompile(`\["(?:[^"\\]|\\.)*"\]|\[\d+\]`)

// AnyElement replaces each index in an object's path by [].
func AnyElement(path string) string {
	return index.ReplaceAllStringFunc(path, func(s string) string {
		if s[1] == '"' {
			return s
		}
		return "[]"
	})
}

// above reports whether a path of rules matches a path of an object, or one above it.
func above(rule, place string) bool {
	r, err := syntax.ParsePath(rule)
	if err != nil {
		return false
	}
	p, err := syntax.ParsePath(place)
	if err != nil || len(r.Segments) > len(p.Segments) {
		return false
	}
	for i, s := range r.Segments {
		at, kind := p.Segments[i], syntax.Elements
		if s.Kind == syntax.Field || binding.IsMap(s) {
			kind = syntax.Field
		}
		if at.Kind != kind || s.Kind == syntax.Field && at.Name != s.Name {
			return false
		}
	}
	return true
}
