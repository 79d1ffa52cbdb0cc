package binding

import (
	"regexp"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
)

// A Subtree is a place with all that is below it, of which a rule says that it may stay absent, or
// what happens to unmapped fields.
type Subtree struct {
	Side Side
	Path string // from the root of the object, with [] and {} for keyed elements and entries
	Rule *syntax.Rule
}

// Has reports whether a place is in the subtree, given its path from the root of the object.
func (t *Subtree) Has(s Side, text string) bool {
	return s == t.Side && syntax.Within(withoutKeys(text), t.Path)
}

// UnmappedAt returns what happens to an unmapped place, given its path: what the rule of the
// smallest subtree says that has it, or else what the version says.
func (s *Spoke) UnmappedAt(side Side, text string) syntax.Unmapped {
	said, longest := s.Version.Unmapped, -1
	for _, t := range s.Unmapped {
		if t.Has(side, text) && len(t.Path) > longest {
			said, longest = t.Rule.Unmapped, len(t.Path)
		}
	}
	return said
}

// withoutKeys replaces [name] by [] and {name} by {}: with or without rules by key, they are the
// same elements.
func withoutKeys(text string) string {
	if !strings.ContainsAny(text, "[{") {
		return text
	}
	keyed := regexp.MustCompile(`\[[A-Za-z_$][A-Za-z0-9_$-]*\]|\{[A-Za-z_$][A-Za-z0-9_$-]*\}`)
	return keyed.ReplaceAllStringFunc(text, func(s string) string { return s[:1] + s[len(s)-1:] })
}

// subtrees notes what a rule says of everything below its places.
func (b *binder) subtrees(r *Binding, p *pending) {
	if p.rule.MayBeAbsent == nil && p.rule.Unmapped == "" {
		return
	}
	for s, paths := range p.paths {
		for _, path := range paths {
			t := &Subtree{Side: Side(s), Path: withoutKeys(r.Text(Side(s), path.Segments)), Rule: p.rule}
			if p.rule.MayBeAbsent != nil {
				b.Absences = append(b.Absences, t)
			}
			if p.rule.Unmapped != "" {
				b.Unmapped = append(b.Unmapped, t)
			}
		}
	}
}

// isSaid reports whether something other than a rule that is only about absence says what becomes
// of its place: another rule, or a counterpart of that path.
func isSaid(r *Binding, p *pending, rules []pending) bool {
	s := p.side()
	path := p.paths[s][0].Segments
	if r.Base[s.Other()].Walk(path).Known {
		return true
	}
	for i := range rules {
		if rules[i].rule.OnlyMayBeAbsent() {
			continue
		}
		for _, other := range rules[i].paths[s] {
			n := min(len(other.Segments), len(path))
			if Same(other.Segments[:n], path[:n]) {
				return true
			}
		}
	}
	return false
}
