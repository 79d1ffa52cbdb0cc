package keep

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/crdconvert/webhookd/internal/converters/keep/annotation"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// Restored tells Diff what Restore has done in the same conversion.
type Restored struct {
	// newlyMapped are values that returned where the other version shows nothing, though it has a
	// place for them.
	newlyMapped map[*jsondoc.Node]bool
	// unknown are fields that no schema knows and that conversion has kept anyway.
	unknown map[string]bool
	// inside are entries that returned in what an expression makes.
	inside []*annotation.Entry
}

func (r *Restored) mapNewly(n *jsondoc.Node) {
	if r.newlyMapped == nil {
		r.newlyMapped = map[*jsondoc.Node]bool{}
	}
	r.newlyMapped[n] = true
}

// newlyMaps reports whether a newly mapped value is at the end of a path or on its way.
func (r *Restored) newlyMaps(n *jsondoc.Node, path annotation.Path) bool {
	on := false
	for i := 0; i < len(path) && n != nil; i++ {
		n, _ = find(n, path[i:i+1])
		on = on || n != nil && r.newlyMapped[n]
	}
	return n != nil && on
}

func (r *Restored) keepUnknown(field string) {
	if r.unknown == nil {
		r.unknown = map[string]bool{}
	}
	r.unknown[field] = true
}

// survivor identifies a field by its name and value, wherever it moves.
func survivor(path annotation.Path, n *jsondoc.Node) string {
	return path[len(path)-1].Name + " " + digestText(n)
}

// Restore puts valid entries back into obj, which x was converted to: those whose inputs x still
// shows. All are judged before any is put back. Restore leaves out values that do not fit the
// schema or whose place has something else. L is the layout of obj's version.
//
// It takes time in proportion to the object and the entries, and memory from m. It fails if the
// context is done, or for an object with too many members.
func Restore(ctx context.Context, m *Memory, obj, x *jsondoc.Object, trace *Trace, kept []*annotation.Entry, l *Layout) (*Restored, error) {
	r := &restorer{walker: newWalker(ctx, m, obj), done: &Restored{}}
	t := m.trie(kept)
	t.children = slices.DeleteFunc(t.children, func(k *trie) bool { return !k.restorable() })
	r.visit(t, obj.Node, l.root(nil, x, trace))
	if r.err == nil {
		r.apply(t, obj.Node)
	}
	return r.done, r.err
}

// A restorer judges entries and puts them back.
type restorer struct {
	walker // of the object

	done *Restored
}

// restorable removes from a child of the root what conversions must not change. Of metadata it
// leaves labels and annotations that the API server accepts and that are not webhookd's own. It
// reports whether the child stays.
func (t *trie) restorable() bool {
	if t.step.Name != "metadata" {
		return t.step.Keys == nil && !isHead(t.step.Name)
	}
	t.entry, t.order = nil, nil
	t.children = slices.DeleteFunc(t.children, func(field *trie) bool {
		field.entry, field.order = nil, nil
		isLabels := field.step.Name == "labels"
		field.tags = true
		field.children = slices.DeleteFunc(field.children, func(k *trie) bool { return !k.isTag(isLabels) })
		return !isLabels && field.step.Name != "annotations"
	})
	return true
}

// isTag reports whether a trie is a valid label or annotation. The API server refuses a whole
// answer for an invalid one (k8s.io/apiextensions-apiserver/pkg/apiserver/conversion,
// restoreObjectMeta).
func (t *trie) isTag(isLabel bool) bool {
	name := t.step.Name
	if t.step.Keys != nil || t.entry == nil || len(t.children) > 0 || annotation.IsOwn(name) {
		return false
	}
	if isLabel && len(validation.IsQualifiedName(name)) > 0 || len(validation.IsQualifiedName(strings.ToLower(name))) > 0 {
		return false
	}
	switch t.entry.Kind {
	case annotation.KindAbsent:
		return true
	case annotation.KindValue:
		return len(t.entry.Value) > 0 && t.entry.Value[0] == '"' &&
			(!isLabel || len(validation.IsValidLabelValue(jsondoc.Unquote(t.entry.Value))) == 0)
	case annotation.KindList, annotation.KindOrder:
	}
	return false
}

