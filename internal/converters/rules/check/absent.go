package check

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/rules/binding"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/converters/rules/transform"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// required notes a member that the target requires, if it may be absent.
func (q *requirer) required(m need, rules []*binding.Rule, e *binding.Elements) {
	text, src, dst := m.binding.Text(q.dst, m.path), q.Names[q.src], q.Names[q.dst]
	var found *missing
	switch {
	case len(rules) > 0: // they are for the list itself, if others are for its elements
		found = q.requiredOfRules(m, rules)
	case e != nil:
		found = q.requiredOfElements(m, e)
	case m.src.Known:
		found = q.requiredOfCopy(m)
	case q.madeSurely(m):
	default:
		if r := q.madeAtTimes(m); r != nil {
			found = &missing{code: "required-place", rules: []*syntax.Rule{r.Syntax}, why: q.mayBeAbsent(m, r)}
			break
		}
		found = &missing{code: "required-field-without-source", why: "but nothing in " + src + " gives", remedy: "with " + q.defaultKey()}
	}
	if found == nil || q.mayStayAbsent(text) {
		return
	}
	if m.instead && m.trigger != nil { // the rules of the member are not to blame
		made := m.binding.Text(q.dst, m.path[:len(m.path)-1])
		found = &missing{
			code: "required-in-made-object", rules: []*syntax.Rule{m.trigger.Syntax}, object: made, src: q.objectPath(m),
			why: fmt.Sprintf("makes %s where %s has none, but %s requires", made, src, dst),
		}
	}
	found.name, found.node, found.members = lastOf(m.path).String(), m.dst.Node, []string{text}
	q.missing = append(q.missing, found)
}

func (q *requirer) defaultKey() string { return "`" + defaultKey(q.dst) + "`" }

// objectPath returns the place of the source that is absent when the object is made, or nothing if
// a condition cannot name it.
func (q *requirer) objectPath(m need) string {
	if len(m.srcPath) == 0 {
		return ""
	}
	path := m.srcPath[:len(m.srcPath)-1]
	if m.binding.Prefix[q.src] != "" || slices.ContainsFunc(path, func(s syntax.Segment) bool { return s.Kind != syntax.Field }) {
		return ""
	}
	return syntax.Path{Segments: path}.String()
}

