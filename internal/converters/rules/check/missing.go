package check

import (
	"fmt"
	"slices"

	"github.com/crdconvert/webhookd/internal/converters/rules/transform"
	"github.com/crdconvert/webhookd/internal/crdschema"
)

// required says so if a member that has to be there may not be.
func (q *requirer) required(m need, ties []*tie, g *group) {
	src := q.dst.other()
	text := m.rel.text(q.dst, m.path)
	add := "add `" + q.dst.defaultKey() + "`"
	switch {
	case len(ties) > 0: // of the list itself, where there are others of its elements
		q.requiredOfTies(m, ties, text, add)
	case g != nil:
		q.requiredOfGroup(m, g, text)
	case m.src.known:
		if q.mismatch[m.rel.text(src, m.srcPath)] {
			return
		}
		what := ""
		switch {
		case !m.certain(src, m.srcPath):
			what = "may be absent"
		default:
			what = misfits(m.src.node, m.dst.node)
		}
		if what == "" {
			return
		}
		from := m.rel.text(src, m.srcPath)
		which := "which"
		if from != text {
			which = "and " + from
		}
		q.say("required-field", "%s requires %s, %s %s in %s: add a rule for it with `%s`",
			q.names[q.dst], text, which, what, q.names[src], q.dst.defaultKey())
	case q.madeSurely(m):
	case q.madeAtTimes(m) != nil:
		t := q.madeAtTimes(m)
		why := q.doubt(m, t)
		q.sayRule(t.rule, "required-place", "%s, and %s requires %s: make it optional there", why, q.names[q.dst], text)
	case m.beside && m.trigger != nil:
		made := m.rel.text(q.dst, m.path[:len(m.path)-1])
		q.sayRule(m.trigger.rule, "required-in-made-object", "it makes %s where %s has none, and %s requires %s: add a rule for that with `%s`",
			made, q.names[src], q.names[q.dst], text, q.dst.defaultKey())
	default:
		q.say("required-field-without-source", "%s requires %s, and nothing in %s gives it: add a rule with `%s`",
			q.names[q.dst], text, q.names[src], q.dst.defaultKey())
	}
}

// madeAtTimes returns a rule that writes below the member, but not always.
func (q *requirer) madeAtTimes(m need) *tie {
	for _, t := range m.rel.ties {
		if t.writes(q.dst) && slices.ContainsFunc(t.ends[q.dst], func(e end) bool { return within(e.path, m.path) }) && q.doubt(m, t) != "" {
			return t
		}
	}
	return nil
}

// madeSurely reports whether some rule that writes below the member does so wherever its object is there.
func (q *requirer) madeSurely(m need) bool {
	src := q.dst.other()
	for _, t := range m.rel.ties {
		if !t.writes(q.dst) || !slices.ContainsFunc(t.ends[q.dst], func(e end) bool { return within(e.path, m.path) }) {
			continue
		}
		if t.doubtful || t == m.trigger {
			return true
		}
		sure := !t.guarded(q.dst) && (t.t == nil || t.t.Total(q.dst == ofField))
		for _, e := range t.ends[src] {
			sure = sure && m.certain(src, e.path)
		}
		if sure {
			return true
		}
	}
	return slices.ContainsFunc(m.rel.groups, func(g *group) bool {
		return g.has[q.dst] && g.has[src] && within(g.path[q.dst], m.path) && m.certain(src, g.path[src])
	})
}

// requiredOfTies judges the rules that write a required place.
func (q *requirer) requiredOfTies(m need, ties []*tie, text, add string) {
	why := ""
	for _, t := range ties {
		i := slices.IndexFunc(t.ends[q.dst], func(e end) bool { return same(e.path, m.path) })
		if t.doubtful || t.defaultOf(q.dst, i) != nil {
			return
		}
		if why = q.doubt(m, t); why == "" {
			return
		}
	}
	if len(ties) > 1 {
		why = "there are objects that no `" + q.dst.guardKey() + "` may be for"
	}
	q.sayRule(ties[0].rule, "required-place", "%s, and %s requires %s: %s", why, q.names[q.dst], text, add)
}

// requiredOfGroup judges the rules that write elements of a required list, or entries of a map.
func (q *requirer) requiredOfGroup(m need, g *group, text string) {
	src := q.dst.other()
	if g.has[src] && m.certain(src, g.path[src]) {
		return
	}
	remedy := "make it optional there"
	if g.has[src] && g.by[ofField].Kind == g.by[ofHub].Kind {
		remedy = "add a rule for the two of them with `" + q.dst.defaultKey() + "`, or " + remedy
	}
	q.sayRule(g.rule, "required-list", "%s may be absent in %s, and %s requires %s: %s",
		m.rel.text(src, g.path[src]), q.names[src], q.names[q.dst], text, remedy)
}

// doubt says why a rule may not write its place; nothing if it always does.
func (q *requirer) doubt(m need, t *tie) string {
	src := q.dst.other()
	if !t.writes(q.dst) {
		return fmt.Sprintf("nothing in %s gives it", q.names[src])
	}
	if t.guarded(q.dst) && t != m.trigger {
		return "`" + q.dst.guardKey() + "` may be false"
	}
	if t != m.trigger {
		for _, e := range t.ends[src] {
			if !m.certain(src, e.path) {
				return fmt.Sprintf("%s may be absent in %s", m.rel.text(src, e.path), q.names[src])
			}
		}
	}
	if t.t == nil {
		from := m.rel.text(src, t.ends[src][0].path)
		i := slices.IndexFunc(t.ends[q.dst], func(e end) bool { return same(e.path, m.path) })
		if i < 0 || q.mismatch[from] {
			return ""
		}
		what := misfits(t.ends[src][0].spot.node, m.dst.node)
		if what == "" {
			return ""
		}
		return from + " " + what
	}
	alone := len(t.ends[q.dst]) == 1 || t.how == converts && t.rule.Template != nil && t.rule.Absent == nil
	if t.t.Total(q.dst == ofField) || t == m.trigger && alone {
		return ""
	}
	return q.partial(m, t)
}

// misfits says in what way a place may have values that another one does not take; what is within objects and lists is
// looked at there.
func misfits(from, to *crdschema.Node) string {
	container := func(n *crdschema.Node) bool {
		k := n.Kind()
		return k == crdschema.Object || k == crdschema.Map || k == crdschema.Array
	}
	switch {
	case from.Nullable() && to != nil && !to.Nullable():
		return "may be null"
	case container(to) && from.Kind() == to.Kind(), transform.Covers(to, from):
		return ""
	}
	return "may have a value that does not fit"
}

// partial says of a rule that it does not convert every value.
func (q *requirer) partial(m need, t *tie) string {
	src := q.dst.other()
	from := endsText(m.rel, src, t.ends[src])
	switch r := t.rule; {
	case r.Template != nil:
		return fmt.Sprintf("template %q does not match every string %s allows", r.Template.Value, from)
	case r.Codec != nil:
		return fmt.Sprintf("codec %s does not convert every value %s allows", r.Codec.Value, from)
	case r.Go != nil:
		return fmt.Sprintf("go: %s may not convert every value", r.Go.Value)
	case r.Values != nil:
		return fmt.Sprintf("values does not have every value %s allows", from)
	}
	return fmt.Sprintf("%s may have no result", [...]string{"fromHub", "toHub"}[q.dst])
}
