package hold

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/laws/generate"
	"github.com/crdconvert/webhookd/internal/laws/tree"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// hides is L10. An object of a version shows state now. What it keeps of another version, and what
// became result there, was kept of kept.source when it showed kept.state. Where the way back
// without kept values differs for the two states, the result shows the present one, and so does
// what comes of the result without kept values. It returns a place where that is not so, and the
// version of that place.
func (s *Runner) hides(ctx context.Context, from, to string, state map[string]any, kept snapshot, result map[string]any) (tree.Gap, string) {
	withoutKept := func(object map[string]any, from, to string) map[string]any {
		text, err := s.ConvertStored(ctx, tree.Encode(tree.Visible(tree.Copy(object))), from, to)
		if err != nil {
			return nil // L7
		}
		return tree.Visible(s.View(to, text))
	}
	now, was := withoutKept(state, from, to), withoutKept(kept.state, from, to)
	if now == nil || was == nil || tree.Equal(now, was) {
		return tree.Gap{}, ""
	}
	shown := tree.Visible(tree.Copy(result))
	s.Admit(to, shown)
	for _, object := range []map[string]any{now, was} {
		addObjects(s.Schema(to).Root, object, shown)
		s.Admit(to, object)
	}
	if diff := hidden(nodes{s.Schema(to).Root, s.Schema(from).Root, false}, states{now, was, shown, kept.source}, ""); diff.Path != "" {
		return diff, to
	}
	now, was, shown = withoutKept(now, to, from), withoutKept(was, to, from), withoutKept(shown, to, from)
	if now == nil || was == nil || shown == nil {
		return tree.Gap{}, ""
	}
	diff := hidden(nodes{s.Schema(from).Root, s.Schema(to).Root, true}, states{now, was, shown, withoutKept(kept.source, to, from)}, "")
	if alike(state, kept.state, diff.Path) || alike(state, shown, diff.Path) {
		return tree.Gap{}, "" // the user left it alone, or sees what they wrote
	}
	return diff, from
}

// addObjects adds the objects that another object has, without what is in them, so that the schema
// fills in the same.
func addObjects(n *crdschema.Node, object, other map[string]any) {
	for name, value := range other {
		m, _ := value.(map[string]any)
		member := memberOf(n, name)
		if _, filled := member.Default(); m == nil || member == nil || filled {
			continue
		}
		if _, has := object[name]; !has {
			object[name] = map[string]any{}
		}
		if own, ok := object[name].(map[string]any); ok {
			addObjects(member, own, m)
		}
	}
}

// alike reports whether two states of a version have the same at a path, or at the list on its way.
func alike(now, was any, path string) bool {
	n, inNow := now.(map[string]any)
	w, inWas := was.(map[string]any)
	if inNow && inWas {
		for _, name := range tree.Names(n, w) {
			rest, ok := strings.CutPrefix(path, jsondoc.FormatPath(name))
			if ok && (rest == "" || rest[0] == '.' || rest[0] == '[') {
				return alike(tree.At(n, name), tree.At(w, name), rest)
			}
		}
	}
	return tree.Equal(now, was)
}

// states are four views of one place: what the visible fields say now, and what they said when
// something was kept; what is shown, and what it was kept of.
type states struct{ now, was, shown, source any }

// nodes are a place of a version, and the place of the same path in the other version. Either may
// be nil. Back says that nothing was kept of what is shown: all of it comes from rules.
type nodes struct {
	n, other *crdschema.Node
	back     bool
}

func (p nodes) member(name string) nodes {
	return nodes{memberOf(p.n, name), memberOf(p.other, name), p.back}
}

func (p nodes) items() nodes { return nodes{p.n.Items(), p.other.Items(), p.back} }

func memberOf(n *crdschema.Node, name string) *crdschema.Node {
	if p := n.Property(name); p != nil {
		return p
	}
	return n.Values()
}

// listInBoth says that the elements are those of the other version, and not some that rules make.
func (p nodes) listInBoth() bool { return p.other.Kind() == crdschema.Array }

