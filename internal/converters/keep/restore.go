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
	// gained are values that have returned where nothing was shown in their place, although the other version has one for them.
	gained map[*jsondoc.Node]bool
	// survived are fields that no schema knows, and that came through all the same.
	survived map[string]bool
}

// survivor returns what a field has wherever it is moved to: its name and its value.
func survivor(path Path, n *jsondoc.Node) string { return path[len(path)-1].Name + " " + digestText(n) }

// Restore puts kept values back into obj, which is what the conversion to the layout's version gives without them: those
// whose base is what obj shows, and of lists those of the elements that are still there. All are judged before any is put
// back. A value that does not fit the types of the schema, or a place where obj has something else, is left out.
//
// Y is the object that is converted. It costs time in proportion to the object and to what was kept. Its error is that of the
// context, or of an object with more members than are looked at.
func Restore(ctx context.Context, obj, y *jsondoc.Object, kept []*Entry, l *Layout) (*Restored, error) {
	r := &restorer{
		deadline: newDeadline(ctx), memo: &memo{}, otherVersion: label(l.OtherVersion),
		done: &Restored{gained: map[*jsondoc.Node]bool{}, survived: map[string]bool{}},
	}
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
	deadline     *deadline
	memo         *memo
	done         *Restored
	path         Path
	has          int // how much of the path the object has
	there        int // and of that, up to where the other version is known to have something
	object       *jsondoc.Node
	scopes       []*jsondoc.Node
	otherVersion string
	stored       bool // entries are not judged, but get what is shown as a second base
	err          error
}

func (r *restorer) note(err error) {
	if err != nil && r.err == nil {
		r.err = err
	}
}

// stopped reports whether there is nothing more to be done. It is asked for each value.
func (r *restorer) stopped() bool {
	if r.err == nil {
		r.err = r.deadline.passed(1)
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
	tags  bool   // it is the labels or the annotations of the object
	// What visit says.
	valid   bool // the entry returns
	inOrder bool // the list shows what it showed when its order was kept
	listed  *listed
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
		field.tags = true
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
	r := &restorer{
		deadline: newDeadline(ctx), memo: &memo{}, otherVersion: label(l.OtherVersion),
		object: g.Node, scopes: []*jsondoc.Node{g.Node}, stored: true,
	}
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
		if b.valid = b.entry != nil && r.counts(b.entry, n, w); b.valid && b.entry.kind == isList && n != nil {
			b.listed = r.list(b.entry, n, w)
		}
		b.inOrder = b.order != nil && r.orderCounts(b.order, n)
	}
	if len(b.kids) == 0 {
		return
	}
	find := r.finder(n)
	for _, kid := range b.kids {
		if slices.ContainsFunc(b.step.Keys, func(k Key) bool { return k.Name == kid.step.Name }) {
			continue // it is what the element is known by
		}
		m, at, err := find.part(kid.step)
		r.note(err)
		next := where{}
		if kid.step.Keys == nil {
			next = w.member(kid.step.Name, len(r.path)+1)
		} else {
			next = w.element(len(r.path)+1, w.paired(at, len(find.list)))
		}
		depth, has, there := len(r.path), r.has, r.there
		r.path, r.scopes = append(r.path, kid.step), append(r.scopes, m)
		if m != nil && has == depth {
			r.has++
			if !next.missing() {
				r.there = r.has
			}
		}
		if m == nil {
			next = next.nothing(len(r.path))
		}
		r.visit(kid, m, next)
		r.path, r.scopes, r.has, r.there = r.path[:depth], r.scopes[:depth+1], has, there
	}
}

// A finder finds the parts of a value that steps lead to.
type finder struct {
	of     *jsondoc.Node
	list   []member                  // the elements of a list
	byKeys map[string]map[string]int // by the fields of the keys: where each of them is
}

func (r *restorer) finder(n *jsondoc.Node) *finder {
	f := &finder{of: n}
	if n.Kind() == jsondoc.Array {
		list, err := membersOf(n)
		r.note(err)
		f.list, f.byKeys = list, map[string]map[string]int{}
	}
	return f
}