// visit goes through a trie, at the value n or nil, and decides which entries return.
func (r *restorer) visit(t *trie, n *jsondoc.Node, c cursor) {
	if t.node, t.cursor = n, c; r.stopped() {
		return
	}
	r.judge(t, n, c)
	if n == nil && c.misses(t.step.Keys, len(r.path)) {
		return
	}
	if len(t.children) == 0 {
		return
	}
	find := r.finderOf(n, c.schema.Items())
	for _, child := range t.children {
		m, i, err := find.part(child.step)
		r.note(err)
		if m == nil && len(find.list) == 0 && c.place.needsFirst(child.step.Keys) {
			continue // it would become the first one
		}
		if n != nil && t.isKey(child.step.Name) && child.entry != nil && child.entry.Kind == annotation.KindAbsent {
			continue // an element without its key is never made
		}
		var next cursor
		if child.step.Keys == nil {
			next = c.member(child.step.Name, len(r.path)+1, n, nil)
		} else {
			at := at{index: i, shown: m, keys: child.step.Keys}
			if m == nil {
				at.counterpart = r.counterpart(c, child.step.Keys)
			}
			next = c.element(len(r.path)+1, n, at)
		}
		r.push(child.step, m)
		before := len(r.watched)
		if m == nil && !child.tags { // no labels are like empty ones
			r.missing(next)
		}
		r.visit(child, m, next)
		r.watched = r.watched[:before]
		r.pop()
	}
}

// judge decides whether the entries of the place itself return.
func (r *restorer) judge(t *trie, n *jsondoc.Node, c cursor) {
	if t.valid = t.entry != nil && r.counts(t.entry, n, c); t.valid {
		t.entry.Of = c.claim(true)
		t.unshown = t.entry.Kind == annotation.KindValue && r.isUnshown(n, c, t.entry)
		inside := c.computed || c.outer != nil || c.unit != nil && c.unit.Computed && c.unitAt < len(r.path)
		if inside && !c.unknown() { // no converter makes what no schema knows
			r.done.inside = append(r.done.inside, t.entry)
		}
		if t.entry.Kind == annotation.KindList && n != nil {
			t.matched = r.list(t.entry, n, c)
		}
	}
	if t.order != nil {
		t.inOrder = len(t.order.Order) > 0 && r.hasAround(t.order.Around, c) && t.order.Inputs == r.orderOf(t, n)
		t.added = len(t.order.Added) > 0 && r.hasAround(t.order.Around, c)
	}
}

// isUnshown reports whether the other version shows nothing but defaults of a value, and showed
// nothing when it was kept. Inputs in status always have the object's uid.
func (r *restorer) isUnshown(n *jsondoc.Node, c cursor, e *annotation.Entry) bool {
	now := r.inputs(n, c, e)
	return now.Sum == now.Absent && (!e.Inputs.Any || c.inStatus)
}

// orderOf returns the digest of the order of a list's elements, without those that were not shown
// when the order was kept.
func (r *restorer) orderOf(t *trie, n *jsondoc.Node) annotation.Digest {
	fields, _ := fieldsOf(t.order.Order[0])
	return orderOf(slices.DeleteFunc(distinctKeys(r.elements(n), fields, t.cursor.schema.Items()), func(keys []annotation.Key) bool {
		element := t.find(annotation.PathElement{Keys: keys})
		return element != nil && element.entry != nil && element.entry.Kind == annotation.KindValue
	}))
}

// hasAround reports whether the other version still shows what is around a value.
func (r *restorer) hasAround(depth int, c cursor) bool {
	return len(r.path) > 0 && r.path[0].Name == "metadata" || c.around >= depth
}

// counts reports whether an entry returns.
func (r *restorer) counts(e *annotation.Entry, n *jsondoc.Node, c cursor) bool {
	if !r.hasAround(e.Around, c) || c.place.dropped() {
		return false
	}
	switch e.Kind {
	case annotation.KindList:
		return n.Kind() == jsondoc.Array || n.Kind() == jsondoc.Map && c.place != nil && c.place.Element ||
			n == nil && !c.tracked && c.place.hasFirst()
	case annotation.KindAbsent:
		return r.showsInputs(n, c, e)
	case annotation.KindValue, annotation.KindOrder:
	}
	if n != nil && c.unknown() {
		r.done.keepUnknown(survivor(r.path, n))
	}
	if n.Kind() == jsondoc.Map && e.IsPresence() {
		return false
	}
	if keys := lastKeys(r.path); keys != nil && (n != nil || !isElement(e.Value, keys, c.schema)) {
		return false
	}
	return c.fits(e.Value) && (r.showsInputs(n, c, e) || n == nil && c.unbound() && len(r.watched) == 0 && !c.inStatus)
}