// hidden returns the first place at which now and was differ and shown does not have what now has.
func hidden(p nodes, s states, path string) tree.Gap {
	if tree.Equal(s.now, s.was) {
		return tree.Gap{}
	}
	gone := tree.IsAbsent(s.now)
	if p.back && tree.IsAbsent(s.shown) && tree.IsMap(s.now) && tree.IsMap(s.was) {
		return hiddenMember(p, s, path) // nothing is left of it but what is kept
	}
	switch shown := s.shown.(type) {
	case map[string]any:
		if tree.IsMap(s.now) || gone && tree.IsMap(s.was) && len(shown) > 0 {
			return hiddenMember(p, s, path)
		}
	case []any:
		if tree.IsList(s.now) || gone && tree.IsList(s.was) && len(shown) > 0 {
			return hiddenElement(p, s, path)
		}
	}
	if byKey(p.n, s.now) != nil && tree.IsList(s.now) && tree.IsList(s.was) && tree.IsAbsent(s.shown) {
		return hiddenElement(p, s, path) // an element that both have was not edited
	}
	if tree.Equal(s.now, s.shown) {
		return tree.Gap{}
	}
	if tree.IsAbsent(s.shown) && tree.IsEmptyMap(s.now) && tree.IsMap(s.was) {
		return tree.Gap{} // what was in it is gone, and no edit has made the object
	}
	return tree.NewGap(path, s.now, s.shown)
}

func hiddenMember(p nodes, s states, path string) tree.Gap {
	now, _ := s.now.(map[string]any)
	was, _ := s.was.(map[string]any)
	for _, name := range tree.Names(now, was) {
		if diff := hidden(p.member(name), s.member(name), path+jsondoc.FormatPath(name)); diff.Path != "" {
			return diff
		}
	}
	return tree.Gap{}
}

func (s states) member(name string) states {
	return states{tree.At(s.now, name), tree.At(s.was, name), tree.At(s.shown, name), tree.At(s.source, name)}
}

// maxAligned bounds the lists without keys whose elements are compared.
const maxAligned = 64

func hiddenElement(p nodes, s states, path string) tree.Gap {
	if keyed := (states{byKey(p.n, s.now), byKey(p.n, s.was), byKey(p.n, s.shown), byKey(p.n, s.source)}); keyed.now != nil && keyed.was != nil && keyed.shown != nil {
		now, _ := keyed.now.(map[string]any)
		was, _ := keyed.was.(map[string]any)
		for _, key := range tree.Names(now, was) {
			e := keyed.member(key)
			if tree.IsAbsent(e.shown) && !tree.IsAbsent(e.now) && !tree.IsAbsent(e.was) && p.hasOtherKey(keyed, key) {
				continue
			}
			if left, ok := e.shown.(map[string]any); ok && tree.IsAbsent(e.now) && len(left) > len(p.n.ListMapKeys()) {
				seen, _ := tree.Copy(e.was).(map[string]any)
				for _, name := range p.n.ListMapKeys() {
					delete(seen, name) // it has parts that only this version has, and so the keys
				}
				e.was = seen
			}
			if diff := hidden(p.items(), e, path+"["+key+"]"); diff.Path != "" {
				return diff
			}
		}
		return tree.Gap{}
	}
	now, _ := s.now.([]any)
	was, _ := s.was.([]any)
	shown, _ := s.shown.([]any)
	source, _ := s.source.([]any)
	count := len(now)
	if len(now)+len(was)+len(shown) > maxAligned {
		return tree.Gap{}
	}
	// The elements are there in their order, and between them only others that this version did not
	// show. If all have been edited in their places, the order may be one that was kept. A version
	// without a list there shows no order; L2 holds the order of a list that has moved.
	next, ordered, left := 0, p.listInBoth() && !slices.EqualFunc(was, now, similar), slices.Clone(shown)
	if !ordered {
		now, left = withoutPairs(now, left, tree.Equal)
		// An element that has not been edited may be shown as anything, since something may be kept
		// of it. It is matched first with what has all of it, or it would be taken for one that
		// another element needs. A pair still has to be one that hides no edit.
		now, left = withoutPairs(now, left, func(e, other any) bool {
			return tree.Lost(e, other, "").Path == "" && mayBeElement(p, e, was, other)
		})
	}
	for i, e := range now {
		if !ordered {
			next = 0
		}
		for next < len(left) && !mayBeElement(p, e, was, left[next]) {
			next++
		}
		if next == len(left) {
			return tree.NewGap(fmt.Sprintf("%s[%d]", path, i), e, s.shown)
		}
		left = slices.Delete(left, next, next+1)
	}
	if p.listInBoth() && len(shown) > count+max(0, len(source)-len(was)) {
		return tree.NewGap(path, s.now, s.shown)
	}
	return tree.Gap{}
}