// requiredOfCopy checks a required member that is copied.
func (q *requirer) requiredOfCopy(m need) *missing {
	from := m.binding.Text(q.src, m.srcPath)
	why := misfits(m.src.Node, m.dst.Node)
	if !m.certain(q.src, m.srcPath) {
		why = "may be absent"
	}
	if why == "" || q.mismatch[from] {
		return nil
	}
	found := &missing{code: "required-field", why: why + " in " + q.Names[q.src], remedy: "with " + q.defaultKey()}
	if from != m.binding.Text(q.dst, m.path) {
		found.from = from
	}
	return found
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
		sure := q.holds(m, r) && (r.Transform[q.src] == nil || r.Transform[q.src].Total)
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
func (q *requirer) requiredOfRules(m need, rules []*binding.Rule) *missing {
	why := ""
	for _, r := range rules {
		if r.Doubtful || r.DefaultOf(q.dst, q.indexOf(m, r)) != nil {
			return nil
		}
		if why = q.mayBeAbsent(m, r); why == "" {
			return nil
		}
	}
	if len(rules) > 1 {
		why = "every `" + guardKey(q.dst) + "` may be false"
	}
	return &missing{code: "required-place", rules: []*syntax.Rule{rules[0].Syntax}, ruled: true, why: why, remedy: "add " + q.defaultKey()}
}

// indexOf returns which place of a rule the member is, or -1.
func (q *requirer) indexOf(m need, r *binding.Rule) int {
	return slices.IndexFunc(r.Ends[q.dst], func(p binding.Path) bool { return binding.Same(p.Segments, m.path) })
}

// requiredOfElements checks the rules that write elements of a required list, or entries of a map.
func (q *requirer) requiredOfElements(m need, e *binding.Elements) *missing {
	if e.Has[q.src] && m.certain(q.src, e.Ends[q.src].Segments) {
		return nil
	}
	remedy := ""
	if e.Has[q.src] && e.By[binding.OfSpoke].Kind == e.By[binding.OfHub].Kind {
		remedy = "add a rule for the two of them with " + q.defaultKey()
	}
	why := fmt.Sprintf("%s may be absent in %s", m.binding.Text(q.src, e.Ends[q.src].Segments), q.Names[q.src])
	return &missing{code: "required-list", rules: []*syntax.Rule{e.Rule}, why: why, remedy: remedy}
}

// mayBeAbsent says why a rule may not write its place, or nothing if it always does.
func (q *requirer) mayBeAbsent(m need, r *binding.Rule) string {
	if !writes(r, q.dst) {
		return fmt.Sprintf("nothing in %s gives it", q.Names[q.src])
	}
	if !q.holds(m, r) {
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

// holds reports whether the condition of a rule is true whenever an object is there, since it is
// also that of the rule that made the object.
func (q *requirer) holds(m need, r *binding.Rule) bool {
	guard := guardOf(r.Syntax, q.dst)
	if guard == nil || r == m.trigger {
		return true
	}
	return m.trigger != nil && guarded(m.trigger, q.dst) && guard.Value == guardOf(m.trigger.Syntax, q.dst).Value &&
		!strings.Contains(guard.Value, "self") && binding.Same(r.Element[q.src], m.trigger.Element[q.src])
}

// misfits says in what way a place may have values that another one does not take. It does not look
// into objects and lists.
func misfits(from, to *crdschema.Node) string {
	switch {
	case from.Nullable() && to != nil && !to.Nullable():
		return "may be null"
	case from.Kind() == to.Kind() && !to.Scalar(), transform.Covers(to, from):
		return ""
	}
	return "may have a value that does not fit"
}

// partial says that a rule does not convert every value.
func (q *requirer) partial(m need, r *binding.Rule) string {
	from := endsText(m.binding, q.src, r.Ends[q.src])
	switch r := r.Syntax; {
	case r.OmitEmpty != "":
		return "omitEmpty leaves an empty value out"
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

// unwritten warns of rules of one side, which make no object, whose places are in one that nothing
// else makes.
func (p *pair) unwritten(b *binding.Binding, dst binding.Side) {
	rules := map[string][]*syntax.Rule{}
	for _, r := range b.Rules {
		if len(r.Ends[dst]) == 0 || len(r.Ends[dst.Other()]) > 0 || r.How != binding.Computes && !r.HasDefault(dst) {
			continue
		}
		path := r.Ends[dst][0].Segments
		if above := path[:max(0, len(path)-1)]; len(above) > 0 && above[0].Name != "metadata" && !mayBeMade(b, dst, above) {
			rules[b.Text(dst, above)] = append(rules[b.Text(dst, above)], r.Syntax)
		}
	}
	for _, object := range slices.Sorted(maps.Keys(rules)) {
		hint := fmt.Sprintf("write one rule for the whole of %s, or one for a field of it and a field of %s", object, p.Names[dst.Other()])
		p.warn(posOf(rules[object][0], dst), "rule-never-applies", hint,
			"%s writes only where %s exists, and nothing makes that in %s", rulesText(rules[object]), object, p.Names[dst])
	}
}

// mayBeMade reports whether a copy, or a rule that reads the other side, may make an object or an
// element.
func mayBeMade(b *binding.Binding, dst binding.Side, path []syntax.Segment) bool {
	src := dst.Other()
	there, copied := b.Counterpart(dst, path)
	return !copied || b.Base[src].Walk(there).Known ||
		slices.ContainsFunc(b.RulesBelow(dst, path), func(r *binding.Rule) bool { return len(r.Ends[src]) > 0 }) ||
		slices.ContainsFunc(b.Elements, func(e *binding.Elements) bool {
			at := e.Ends[dst].Segments
			return e.Paired() && (binding.Within(path, at) || binding.Within(at, path))
		})
}
