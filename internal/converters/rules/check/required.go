package check

import (
	"fmt"
	"slices"

	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/crdschema"
)

// A requirer looks at what the target requires wherever a conversion writes an object, and says where the source may not
// give it.
type requirer struct {
	dst      side
	names    [2]string
	version  *syntax.Version
	report   func(finding.Finding)
	mismatch map[string]bool // places of the source that a finding is about
	visited  map[*relation]bool
}

// A need is an object of the target that is there under some condition.
type need struct {
	rel     *relation
	path    []syntax.Segment
	dst     spot
	srcPath []syntax.Segment
	src     spot     // unknown: no place of the source is copied to the object
	given   []string // the optional places of the source that are there then
	ground  []string // those of them that are there where the nearest object is that is copied
	trigger *tie     // the rule that made the object
	beside  bool     // which it did as the source has none, though it could
}

// relation looks at the places of a relation.
func (q *requirer) relation(r *relation) {
	if q.visited[r] {
		return
	}
	q.visited[r] = true
	n := need{rel: r, dst: r.base[q.dst], src: r.base[q.dst.other()]}
	if r.owner(q.dst, nil) != nil || r.owner(q.dst.other(), nil) != nil {
		n.src = spot{}
	}
	for _, t := range r.tiesAt(q.dst, nil) {
		if t.how == pairs && !t.doubtful {
			n.src, n.srcPath = t.ends[q.dst.other()][0].spot, t.ends[q.dst.other()][0].path
			n.given = r.optional(q.dst.other(), n.srcPath, nil)
			n.ground = n.given
		}
	}
	q.object(n)
}

// optional returns the places on the way to another one that may not be there, added to those that are known to be.
func (r *relation) optional(s side, path []syntax.Segment, more []string) []string {
	all := slices.Clone(more)
	at := r.base[s]
	for i, by := range path {
		if !at.surely(by) {
			all = append(all, (syntax.Path{Segments: path[:i+1]}).String())
		}
		at = at.step(by)
	}
	return all
}

// certain reports whether a place of the source is there wherever the object is.
func (n need) certain(s side, path []syntax.Segment) bool {
	for _, place := range n.rel.optional(s, path, nil) {
		if !slices.Contains(n.given, place) {
			return false
		}
	}
	return true
}

// object looks at the members of an object, or the elements of a list.
func (q *requirer) object(n need) {
	root := len(n.path) == 0 && n.rel.prefix[q.dst] == "" && n.dst.node.Property("metadata") != nil
	for _, name := range n.dst.node.Properties() {
		if root && (name == "apiVersion" || name == "kind" || name == "metadata") {
			continue
		}
		by := syntax.Segment{Kind: syntax.Field, Name: name}
		_, added := n.dst.node.Property(name).Default()
		q.member(n, by, n.dst.node.IsRequired(name) && !added)
	}
	q.picked(n)
	if g := n.rel.groupAt(q.dst, n.path); g != nil {
		if len(n.path) == 0 && g.has[q.dst.other()] { // a list in a list
			q.relation(g.rel)
		}
		return
	}
	if !n.src.known {
		return
	}
	switch {
	case n.dst.node.Kind() == crdschema.Array && n.src.arrayish():
		q.elements(n, syntax.Segment{Kind: syntax.Elements})
	case n.dst.node.Kind() == crdschema.Map && n.src.objectish():
		q.elements(n, syntax.Segment{Kind: syntax.Values})
	}
}

// picked looks at the elements of a list, and the entries of a map, that rules name.
func (q *requirer) picked(n need) {
	for _, by := range n.rel.next(q.dst, n.path) {
		if by.Kind == syntax.Pick || by.Kind == syntax.First || by.Kind == syntax.Field && n.dst.node.Kind() == crdschema.Map {
			q.member(n, by, false)
		}
	}
}

func (q *requirer) elements(n need, by syntax.Segment) {
	q.relation(n.rel.implicit(q.dst, by, n.path, n.srcPath, [2]spot{n.dst, n.src}))
}