// hasOtherKey reports whether an element that now and was have with a key is shown with another
// one, which was kept of it: several keys may have become this one.
func (p nodes) hasOtherKey(s states, key string) bool {
	shown, _ := s.shown.(map[string]any)
	for _, other := range tree.Names(shown, nil) {
		e := s.member(key)
		e.shown = shown[other]
		e.now, e.was = withoutKeys(p.n, e.now), withoutKeys(p.n, e.was)
		if tree.IsAbsent(tree.At(s.now, other)) && hidden(p.items(), e, "").Path == "" {
			return true
		}
	}
	return false
}

func withoutKeys(list *crdschema.Node, element any) any {
	left, ok := tree.Copy(element).(map[string]any)
	if !ok {
		return element
	}
	for _, name := range list.ListMapKeys() {
		delete(left, name)
	}
	return left
}

// withoutPairs returns two lists without the elements of each that match one of the other.
func withoutPairs(a, b []any, match func(e, other any) bool) (restA, restB []any) {
	restB = slices.Clone(b)
	for _, e := range a {
		if i := slices.IndexFunc(restB, func(other any) bool { return match(e, other) }); i >= 0 {
			restB = slices.Delete(restB, i, i+1)
			continue
		}
		restA = append(restA, e)
	}
	return restA, restB
}

// byKey returns the elements of a list by their keys, or nil if these do not distinguish them.
func byKey(n *crdschema.Node, v any) any {
	list, ok := v.([]any)
	if n.ListType() != "map" || !ok && !tree.IsAbsent(v) {
		return nil
	}
	all := make(map[string]any, len(list))
	for _, e := range list {
		all[generate.ElementKey(n, e)] = e
	}
	if len(all) < len(list) {
		return nil
	}
	return all
}

// mayBeElement reports whether what is shown may be an element of a list without keys: it hides no
// edit of one that was there. If none had anything in common with it, the element is new, and
// nothing of it can have been kept.
func mayBeElement(p nodes, e any, was []any, shown any) bool {
	fresh := true
	for _, before := range was {
		if similar(e, before) {
			if fresh = false; hidden(p.items(), states{e, before, shown, nil}, "").Path == "" {
				return true
			}
		}
	}
	if p.listInBoth() {
		return fresh && (tree.Equal(e, shown) || p.back && tree.Lost(e, shown, "").Path == "")
	}
	return hidden(p.items(), states{e, tree.Absent{}, shown, nil}, "").Path == ""
}

// similar reports whether two values have something in common. An object without members is like
// any other, and so is a list without elements.
func similar(a, b any) bool {
	if tree.IsList(a) && tree.IsList(b) {
		x, _ := a.([]any)
		y, _ := b.([]any)
		return len(x) == 0 || len(y) == 0 || slices.ContainsFunc(x, func(e any) bool {
			return slices.ContainsFunc(y, func(other any) bool { return similar(e, other) })
		})
	}
	x, okX := a.(map[string]any)
	y, okY := b.(map[string]any)
	if !okX || !okY {
		return tree.Equal(a, b)
	}
	if len(x) == 0 || len(y) == 0 {
		return true
	}
	for name, value := range x {
		if similar(value, tree.At(y, name)) {
			return true
		}
	}
	return false
}
