package keep

import (
	"context"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

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
	inside []*Entry
}

func (r *Restored) mapNewly(n *jsondoc.Node) {
	if r.newlyMapped == nil {
		r.newlyMapped = map[*jsondoc.Node]bool{}
	}
	r.newlyMapped[n] = true
}

// newlyMaps reports whether a newly mapped value is at the end of a path or on its way.
func (r *Restored) newlyMaps(n *jsondoc.Node, path Path) bool {
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
func survivor(path Path, n *jsondoc.Node) string { return path[len(path)-1].Name + " " + digestText(n) }

// Restore puts valid entries back into obj, which x was converted to: those whose inputs x still
// shows. All are judged before any is put back. Restore leaves out values that do not fit the
// schema or whose place has something else. L is the layout of obj's version.
//
// It takes time in proportion to the object and the entries, and memory from m. It fails if the
// context is done, or for an object with too many members.
func Restore(ctx context.Context, m *Memory, obj, x *jsondoc.Object, trace *Trace, kept []*Entry, l *Layout) (*Restored, error) {
	r := &restorer{walker: newWalker(ctx, m, obj), done: &Restored{}}
	t := m.trie(kept)
	t.children = slices.DeleteFunc(t.children, func(k *branch) bool { return !k.restorable() })
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

// restorable removes from a branch of the root what conversions must not change. Of metadata it
// leaves labels and annotations that the API server accepts and that are not webhookd's own. It
// reports whether the branch stays.
func (b *branch) restorable() bool {
	if b.step.Name != "metadata" {
		return b.step.Keys == nil && !isHead(b.step.Name)
	}
	b.entry, b.order = nil, nil
	b.children = slices.DeleteFunc(b.children, func(field *branch) bool {
		field.entry, field.order = nil, nil
		isLabels := field.step.Name == "labels"
		field.tags = true
		field.children = slices.DeleteFunc(field.children, func(k *branch) bool { return !k.isTag(isLabels) })
		return !isLabels && field.step.Name != "annotations"
	})
	return true
}

// isTag reports whether a branch is a valid label or annotation. The API server refuses a whole
// answer for an invalid one (k8s.io/apiextensions-apiserver/pkg/apiserver/conversion,
// restoreObjectMeta).
func (b *branch) isTag(isLabel bool) bool {
	name := b.step.Name
	if b.step.Keys != nil || b.entry == nil || len(b.children) > 0 || IsOwn(name) {
		return false
	}
	if isLabel && len(validation.IsQualifiedName(name)) > 0 || len(validation.IsQualifiedName(strings.ToLower(name))) > 0 {
		return false
	}
	switch b.entry.kind {
	case isAbsent:
		return true
	case isValue:
		return len(b.entry.value) > 0 && b.entry.value[0] == '"' &&
			(!isLabel || len(validation.IsValidLabelValue(jsondoc.Unquote(b.entry.value))) == 0)
	case isList, isOrder:
	}
	return false
}

// visit goes through a branch, at the value n or nil, and decides which entries return.
func (r *restorer) visit(b *branch, n *jsondoc.Node, c cursor) {
	if b.node, b.cursor = n, c; r.stopped() {
		return
	}
	r.judge(b, n, c)
	if n == nil && c.misses(b.step.Keys, len(r.path)) {
		return
	}
	if len(b.children) == 0 {
		return
	}
	find := r.finderOf(n, c.schema.Items())
	for _, child := range b.children {
		m, i, err := find.part(child.step)
		r.note(err)
		if n != nil && b.isKey(child.step.Name) && child.entry != nil && child.entry.kind == isAbsent {
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

// judge decides whether the entries of the branch itself return.
func (r *restorer) judge(b *branch, n *jsondoc.Node, c cursor) {
	if b.valid = b.entry != nil && r.counts(b.entry, n, c); b.valid {
		b.entry.of = c.claim(true)
		b.unshown = b.entry.kind == isValue && r.isUnshown(n, c, b.entry)
		inside := c.computed || c.outer != nil || c.unit != nil && c.unit.Computed && c.unitAt < len(r.path)
		if inside && !c.unknown() { // no converter makes what no schema knows
			r.done.inside = append(r.done.inside, b.entry)
		}
		if b.entry.kind == isList && n != nil {
			b.matched = r.list(b.entry, n, c)
		}
	}
	if b.order != nil {
		b.inOrder = len(b.order.order) > 0 && r.hasAround(b.order.around, c) && b.order.inputs == r.orderOf(b, n)
		b.added = len(b.order.added) > 0 && r.hasAround(b.order.around, c)
	}
}

// isUnshown reports whether the other version shows nothing but defaults of a value, and showed
// nothing when it was kept. Inputs in status always have the object's uid.
func (r *restorer) isUnshown(n *jsondoc.Node, c cursor, e *Entry) bool {
	now := r.inputs(n, c, e)
	return now.sum == now.absent && (!e.inputs.any || c.inStatus)
}

// orderOf returns the digest of the order of a list's elements, without those that were not shown
// when the order was kept.
func (r *restorer) orderOf(b *branch, n *jsondoc.Node) stamp {
	fields, _ := fieldsOf(b.order.order[0])
	return orderOf(slices.DeleteFunc(distinctKeys(r.elements(n), fields, b.cursor.schema.Items()), func(keys []Key) bool {
		element := b.find(PathElement{Keys: keys})
		return element != nil && element.entry != nil && element.entry.kind == isValue
	}))
}

// hasAround reports whether the other version still shows what is around a value.
func (r *restorer) hasAround(depth int, c cursor) bool {
	return len(r.path) > 0 && r.path[0].Name == "metadata" || c.around >= depth
}

// counts reports whether an entry returns.
func (r *restorer) counts(e *Entry, n *jsondoc.Node, c cursor) bool {
	if !r.hasAround(e.around, c) && e.kind != isAbsent || c.place.dropped() {
		return false
	}
	switch e.kind {
	case isList:
		return n.Kind() == jsondoc.Array || n.Kind() == jsondoc.Map && c.place != nil && c.place.Element ||
			n == nil && !c.tracked && c.place.hasFirst()
	case isAbsent:
		return r.showsInputs(n, c, e)
	case isValue, isOrder:
	}
	if n != nil && c.unknown() {
		r.done.keepUnknown(survivor(r.path, n))
	}
	if n.Kind() == jsondoc.Map && e.isPresence() {
		return false
	}
	if keys := lastKeys(r.path); keys != nil && (n != nil || !isElement(e.value, keys, c.schema)) {
		return false
	}
	return c.fits(e.value) && (r.showsInputs(n, c, e) || n == nil && c.unbound() && len(r.watched) == 0 && !c.inStatus)
}

// showsInputs reports whether the object that is converted shows the inputs of an entry. Fragments
// of server-side apply, and so their managers, know of no uid.
func (r *restorer) showsInputs(n *jsondoc.Node, c cursor, e *Entry) bool {
	return r.inputs(n, c, e).isOf(e, c)
}

// isOf reports whether these are the inputs of an entry.
func (s stamp) isOf(e *Entry, c cursor) bool {
	is := func(sum uint64) bool {
		return sum == e.inputs.sum || sum-s.absent == e.inputs.sum && !e.inputs.isDefaults()
	}
	return is(s.sum) || is(s.ofObject(c).sum)
}

func lastKeys(path Path) []Key {
	if len(path) == 0 {
		return nil
	}
	return path[len(path)-1].Keys
}

// isElement reports whether a value is an element with some keys, or only says that there is one.
func isElement(value []byte, keys []Key, s *crdschema.Node) bool {
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
