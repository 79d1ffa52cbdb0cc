package cli

import (
	"fmt"
	"regexp"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crdconvert/webhookd/internal/converters/rules/check"
	"github.com/crdconvert/webhookd/internal/converters/rules/hints"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/roundtrip"
	"github.com/crdconvert/webhookd/internal/ruleset"
)

// A cause is what the rules of a kind say about it: values worth trying, what they drop on purpose,
// what may be absent, and which rule affects a path. It is empty for a compiled-in kind.
type cause struct {
	conversion  *syntax.Conversion
	directions  []check.Direction
	hints       map[string]roundtrip.Hints
	drops       []roundtrip.Drop
	mayBeAbsent func(from, to, path string) bool
}

func findCause(set *ruleset.Set, gk schema.GroupKind) *cause {
	k := set.BoundKind(gk)
	if k == nil {
		return &cause{}
	}
	return &cause{k.Conversion, check.Explain(k), hints.Of(k.Conversion), hints.Drops(k), hints.MayBeAbsent(k)}
}

// nearest returns what the rules do at a path of an object of a version, or at the nearest path
// above it that they name, on the way to another version or to the hub. It also returns that
// version.
func (c *cause) nearest(version, other, path string) (best check.Atom, to string) {
	if c.conversion == nil || path == "" {
		return best, other
	}
	if version != c.conversion.Hub {
		other = c.conversion.Hub
	}
	path = anyElement(path)
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
func (c *cause) describe(a *check.Atom, from, to string) string {
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
	if r := c.ruleOf(a, from, to); r != nil {
		return r.Pos.String() + ": " + text
	}
	return text
}

// ruleOf returns the rule of an atom, nil if it has none or several.
func (c *cause) ruleOf(a *check.Atom, from, to string) *syntax.Rule {
	if c.conversion == nil {
		return nil
	}
	spoke := from
	if from == c.conversion.Hub {
		spoke = to
	}
	for _, r := range c.rules(spoke) {
		if r.String() == a.Rule {
			return r
		}
	}
	return nil
}

func (c *cause) rules(version string) []*syntax.Rule {
	var rules []*syntax.Rule
	if v := c.conversion.Version(version); v != nil {
		rules = append(rules, v.Rules...)
	}
	for _, set := range c.conversion.AllSets() {
		rules = append(rules, set.Rules...)
	}
	return rules
}

// anyElement replaces each index in an object's path by [].
func anyElement(path string) string {
	return regexp.MustCompile(`\["(?:[^"\\]|\\.)*"\]|\[\d+\]`).ReplaceAllStringFunc(path, func(s string) string {
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
		at := p.Segments[i]
		switch s.Kind {
		case syntax.Field:
			if at.Kind != syntax.Field || at.Name != s.Name {
				return false
			}
		case syntax.Values, syntax.KeyedValues:
			if at.Kind != syntax.Field {
				return false
			}
		case syntax.Elements, syntax.KeyedElements, syntax.Pick, syntax.First:
			if at.Kind != syntax.Elements {
				return false
			}
		}
	}
	return true
}
