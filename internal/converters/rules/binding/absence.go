package binding

import (
	"regexp"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
)

// An Absence says that a place, and all below it, may stay absent although its version requires it.
type Absence struct {
	Side Side
	Path string // from the root of the object, with [] and {} for keyed elements and entries
	Rule *syntax.Rule
}

// Covers reports whether the absence is about a place, given its path from the root of the object.
func (a *Absence) Covers(s Side, text string) bool {
	rest, ok := strings.CutPrefix(withoutKeys(text), a.Path)
	return ok && s == a.Side && (rest == "" || strings.ContainsAny(rest[:1], ".[{"))
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

// absent notes which places of a rule may stay absent.
func (b *binder) absent(r *Binding, p *pending) {
	if p.rule.MayBeAbsent == nil {
		return
	}
	for s, paths := range p.paths {
		for _, path := range paths {
			b.Absences = append(b.Absences, &Absence{
				Side: Side(s), Path: withoutKeys(r.Text(Side(s), path.Segments)), Rule: p.rule,
			})
		}
	}
}

// isSaid reports whether something other than a rule that is only about absence says what becomes
// of its place: another rule, or a counterpart of that path.
func isSaid(r *Binding, p *pending, rules []pending) bool {
	s := OfSpoke
	if len(p.paths[OfSpoke]) == 0 {
		s = OfHub
	}
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
