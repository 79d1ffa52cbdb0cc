package check

import (
	"fmt"
	"slices"

	"github.com/crdconvert/webhookd/internal/converters/rules/binding"
	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/crdschema"
)

// A requirer looks at what the target requires wherever a conversion writes an object, and says where the source may not
// give it.
type requirer struct{ *direction }

// A need is an object of the target that is there under some condition.
type need struct {
	binding *binding.Binding
	path    []syntax.Segment
	dst     binding.Place
	srcPath []syntax.Segment
	src     binding.Place // unknown: no place of the source is copied to the object
	given   []string      // the optional places of the source that are there then
	ground  []string      // those of them that are there where the nearest object is that is copied
	trigger *binding.Rule // the rule that made the object
	beside  bool          // which it did as the source has none, though it could
}

// bound looks at the places of a binding.
func (q *requirer) bound(b *binding.Binding) {
	if !q.enter(b) {
		return
	}
	n := need{binding: b, dst: b.Base[q.dst], src: b.Base[q.src]}
	if b.Owner(q.dst, nil) != nil || b.Owner(q.src, nil) != nil {
		n.src = binding.Place{}
	}
	for _, r := range b.RulesAt(q.dst, nil) {
		if r.How == binding.Pairs && !r.Doubtful {
			n.src, n.srcPath = r.Ends[q.src][0].Place, r.Ends[q.src][0].Segments
			n.given = optional(b, q.src, n.srcPath, nil)
			n.ground = n.given
		}
	}
	q.object(n)
}

// certain reports whether a place of the source is there wherever the object is.
func (n need) certain(s binding.Side, path []syntax.Segment) bool {
	for _, place := range optional(n.binding, s, path, nil) {
		if !slices.Contains(n.given, place) {
			return false
		}
	}
	return true
}

// makers returns the rules that write below an object.
func (n need) makers(dst binding.Side) []*binding.Rule {
	below := func(e binding.Path) bool { return binding.Within(e.Segments, n.path) }
	return slices.DeleteFunc(slices.Clone(n.binding.Rules), func(r *binding.Rule) bool {
		return !writes(r, dst) || !slices.ContainsFunc(r.Ends[dst], below)
	})
}

// object looks at the members of an object, or the elements of a list.
func (q *requirer) object(n need) {
	root := len(n.path) == 0 && n.binding.Prefix[q.dst] == "" && n.dst.Node.Property("metadata") != nil
	for _, name := range n.dst.Node.Properties() {
		if root && (name == "apiVersion" || name == "kind" || name == "metadata") {
			continue
		}
		by := syntax.Segment{Kind: syntax.Field, Name: name}
		_, added := n.dst.Node.Property(name).Default()
		q.member(n, by, n.dst.Node.IsRequired(name) && !added)
	}
	q.picked(n)
	if e := n.binding.ElementsAt(q.dst, n.path); e != nil {
		if len(n.path) == 0 && e.Has[q.src] { // a list in a list
			q.bound(e.Binding)
		}
		return
	}
	if !n.src.Known {
		return
	}
	switch {
	case n.dst.Node.Kind() == crdschema.Array && n.src.MayBeList():
		q.elements(n, syntax.Segment{Kind: syntax.Elements})
	case n.dst.Node.Kind() == crdschema.Map && n.src.MayBeObject():
		q.elements(n, syntax.Segment{Kind: syntax.Values})
	}
}

// picked looks at the elements of a list, and the entries of a map, that rules name.
func (q *requirer) picked(n need) {
	for _, by := range n.binding.Next(q.dst, n.path) {
		if by.Kind == syntax.Pick || by.Kind == syntax.First || by.Kind == syntax.Field && n.dst.Node.Kind() == crdschema.Map {
			q.member(n, by, false)
		}
	}
}

func (q *requirer) elements(n need, by syntax.Segment) {
	q.bound(implicit(n.binding, q.dst, by, n.path, n.srcPath, [2]binding.Place{n.dst, n.src}))
}

// member looks at a member: whether it is there if it has to be, and what is in it.
func (q *requirer) member(n need, by syntax.Segment, required bool) {
	m := n
	m.path, m.dst = append(slices.Clone(n.path), by), n.dst.Step(by)
	m.srcPath, m.src = append(slices.Clone(n.srcPath), by), n.src.Step(by)
	if n.src.Known && n.binding.Owner(q.src, m.srcPath) != nil {
		m.src = binding.Place{}
	}
	rules, e := m.binding.RulesAt(q.dst, m.path), m.binding.ElementsAt(q.dst, m.path)
	if q.given(m, by) {
		return
	}
	if required {
		q.required(m, rules, e)
	}
	switch {
	case e != nil:
		if e.Has[q.src] { // else all its elements are ones that were kept, as they were
			q.bound(e.Binding)
		}
		m.src = binding.Place{}
		q.picked(m)
	case len(rules) > 0:
		q.below(m, rules)
	case m.src.Known:
		q.copied(m, m.srcPath)
		q.madeBeside(m)
	default:
		q.made(m)
	}
}

// madeBeside goes on to an object that both versions have, but which a rule makes where the source has none.
func (q *requirer) madeBeside(m need) {
	for _, r := range m.makers(q.dst) {
		if r.Doubtful {
			continue
		}
		for _, e := range r.Ends[q.src] {
			next := m
			next.trigger, next.given = r, optional(m.binding, q.src, e.Segments, m.ground)
			if !next.certain(q.src, m.srcPath) {
				next.src, next.beside = binding.Place{}, true
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
	if pickKey(m.binding, q.dst, m.path) {
		return true
	}
	return len(m.path) == 1 && m.binding.Keys[q.dst] == by.Name
}

// below goes on to what the rules of a place hand on.
func (q *requirer) below(m need, rules []*binding.Rule) {
	for _, r := range rules {
		switch {
		case r.Doubtful:
		case r.How == binding.Uses:
			q.bound(r.Below)
		case r.How == binding.Pairs:
			next := m
			next.src, next.srcPath = r.Ends[q.src][0].Place, r.Ends[q.src][0].Segments
			q.copied(next, next.srcPath)
			q.madeBeside(next)
		}
	}
}

// copied goes on to an object that is there where a place of the source is.
func (q *requirer) copied(m need, from []syntax.Segment) {
	m.given = optional(m.binding, q.src, from, m.given)
	m.ground, m.trigger = m.given, nil
	q.object(m)
}

// made goes on to an object that is there only because a rule writes below it: once for each of these.
func (q *requirer) made(m need) {
	for _, r := range m.makers(q.dst) {
		if r.Doubtful {
			continue
		}
		next := m
		next.trigger = r
		if next.given = m.ground; len(r.Ends[q.src]) == 0 {
			q.object(next)
		}
		for _, e := range r.Ends[q.src] {
			next.given = optional(m.binding, q.src, e.Segments, m.ground)
			q.object(next)
		}
	}
	for _, e := range m.binding.Elements {
		if e.Has[q.dst] && e.Has[q.src] && binding.Within(e.Ends[q.dst].Segments, m.path) {
			next := m
			next.trigger, next.given = nil, optional(m.binding, q.src, e.Ends[q.src].Segments, m.ground)
			q.object(next)
		}
	}
}

func (q *requirer) sayRule(r *syntax.Rule, code, format string, args ...any) {
	pos := r.Pos
	if place := q.dst.In(r); place != nil {
		pos = place.Pos
	}
	q.report(finding.Finding{Pos: pos, Code: code, Message: r.String() + ": " + fmt.Sprintf(format, args...)})
}
