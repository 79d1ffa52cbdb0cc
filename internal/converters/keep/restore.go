package keep

import (
	"context"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// Restored is what Restore has done, as far as Diff has to know in the same conversion.
type Restored struct {
	// gained are the paths of values that have returned where nothing was shown in their place.
	gained map[string]bool
	// survived are fields that no schema knows, and that came through all the same.
	survived map[string]bool
}

// survivor returns what a field has wherever it is moved to: its name and its value.
func survivor(path Path, n *jsondoc.Node) string { return path[len(path)-1].Name + " " + digestText(n) }

// Restore puts kept values back into obj, which is what the conversion to the layout's version gives without them: those
// whose base is what obj shows, and of lists those of the elements that are still there. All are judged before any is put
// back. A value that does not fit the types of the schema, or a place where obj has something else, is left out.
//
// Y is the object that is converted. It costs time in proportion to the object and to what was kept. Its error is that of the context, or of an object with a
// repeated name.
func Restore(ctx context.Context, obj, y *jsondoc.Object, kept []*Entry, l *Layout) (*Restored, error) {
	r := &restorer{ctx: ctx, otherVersion: label(l.OtherVersion), done: &Restored{gained: map[string]bool{}, survived: map[string]bool{}}}
	t := tree(kept)
	t.kids = slices.DeleteFunc(t.kids, func(k *branch) bool { return !k.restorable() })
	r.object, r.scopes = obj.Node, []*jsondoc.Node{obj.Node}
	r.visit(t, obj.Node, l.root(y))
	if r.err == nil {
		r.apply(t, obj.Node, 0)
	}
	return r.done, r.err
}

// A restorer puts kept values back.
type restorer struct {
	ctx          context.Context //nolint:containedctx // lives as long as one call
	done         *Restored
	path         Path
	has          int // how much of the path the object has
	there        int // and of that, up to where the other version is known to have something
	object       *jsondoc.Node
	scopes       []*jsondoc.Node
	otherVersion string
	stored       bool // entries are not judged, but get what is shown as a second base
	looks        int
	err          error
}

func (r *restorer) note(err error) {
	if err != nil && r.err == nil {
		r.err = err
	}
}

func (r *restorer) stopped() bool {
	if r.looks++; r.looks%lookEvery == 0 {
		r.note(r.ctx.Err())
	}
	return r.err != nil
}

// A branch is a place of the object with what was kept of it and below it.
type branch struct {
	step  Step
	kids  []*branch
	byKey map[string]*branch
	entry *Entry // of the place itself
	order *Entry // of the list at the place
	// What judge says.
	valid   bool // the entry returns
	inOrder bool // the list shows what it showed when its order was kept
	node    *jsondoc.Node
	where   where
}

// tree sorts entries by their places. Of two for one place the first counts.
func tree(kept []*Entry) *branch {
	root := &branch{}
	for _, e := range kept {
		b := root
		for _, s := range e.path {
			b = b.kid(s)
		}
		switch {
		case e.kind == isOrder && b.order == nil:
			b.order = e
		case e.kind != isOrder && b.entry == nil:
			b.entry = e
		}
	}
	return root
}

// kid returns the branch of a step, which it makes.
func (b *branch) kid(s Step) *branch {
	key := "." + s.Name
	if s.Keys != nil {
		key = "[" + string(appendKeys(nil, s.Keys))
	}
	if kid := b.byKey[key]; kid != nil {
		return kid
	}
	kid := &branch{step: s}
	if b.byKey == nil {
		b.byKey = make(map[string]*branch)
	}
	b.byKey[key], b.kids = kid, append(b.kids, kid)
	return kid
}

// restorable leaves of a member of the root what conversions may change: of metadata, labels and annotations that the API
// server takes, and none of webhookd's own.
func (b *branch) restorable() bool {
	if b.step.Name != "metadata" {
		return b.step.Keys == nil && !isHead(b.step.Name)
	}
	b.entry, b.order = nil, nil
	b.kids = slices.DeleteFunc(b.kids, func(field *branch) bool {
		field.entry, field.order = nil, nil
		isLabels := field.step.Name == "labels"
		field.kids = slices.DeleteFunc(field.kids, func(k *branch) bool { return !k.isTag(isLabels) })
		return !isLabels && field.step.Name != "annotations"
	})
	return true
}

// isTag reports whether a branch is a label or an annotation that the API server takes: it refuses a whole answer for one that
// it does not (k8s.io/apiextensions-apiserver/pkg/apiserver/conversion, restoreObjectMeta).
func (b *branch) isTag(isLabel bool) bool {
	name := b.step.Name
	if b.step.Keys != nil || b.entry == nil || len(b.kids) > 0 || IsOwn(name) {
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

// Stored notes what the way back will give once the API server has pruned and defaulted the object at the other version, as it
// does when it stores or is sent it: y is that object, and g what the way back gives for it. Entries are as Diff has returned them.
func Stored(ctx context.Context, entries []*Entry, g, y *jsondoc.Object, l *Layout) error {
	r := &restorer{ctx: ctx, otherVersion: label(l.OtherVersion), object: g.Node, scopes: []*jsondoc.Node{g.Node}, stored: true}
	r.visit(tree(entries), g.Node, l.root(y))
	return r.err
}

// visit goes to a place and what is below it: n is what the object has there, or nil. It decides which entries return, or notes
// what they show.
func (r *restorer) visit(b *branch, n *jsondoc.Node, w where) {
	if b.node, b.where = n, w; r.stopped() {
		return
	}
	switch {
	case r.stored:
		r.note(r.shown(b, n, w))
	default:
		b.valid = b.entry != nil && r.counts(b.entry, n, w)
		b.inOrder = b.order != nil && r.orderCounts(b.order, n)
	}
	if len(b.kids) == 0 {
		return
	}
	find := r.finder(b, n)
	for _, kid := range b.kids {
		if slices.ContainsFunc(b.step.Keys, func(k Key) bool { return k.Name == kid.step.Name }) {
			continue // it is what the element is known by
		}
		m := find(kid.step)
		next := where{}
		if kid.step.Keys == nil {
			next = w.member(kid.step.Name, len(r.path)+1)
		} else {
			next = w.element(len(r.path)+1, w.indexOf(n, m))
		}
		depth, has, there := len(r.path), r.has, r.there
		r.path, r.scopes = append(r.path, kid.step), append(r.scopes, m)
		if m != nil && has == depth {
			r.has++
			if !next.missing() {
				r.there = r.has
			}
		}
		r.visit(kid, m, next)
		r.path, r.scopes, r.has, r.there = r.path[:depth], r.scopes[:depth+1], has, there
	}
}

// finder returns a function that finds the part of a value that a step leads to, or nil.
func (r *restorer) finder(b *branch, n *jsondoc.Node) func(s Step) *jsondoc.Node {
	list, err := membersOf(n)
	r.note(err)
	byName := func(string) *jsondoc.Node { return nil }
	if n.Kind() == jsondoc.Map {
		byName = lookup(list)
	}
	byKeys := map[string]map[string]*jsondoc.Node{} // by the fields of the keys
	return func(s Step) *jsondoc.Node {
		if s.Keys == nil {
			return byName(s.Name)
		}
		if n.Kind() != jsondoc.Array {
			return nil
		}
		fields, of := fieldsOf(s.Keys)
		if byKeys[of] == nil {
			if len(byKeys) == maxKeySets {
				return nil
			}
			byKeys[of] = elementsBy(list, fields)
		}
		return byKeys[of][index(s.Keys)]
	}
}

// maxKeySets bounds by how many sets of fields the elements of a list may be known. Ours has one.
const maxKeySets = 4

func fieldsOf(keys []Key) (fields []string, joined string) {
	for _, k := range keys {
		fields = append(fields, k.Name)
		joined += k.Name + "\x00"
	}
	return fields, joined
}

func elementsBy(list []member, fields []string) map[string]*jsondoc.Node {
	by := make(map[string]*jsondoc.Node, len(list))
	for _, e := range list {
		if keys, ok := keysOf(e.value, fields); ok && by[index(keys)] == nil {
			by[index(keys)] = e.value
		}
	}
	return by
}

// counts reports whether an entry returns.
func (r *restorer) counts(e *Entry, n *jsondoc.Node, w where) bool {
	if r.there < e.in && e.kind != isAbsent || !w.known && !w.unknown() && !w.opaque || w.place.dropped() {
		return false
	}
	switch e.kind {
	case isList:
		return n.Kind() == jsondoc.Array || n.Kind() == jsondoc.Map && w.place != nil && w.place.Element ||
			n == nil && w.place != nil && w.place.First && w.place.Bridge
	case isAbsent:
		return n != nil && r.shows(e, n, w)
	case isValue, isOrder:
	}
	if n != nil && w.unknown() {
		r.done.survived[survivor(r.path, n)] = true
	}
	ofElement := len(r.path) > 0 && r.path[len(r.path)-1].Keys != nil
	if !w.fits(e.value) || !r.shows(e, n, w) || ofElement && n != nil {
		return false
	}
	if e.base == "" {
		r.done.gained[r.path.plain()] = true
	}
	return true
}

// shows reports whether the object shows at the unit of an entry what it showed when that was kept. What only a schema has
// filled in may be there or not.
func (r *restorer) shows(e *Entry, n *jsondoc.Node, w where) bool {
	if !isOneOf(r.base(n, w), e.base) && !(w.filled(n) && isOneOf(r.base(nil, w), e.base)) {
		return false
	}
	version, was, _ := strings.Cut(e.shown, ":")
	return version != "" && version != r.otherVersion || isOneOf(r.otherShows(n, w), was) || e.shown == "" && fills(w.other, w.peer)
}

func (r *restorer) base(n *jsondoc.Node, w where) string {
	return baseOf(n, w, r.path, r.scope, r.note)
}

func (r *restorer) otherShows(n *jsondoc.Node, w where) string {
	return w.shown(n, r.scope, len(r.path))
}

func (r *restorer) scope(depth int) *jsondoc.Node {
	if depth == ofObject {
		return r.object
	}
	return r.scopes[depth]
}

// isOneOf reports whether a digest is one of those that slashes separate.
func isOneOf(digest, all string) bool {
	first, second, two := strings.Cut(all, "/")
	return digest == first || two && digest == second
}

// orElse adds a second digest to one, if it is another.
func orElse(digest, second string) string {
	if digest == second {
		return digest
	}
	return digest + "/" + second
}

// shown notes what is shown now as the second base of the entries at a place.
func (r *restorer) shown(b *branch, n *jsondoc.Node, w where) error {
	if b.order != nil {
		b.order.base = orElse(b.order.base, r.orderBase(b.order, n))
	}
	switch e := b.entry; {
	case e == nil:
	case e.kind != isList:
		e.base = orElse(e.base, r.base(n, w))
		if _, was, _ := strings.Cut(e.shown, ":"); was != r.otherShows(n, w) {
			e.shown = versioned(r.otherVersion, was+"/"+r.otherShows(n, w))
		}
	default:
		list, of, err := elementsAt(n, w)
		if err != nil || len(list) != len(e.list.was) {
			return err
		}
		for i, m := range list {
			e.list.was[i] = orElse(e.list.was[i], digestText(m.value))
		}
		return r.shownParts(e.list, list, of)
	}
	return nil
}

// elementsAt returns the elements of a list, or the object that is one in the other version, and where each of them is.
func elementsAt(n *jsondoc.Node, w where) (list []member, at func(i int) where, err error) {
	if n.Kind() == jsondoc.Map {
		return []member{{value: n}}, func(int) where { return w.alone() }, nil
	}
	list, err = membersOf(n)
	return list, func(i int) where { return w.anElement(w.paired(i, len(list))) }, err
}

// shownParts is shown for what was kept of the elements of a list.
func (r *restorer) shownParts(l *listEntry, list []member, at func(i int) where) error {
	for i, kept := range l.parts {
		sub := &restorer{ctx: r.ctx, otherVersion: r.otherVersion, object: r.object, scopes: []*jsondoc.Node{list[i].value}, stored: true}
		if sub.visit(tree(kept), list[i].value, at(i)); sub.err != nil {
			return sub.err
		}
	}
	return nil
}

// parsed returns the value that a text is.
func parsed(text []byte) (*jsondoc.Node, error) {
	o, err := jsondoc.ParseObject(slices.Concat([]byte(`{"":`), text, []byte("}")))
	if err != nil {
		return nil, err
	}
	return o.Member("")
}

func (r *restorer) orderCounts(e *Entry, n *jsondoc.Node) bool {
	return len(e.order) > 0 && r.there >= e.in && isOneOf(r.orderBase(e, n), e.base)
}

// orderBase returns the digest of the order in which a list shows the elements, by the keys that were kept.
func (r *restorer) orderBase(e *Entry, n *jsondoc.Node) string {
	list, err := membersOf(n)
	r.note(err)
	fields, _ := fieldsOf(e.order[0])
	return orderBase(distinctKeys(list, fields))
}
