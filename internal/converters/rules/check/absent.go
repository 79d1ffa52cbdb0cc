package check

import (
	"fmt"
	"slices"

	"github.com/crdconvert/webhookd/internal/converters/rules/binding"
	"github.com/crdconvert/webhookd/internal/converters/rules/transform"
	"github.com/crdconvert/webhookd/internal/crdschema"
)

// required reports a member that the target requires, if it may be absent.
func (q *requirer) required(m need, rules []*binding.Rule, e *binding.Elements) {
	text, src, dst := m.binding.Text(q.dst, m.path), q.Names[q.src], q.Names[q.dst]
	switch {
	case len(rules) > 0: // they are for the list itself, if others are for its elements
		q.requiredOfRules(m, rules, text)
	case e != nil:
		q.requiredOfElements(m, e, text)
	case m.src.Known:
		from := m.binding.Text(q.src, m.srcPath)
		why := misfits(m.src.Node, m.dst.Node)
		if !m.certain(q.src, m.srcPath) {
			why = "may be absent"
		}
		if why == "" || q.mismatch[from] {
			return
		}
		which := "which"
		if from != text {
			which = "and " + from
		}
		q.sayField("required-field", "%s requires %s, %s %s in %s: add a rule for it with `%s`",
			dst, text, which, why, src, defaultKey(q.dst))
	case q.madeSurely(m):
	default:
		switch r := q.madeAtTimes(m); {
		case r != nil:
			q.sayRule(r.Syntax, "required-place", "%s, but %s requires %s: make it optional there", q.mayBeAbsent(m, r), dst, text)
		case m.instead && m.trigger != nil:
			made := m.binding.Text(q.dst, m.path[:len(m.path)-1])
			q.sayRule(m.trigger.Syntax, "required-in-made-object", "it makes %s where %s has none, but %s requires %s: add a rule for that with `%s`",
				made, src, dst, text, defaultKey(q.dst))
		default:
			q.sayField("required-field-without-source", "%s requires %s, but nothing in %s gives it: add a rule with `%s`",
				dst, text, src, defaultKey(q.dst))
		}
	}
}

// madeAtTimes returns a rule that writes below the member, but not always.
func (q *requirer) madeAtTimes(m need) *binding.Rule {
	for _, r := range m.makers(q.dst) {
		if q.mayBeAbsent(m, r) != "" {
			return r
		}
	}
	return nil
}

// madeSurely reports whether a rule writes below the member whenever its object is there.
func (q *requirer) madeSurely(m need) bool {
	for _, r := range m.makers(q.dst) {
		if r.Doubtful || r == m.trigger {
			return true
		}
		sure := !guarded(r, q.dst) && (r.Transform[q.src] == nil || r.Transform[q.src].Total)
		for _, e := range r.Ends[q.src] {
			sure = sure && m.certain(q.src, e.Segments)
		}
		if sure {
			return true
		}
	}
	return slices.ContainsFunc(m.binding.ElementsBelow(q.dst, m.path), func(e *binding.Elements) bool {
		return e.Has[q.src] && m.certain(q.src, e.Ends[q.src].Segments)
	})
}

// requiredOfRules checks the rules that write a required place.
func (q *requirer) requiredOfRules(m need, rules []*binding.Rule, text string) {
	why := ""
	for _, r := range rules {
		if r.Doubtful || r.DefaultOf(q.dst, q.indexOf(m, r)) != nil {
			return
		}
		if why = q.mayBeAbsent(m, r); why == "" {
			return
		}
	}
	if len(rules) > 1 {
		why = "every `" + guardKey(q.dst) + "` may be false"
	}
	q.sayRule(rules[0].Syntax, "required-place", "%s, but %s requires %s: add `%s`", why, q.Names[q.dst], text, defaultKey(q.dst))
}

// indexOf returns which place of a rule the member is, or -1.
func (q *requirer) indexOf(m need, r *binding.Rule) int {
	return slices.IndexFunc(r.Ends[q.dst], func(p binding.Path) bool { return binding.Same(p.Segments, m.path) })
}

// requiredOfElements checks the rules that write elements of a required list, or entries of a map.
func (q *requirer) requiredOfElements(m need, e *binding.Elements, text string) {
	if e.Has[q.src] && m.certain(q.src, e.Ends[q.src].Segments) {
		return
	}
	remedy := "make it optional there"
	if e.Has[q.src] && e.By[binding.OfSpoke].Kind == e.By[binding.OfHub].Kind {
		remedy = "add a rule for the two of them with `" + defaultKey(q.dst) + "`, or " + remedy
	}
	q.sayRule(e.Rule, "required-list", "%s may be absent in %s, but %s requires %s: %s",
		m.binding.Text(q.src, e.Ends[q.src].Segments), q.Names[q.src], q.Names[q.dst], text, remedy)
}

// mayBeAbsent says why a rule may not write its place, or nothing if it always does.
func (q *requirer) mayBeAbsent(m need, r *binding.Rule) string {
	if !writes(r, q.dst) {
		return fmt.Sprintf("nothing in %s gives it", q.Names[q.src])
	}
	if guarded(r, q.dst) && r != m.trigger {
		return "`" + guardKey(q.dst) + "` may be false"
	}
	for _, e := range r.Ends[q.src] {
		if r != m.trigger && !m.certain(q.src, e.Segments) {
			return fmt.Sprintf("%s may be absent in %s", m.binding.Text(q.src, e.Segments), q.Names[q.src])
		}
	}
	if r.Transform[q.src] == nil {
		from := m.binding.Text(q.src, r.Ends[q.src][0].Segments)
		why := misfits(r.Ends[q.src][0].Place.Node, m.dst.Node)
		if why == "" || q.indexOf(m, r) < 0 || q.mismatch[from] {
			return ""
		}
		return from + " " + why
	}
	alone := len(r.Ends[q.dst]) == 1 || r.How == binding.Converts && r.Syntax.Template != nil && r.Syntax.Absent == nil
	if r.Transform[q.src].Total || r == m.trigger && alone {
		return ""
	}
	return q.partial(m, r)
}

// misfits says in what way a place may have values that another one does not take. It does not look
// into objects and lists.
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

// partial says that a rule does not convert every value.
func (q *requirer) partial(m need, r *binding.Rule) string {
	from := endsText(m.binding, q.src, r.Ends[q.src])
	switch r := r.Syntax; {
	case r.Template != nil:
		return fmt.Sprintf("template %q does not match every string %s allows", r.Template.Value, from)
	case r.Codec != nil:
		return fmt.Sprintf("codec %s does not convert every value %s allows", r.Codec.Value, from)
	case r.Go != nil:
		return fmt.Sprintf("go: %s may not convert every value", r.Go.Value)
	case r.Values != nil:
		return fmt.Sprintf("values does not list every value %s allows", from)
	}
	return fmt.Sprintf("%s may have no result", computeKey(q.dst))
}