// part returns the part that a step leads to, or nil, and the index of an element, or -1.
func (f *finder) part(s Step) (part *jsondoc.Node, at int, err error) {
	if s.Keys == nil {
		part, err = f.of.Member(s.Name)
		return part, -1, err
	}
	fields, of := fieldsOf(s.Keys)
	if f.byKeys[of] == nil {
		if len(f.list) == 0 || len(f.byKeys) == maxKeySets {
			return nil, -1, nil
		}
		f.byKeys[of] = indexBy(f.list, fields)
	}
	i, found := f.byKeys[of][index(s.Keys)]
	if !found {
		return nil, -1, nil
	}
	return f.list[i].value, i, nil
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

// indexBy returns where the first element with each of the keys is.
func indexBy(list []member, fields []string) map[string]int {
	by := make(map[string]int, len(list))
	for i, e := range list {
		keys, ok := keysOf(e.value, fields)
		if !ok {
			continue
		}
		if _, found := by[index(keys)]; !found {
			by[index(keys)] = i
		}
	}
	return by
}

// counts reports whether an entry returns.
func (r *restorer) counts(e *Entry, n *jsondoc.Node, w where) bool {
	if r.there < e.in && e.kind != isAbsent || w.place.dropped() {
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
	if keys := lastKeys(r.path); keys != nil && (n != nil || !isElement(e.value, keys)) {
		return false
	}
	return w.fits(e.value) && (r.shows(e, n, w) || n == nil && w.unbound())
}

func lastKeys(path Path) []Key {
	if len(path) == 0 {
		return nil
	}
	return path[len(path)-1].Keys
}

// isElement reports whether a value is one of an element with some keys, or only says that there is one.
func isElement(value []byte, keys []Key) bool {
	if string(value) == "{}" {
		return true
	}
	n, err := parsed(value)
	return err == nil && hasKeys(n, keys)
}

// shows reports whether the object shows at the unit of an entry what it showed when that was kept. What only a schema has
// filled in may be there or not.
func (r *restorer) shows(e *Entry, n *jsondoc.Node, w where) bool {
	if n == nil {
		w = w.nothing(len(r.path))
	}
	if !isOneOf(r.base(n, w, true), e.base) && !isOneOf(r.base(n, w, false), e.base) {
		return false
	}
	version, was, _ := strings.Cut(e.shown, ":")
	if version != "" && version != r.otherVersion {
		return true
	}
	return isOneOf(r.otherShows(e, n, w, true), was) || isOneOf(r.otherShows(e, n, w, false), was)
}

func (r *restorer) base(n *jsondoc.Node, w where, filled bool) string {
	return baseOf(n, w, filled, r.path, r.scope, r.note, r.memo)
}

func (r *restorer) otherShows(e *Entry, n *jsondoc.Node, w where, filled bool) string {
	return w.shown(n == nil || e.kind == isAbsent, filled, r.scope, len(r.path), r.memo)
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
		if n == nil {
			w = w.nothing(len(r.path))
		}
		r.second(e, n, w)
	default:
		if w.hasUnit() {
			r.second(e, nil, w)
		}
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

// second notes what the unit of an entry shows now as its second digests.
func (r *restorer) second(e *Entry, n *jsondoc.Node, w where) {
	e.base = orElse(e.base, r.base(n, w, true))
	if _, was, _ := strings.Cut(e.shown, ":"); was != r.otherShows(e, n, w, true) {
		e.shown = versioned(r.otherVersion, was+"/"+r.otherShows(e, n, w, true))
	}
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
		sub := &restorer{
			deadline: r.deadline, memo: r.memo, otherVersion: r.otherVersion,
			object: r.object, scopes: []*jsondoc.Node{list[i].value}, stored: true,
		}
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

// orderBase returns the digest of the order in which a list shows the elements, but for those that were not shown: these may
// have come to be.
func (r *restorer) orderBase(e *Entry, n *jsondoc.Node) string {
	list, err := membersOf(n)
	r.note(err)
	fields, _ := fieldsOf(e.order[0])
	lone := make(map[string]bool, len(e.lone))
	for _, i := range e.lone {
		if i >= 0 && i < len(e.order) {
			lone[index(e.order[i])] = true
		}
	}
	keys := slices.Clone(distinctKeys(list, fields))
	return orderBase(slices.DeleteFunc(keys, func(k []Key) bool { return lone[index(k)] }))
}