// member looks at a member: whether it is there if it has to be, and what is in it.
func (q *requirer) member(n need, by syntax.Segment, required bool) {
	m := n
	m.path, m.dst = append(slices.Clone(n.path), by), n.dst.step(by)
	m.srcPath, m.src = append(slices.Clone(n.srcPath), by), n.src.step(by)
	src := q.dst.other()
	if n.src.known && n.rel.owner(src, m.srcPath) != nil {
		m.src = spot{}
	}
	ties, g := m.rel.tiesAt(q.dst, m.path), m.rel.groupAt(q.dst, m.path)
	if q.given(m, by) {
		return
	}
	if required {
		q.required(m, ties, g)
	}
	switch {
	case g != nil:
		if g.has[q.dst.other()] { // else all its elements are ones that were kept, as they were
			q.relation(g.rel)
		}
		m.src = spot{}
		q.picked(m)
	case len(ties) > 0:
		q.below(m, ties)
	case m.src.known:
		q.copied(m, m.srcPath)
		q.madeBeside(m)
	default:
		q.made(m)
	}
}

// madeBeside goes on to an object that both versions have, but which a rule makes where the source has none.
func (q *requirer) madeBeside(m need) {
	src := q.dst.other()
	for _, t := range m.rel.ties {
		if !t.writes(q.dst) || t.doubtful || !slices.ContainsFunc(t.ends[q.dst], func(e end) bool { return within(e.path, m.path) }) {
			continue
		}
		for _, e := range t.ends[src] {
			next := m
			next.trigger, next.given = t, m.rel.optional(src, e.path, m.ground)
			if !next.certain(src, m.srcPath) {
				next.src, next.beside = spot{}, true
				q.object(next)
			}
		}
	}
}

// given reports whether a member is what its elements are known by, on this way or as a key.
func (q *requirer) given(m need, by syntax.Segment) bool {
	if by.Kind != syntax.Field {
		return false
	}
	if m.rel.pickKey(q.dst, m.path) {
		return true
	}
	return len(m.path) == 1 && m.rel.keys[q.dst] == by.Name
}

// below goes on to what the rules of a place hand on.
func (q *requirer) below(m need, ties []*tie) {
	src := q.dst.other()
	for _, t := range ties {
		switch {
		case t.doubtful:
		case t.how == uses:
			q.relation(t.below)
		case t.how == pairs:
			next := m
			next.src, next.srcPath = t.ends[src][0].spot, t.ends[src][0].path
			q.copied(next, next.srcPath)
			q.madeBeside(next)
		}
	}
}

// copied goes on to an object that is there where a place of the source is.
func (q *requirer) copied(m need, from []syntax.Segment) {
	m.given = m.rel.optional(q.dst.other(), from, m.given)
	m.ground, m.trigger = m.given, nil
	q.object(m)
}

// made goes on to an object that is there only because a rule writes below it: once for each of these.
func (q *requirer) made(m need) {
	src := q.dst.other()
	for _, t := range m.rel.ties {
		if !t.writes(q.dst) || t.doubtful || !slices.ContainsFunc(t.ends[q.dst], func(e end) bool { return within(e.path, m.path) }) {
			continue
		}
		next := m
		next.trigger = t
		if next.given = m.ground; len(t.ends[src]) == 0 {
			q.object(next)
		}
		for _, e := range t.ends[src] {
			next.given = m.rel.optional(src, e.path, m.ground)
			q.object(next)
		}
	}
	for _, g := range m.rel.groups {
		if g.has[q.dst] && g.has[src] && within(g.path[q.dst], m.path) {
			next := m
			next.trigger, next.given = nil, m.rel.optional(src, g.path[src], m.ground)
			q.object(next)
		}
	}
}

func (q *requirer) say(code, format string, args ...any) {
	src := q.dst.other()
	q.report(finding.Finding{
		Pos: q.version.Pos, Code: code,
		Message: fmt.Sprintf("%s -> %s: ", q.names[src], q.names[q.dst]) + fmt.Sprintf(format, args...),
	})
}

func (q *requirer) sayRule(r *syntax.Rule, code, format string, args ...any) {
	pos := r.Pos
	if place := map[side]*syntax.Place{ofField: r.Field, ofHub: r.Hub}[q.dst]; place != nil {
		pos = place.Pos
	}
	q.report(finding.Finding{Pos: pos, Code: code, Message: r.String() + ": " + fmt.Sprintf(format, args...)})
}
