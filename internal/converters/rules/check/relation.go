package check

import (
	"slices"

	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/converters/rules/transform"
)

// A relation is how a place of the version and one of the hub relate: the objects as a whole, an element of a list and its
// counterpart, or the places of a rule set. What its rules name is relative to its base.
type relation struct {
	base   [2]spot
	prefix [2]string // the paths of the bases, for messages
	ties   []*tie
	groups []*group
	keys   [2]string // the field of an element that its key is, where the other side has the key of a map for it
	keyBy  *syntax.Rule
	picked [2]string // the field by which the base was picked out of a list
	items  []item    // while it is made
	told   bool      // the rule that applies a rule set here tells what becomes of the base
}

// A tie is a rule that goes through no elements (any more).
type tie struct {
	rule     *syntax.Rule
	how      how
	ends     [2][]end
	t        transform.Transform // of those that convert and compute
	below    *relation           // of `use`
	doubtful bool                // something is wrong with it, which another finding says
}

// how says what a rule does with its places.
type how int

const (
	pairs    how = iota // hands the value on
	converts            // computes one side from the other
	uses                // hands on what is below to a rule set
	keeps               // one-sided: in the annotation
	computes            // one-sided: from the object
	drops               // one-sided: lost on purpose
)

// An end is a place of a rule.
type end struct {
	path []syntax.Segment // relative to the relation
	spot spot
	name *syntax.NamedPath
}

// A group are the rules that go through the elements of the same two lists or maps.
type group struct {
	rule *syntax.Rule // the first one
	path [2][]syntax.Segment
	by   [2]syntax.Segment
	has  [2]bool // false: there is no list on that side
	rel  *relation
}

// guarded reports whether the rule writes its place on a side only under a condition.
func (t *tie) guarded(s side) bool {
	if s == ofHub {
		return t.rule.When != nil
	}
	return t.rule.WhenHub != nil
}

// writes reports whether the rule gives its place on a side a value from what the other version says.
func (t *tie) writes(s side) bool {
	switch t.how {
	case pairs, converts, uses:
		return true
	case computes:
		return len(t.ends[s]) > 0
	case keeps, drops:
	}
	return false
}

// defaultOf returns what the rule gives its i-th place on a side where the other side gives nothing.
func (t *tie) defaultOf(s side, i int) *syntax.Literal {
	literal := t.rule.Default
	if s == ofHub {
		literal = t.rule.HubDefault
	}
	if name := t.ends[s][i].name; name != nil && name.Name != "" {
		return literal.Member(name.Name)
	}
	return literal
}

func same(a, b []syntax.Segment) bool { return slices.EqualFunc(a, b, syntax.Segment.Equal) }

// within reports whether a place is below another one.
func within(path, above []syntax.Segment) bool {
	return len(path) > len(above) && same(path[:len(above)], above)
}

// tiesAt returns the rules of a place itself.
func (r *relation) tiesAt(s side, path []syntax.Segment) []*tie {
	var found []*tie
	for _, t := range r.ties {
		if slices.ContainsFunc(t.ends[s], func(e end) bool { return same(e.path, path) }) {
			found = append(found, t)
		}
	}
	return found
}

// groupAt returns the rules that go through the elements of a place.
func (r *relation) groupAt(s side, path []syntax.Segment) *group {
	for _, g := range r.groups {
		if g.has[s] && same(g.path[s], path) {
			return g
		}
	}
	return nil
}

// owner returns a rule that a place belongs to, so that nothing is copied to or from it.
func (r *relation) owner(s side, path []syntax.Segment) *syntax.Rule {
	if ties := r.tiesAt(s, path); len(ties) > 0 {
		return ties[0].rule
	}
	if g := r.groupAt(s, path); g != nil {
		return g.rule
	}
	if len(path) == 1 && path[0].Kind == syntax.Field && path[0].Name == r.keys[s] {
		return r.keyBy
	}
	return nil
}

// next returns the segments with which paths of rules go on below a place.
func (r *relation) next(s side, path []syntax.Segment) []syntax.Segment {
	var found []syntax.Segment
	add := func(p []syntax.Segment) {
		if within(p, path) && !slices.ContainsFunc(found, p[len(path)].Equal) {
			found = append(found, p[len(path)])
		}
	}
	for _, t := range r.ties {
		for _, e := range t.ends[s] {
			add(e.path)
		}
	}
	for _, g := range r.groups {
		if g.has[s] {
			add(g.path[s])
		}
	}
	return found
}

// text writes a place with the path of the relation's base.
func (r *relation) text(s side, path []syntax.Segment) string {
	if text := r.prefix[s] + (syntax.Path{Segments: path}).String(); text != "" {
		return text
	}
	return "."
}

// implicit returns the relation of elements that are copied one by one.
func (r *relation) implicit(src side, by syntax.Segment, from, to []syntax.Segment, spots [2]spot) *relation {
	rel := &relation{}
	rel.base[src], rel.base[src.other()] = spots[0].step(by), spots[1].step(by)
	rel.prefix[src] = r.text(src, append(slices.Clone(from), by))
	rel.prefix[src.other()] = r.text(src.other(), append(slices.Clone(to), by))
	return rel
}

// pickKey reports whether a path ends at the field by which its element was picked: its value is in the path.
func (r *relation) pickKey(s side, path []syntax.Segment) bool {
	switch n := len(path); n {
	case 0:
		return false
	case 1:
		return r.picked[s] != "" && path[0].Name == r.picked[s]
	default:
		return path[n-2].Kind == syntax.Pick && path[n-1].Name == path[n-2].Name
	}
}