// showsInputs reports whether the object that is converted shows the inputs of an entry. Fragments
// of server-side apply, and so their managers, know of no uid.
func (r *restorer) showsInputs(n *jsondoc.Node, c cursor, e *annotation.Entry) bool {
	return c.areInputs(r.inputs(n, c, e), e)
}

// areInputs reports whether a digest is that of an entry's inputs.
func (c cursor) areInputs(s annotation.Digest, e *annotation.Entry) bool {
	is := func(sum uint64) bool {
		return sum == e.Inputs.Sum || sum-s.Absent == e.Inputs.Sum && !e.Inputs.IsDefaults()
	}
	return is(s.Sum) || is(c.ofObject(s).Sum)
}

func lastKeys(path annotation.Path) []annotation.Key {
	if len(path) == 0 {
		return nil
	}
	return path[len(path)-1].Keys
}

// isElement reports whether a value is an element with some keys, or only says that there is one.
func isElement(value []byte, keys []annotation.Key, s *crdschema.Node) bool {
	if string(value) == "{}" {
		return true
	}
	n, err := parsed(value)
	return err == nil && hasKeys(n, keys, s)
}

// parsed parses any JSON value.
func parsed(text []byte) (*jsondoc.Node, error) {
	o, err := jsondoc.ParseObject(slices.Concat([]byte(`{"":`), text, []byte("}")))
	if err != nil {
		return nil, err
	}
	return o.Member("")
}

// Claims are units in scopes of the object that is converted. An edit of one place of a unit is an
// edit of all.
type Claims map[annotation.Claim]bool

// Claims returns the units to which values returned in what an expression makes. Their inputs are
// not known one by one, so they may contradict the object that is converted.
func (r *Restored) Claims() Claims {
	if r == nil || len(r.inside) == 0 {
		return nil
	}
	all := make(Claims, 1)
	for _, e := range r.inside {
		all[e.Of] = true
	}
	return all
}

// Disputed returns the claims to which an entry belongs that has no counterpart among others.
func (c Claims) Disputed(entries, others []*annotation.Entry) Claims {
	known := map[string]bool{}
	eachPlace(others, "", func(place string, _ *annotation.Entry) { known[place] = true })
	disputed := Claims{}
	eachPlace(entries, "", func(place string, e *annotation.Entry) {
		if c[e.Of] && !known[place] {
			disputed[e.Of] = true
		}
	})
	return disputed
}

// eachPlace visits all entries, also those of elements, with texts that identify their places.
func eachPlace(entries []*annotation.Entry, in string, visit func(place string, e *annotation.Entry)) {
	for _, e := range entries {
		place := in + string(e.Path.AppendJSON(nil))
		visit(place, e)
		if e.List == nil {
			continue
		}
		for _, k := range e.List.Elements {
			eachPlace(k.Kept, place+strconv.Itoa(k.Index), visit)
		}
	}
}

// Without returns the entries that belong to none of the claims.
func (c Claims) Without(entries []*annotation.Entry) []*annotation.Entry {
	var left []*annotation.Entry
	for _, e := range entries {
		switch {
		case c[e.Of]:
		case e.List != nil:
			left = append(left, c.withoutElements(e))
		default:
			left = append(left, e)
		}
	}
	return left
}

// withoutElements returns a copy of an entry without those of its elements that belong to the
// claims.
func (c Claims) withoutElements(e *annotation.Entry) *annotation.Entry {
	list := *e.List
	list.Elements = make([]*annotation.Element, 0, len(e.List.Elements))
	for _, k := range e.List.Elements {
		left := *k
		left.Kept = c.Without(k.Kept)
		list.Elements = append(list.Elements, &left)
	}
	left := *e
	left.List = &list
	return &left
}
