package keep

import (
	"context"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// Restored tells Diff what Restore has done in the same conversion.
type Restored struct {
	// gained are values that returned where nothing was shown, though the other version has a place
	// for them.
	gained map[*jsondoc.Node]bool
	// survived are fields that no schema knows and that conversion has kept anyway.
	survived map[string]bool
	// loose are entries that returned below a place of a unit that is there.
	loose []*Entry
}

// Loose returns the entries that returned below a place of a unit that is there, such as a field of
// an object that an expression makes. An edit of another field does not invalidate them. So the
// object may convert back to something else with them than without them, and no user has written
// that.
func (r *Restored) Loose() []*Entry { return r.loose }

func (r *Restored) gains(n *jsondoc.Node) {
	if r.gained == nil {
		r.gained = map[*jsondoc.Node]bool{}
	}
	r.gained[n] = true
}

func (r *Restored) survives(field string) {
	if r.survived == nil {
		r.survived = map[string]bool{}
	}
	r.survived[field] = true
}

// survivor identifies a field by its name and value, wherever it moves.
func survivor(path Path, n *jsondoc.Node) string { return path[len(path)-1].Name + " " + digestText(n) }

// Restore puts valid entries back into obj, the result of converting y to the layout's version. An
// entry is valid if obj shows its base; one in a list, if its element is still there. All are
// judged before any is put back. Restore leaves out values that do not fit the schema or whose
// place has something else.
//
// It takes time in proportion to the object and the entries, and memory from m. It fails if the
// context is done, or for an object with too many members.
func Restore(ctx context.Context, m *Memory, obj, y *jsondoc.Object, kept []*Entry, l *Layout) (*Restored, error) {
	r := &restorer{
		walker: newWalker(ctx, obj, l),
		done:   &Restored{},
	}
	r.forest = &m.forest
	t := r.forest.tree(kept)
	t.kids = slices.DeleteFunc(t.kids, func(k *branch) bool { return !k.restorable() })
	r.visit(t, obj.Node, l.root(y))
	if r.err == nil {
		r.apply(t, obj.Node, 0)
	}
	return r.done, r.err
}

// A restorer judges entries and puts them back.
type restorer struct {
	walker // of the object

	forest *forest
	done   *Restored // nil: Stored, which only adds digests
	has    int       // how many steps of the path the object has
	there  int       // of these, up to where the other version is known to have something
}

// A branch is a place of the object with its entries and those below it.
type branch struct {
	step  Step
	kids  []*branch
	index map[string]*branch // of kids, if there are many
	entry *Entry             // of the place itself
	order *Entry             // of the list at the place
	tags  bool               // it is all labels or all annotations
	// Set by visit.
	valid   bool // the entry returns
	inOrder bool // the list has its order of when that was kept
	extra   bool // elements that their keys do not identify return to the list
	matched *matchedList
	node    *jsondoc.Node
	cursor  cursor
}

// tree sorts entries by their places. The first of two entries for one place wins.
func (f *forest) tree(kept []*Entry) *branch {
	root := f.plant(branch{})
	for _, e := range kept {
		b := root
		for i := range e.path {
			b = b.kid(e.path[i], f)
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

// kid returns the branch of a step, and creates it if necessary.
func (b *branch) kid(s Step, f *forest) *branch {
	kid := b.find(s)
	if kid != nil {
		return kid
	}
	kid = f.plant(branch{step: s})
	b.kids = append(b.kids, kid)
	if b.index != nil {
		b.index[s.id()] = kid
	}
	return kid
}

// find returns the branch of a step, or nil. Most branches have few, which need no index
// (BenchmarkKinds).
func (b *branch) find(s Step) *branch {
	const few = 8
	if len(b.kids) <= few {
		for _, kid := range b.kids {
			if kid.step.Name == s.Name && (kid.step.Keys == nil) == (s.Keys == nil) && slices.Equal(kid.step.Keys, s.Keys) {
				return kid
			}
		}
		return nil
	}
	if b.index == nil {
		b.index = make(map[string]*branch, 2*len(b.kids))
		for _, kid := range b.kids {
			b.index[kid.step.id()] = kid
		}
	}
	return b.index[s.id()]
}

// id is the same for equal steps.
func (s Step) id() string {
	if s.Keys != nil {
		return "[" + string(appendKeys(nil, s.Keys))
	}
	return "." + s.Name
}

// restorable removes from a branch of the root what conversions must not change. Of metadata it
// leaves labels and annotations that the API server accepts and that are not webhookd's own. It
// reports whether the branch stays.
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

// isTag reports whether a branch is a valid label or annotation. The API server refuses a whole
// answer for an invalid one (k8s.io/apiextensions-apiserver/pkg/apiserver/conversion,
// restoreObjectMeta).
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

// Stored adds digests to the entries of Diff: y is the object as the API server stores it, after
// pruning and defaulting, and g is what y converts back to.
func Stored(ctx context.Context, m *Memory, entries []*Entry, g, y *jsondoc.Object, l *Layout) error {
	r := &restorer{walker: newWalker(ctx, g, l), forest: &m.forest}
	r.visit(r.forest.tree(entries), g.Node, l.root(y))
	return r.err
}

// visit goes through a branch, at the value n or nil. It decides which entries return, or adds
// digests to them.
func (r *restorer) visit(b *branch, n *jsondoc.Node, c cursor) {
	if b.node, b.cursor = n, c; r.stopped() {
		return
	}
	if r.done == nil {
		r.stored(b, n, c)
	} else {
		if b.valid = b.entry != nil && r.counts(b.entry, n, c); b.valid && b.entry.kind == isList && n != nil {
			b.matched = r.list(b.entry, n, c)
		}
		if b.valid && c.unit != nil && !c.unitBelow && c.unitAt < len(r.path) && r.scopes[c.unitAt] != nil {
			r.done.loose = append(r.done.loose, b.entry)
		}
		b.inOrder = b.order != nil && r.orderCounts(b.order, n)
		b.extra = b.order != nil && len(b.order.extra) > 0 && r.there >= b.order.in
	}
	if len(b.kids) == 0 {
		return
	}
	find := r.finder(n)
	var peers *peers
	for _, kid := range b.kids {
		if slices.ContainsFunc(b.step.Keys, func(k Key) bool { return k.Name == kid.step.Name }) {
			continue // the element is known by it
		}
		m, at, err := find.part(kid.step)
		r.note(err)
		next := cursor{}
		if kid.step.Keys == nil {
			next = c.member(kid.step.Name, len(r.path)+1)
		} else {
			if peers == nil {
				peers = newPeers(c, len(find.list))
			}
			peer, tracked := peers.find(kid.step.Keys, at)
			next = c.keyedElement(len(r.path)+1, n, peer, tracked)
		}
		has, there := r.has, r.there
		if r.push(kid.step, m); has == len(r.path)-1 && (m != nil || kid.step.Keys != nil && next.peer != nil) {
			r.has++
			if !next.missing() {
				r.there = r.has
			}
		}
		if m == nil {
			r.missing(next)
			next = next.nothing(len(r.path))
		}
		r.visit(kid, m, next)
		r.pop()
		r.has, r.there = has, there
	}
}

// A finder finds the parts of a value by steps.
type finder struct {
	of     *jsondoc.Node
	list   []*jsondoc.Node           // of a list
	byKeys map[string]map[string]int // the index of each element, by its keys, by their fields
}

func (r *restorer) finder(n *jsondoc.Node) finder {
	if n.Kind() == jsondoc.Array {
		return finder{of: n, list: r.elements(n)}
	}
	return finder{of: n}
}

// part returns the part that a step leads to, or nil, and the index of an element, or -1.
func (f *finder) part(s Step) (part *jsondoc.Node, at int, err error) {
	if s.Keys == nil {
		part, err = f.of.Member(s.Name)
		return part, -1, err
	}
	i := f.element(s.Keys)
	if i < 0 {
		return nil, -1, nil
	}
	return f.list[i], i, nil
}

// element returns the index of the first element with some keys, or -1.
func (f *finder) element(keys []Key) int {
	if len(f.list) <= fewKeys {
		return slices.IndexFunc(f.list, func(e *jsondoc.Node) bool { return hasKeys(e, keys) })
	}
	fields, of := fieldsOf(keys)
	if f.byKeys[of] == nil {
		if len(f.byKeys) == maxKeySets {
			return -1
		}
		if f.byKeys == nil {
			f.byKeys = map[string]map[string]int{}
		}
		f.byKeys[of] = indexBy(f.list, fields)
	}
	if i, found := f.byKeys[of][index(keys)]; found {
		return i
	}
	return -1
}

// maxKeySets limits the sets of key fields of a list. Annotations of webhookd use one.
const maxKeySets = 4

func fieldsOf(keys []Key) (fields []string, joined string) {
	for _, k := range keys {
		fields = append(fields, k.Name)
		joined += k.Name + "\x00"
	}
	return fields, joined
}

// indexBy returns the index of the first element with each of the keys.
func indexBy(list []*jsondoc.Node, fields []string) map[string]int {
	by := make(map[string]int, len(list))
	for i, e := range list {
		keys, ok := keysOf(e, fields)
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
func (r *restorer) counts(e *Entry, n *jsondoc.Node, c cursor) bool {
	if r.there < e.in && e.kind != isAbsent || c.place.dropped() {
		return false
	}
	switch e.kind {
	case isList:
		return n.Kind() == jsondoc.Array || n.Kind() == jsondoc.Map && c.place != nil && c.place.Element ||
			n == nil && c.place != nil && c.place.First && c.place.Bridge
	case isAbsent:
		return n != nil && r.shows(e, n, c)
	case isValue, isOrder:
	}
	if n != nil && c.unknown() {
		r.done.survives(survivor(r.path, n))
	}
	if keys := lastKeys(r.path); keys != nil && (n != nil || !isElement(e.value, keys)) {
		return false
	}
	return c.fits(e.value) && (r.shows(e, n, c) || n == nil && c.unbound())
}

func lastKeys(path Path) []Key {
	if len(path) == 0 {
		return nil
	}
	return path[len(path)-1].Keys
}

// isElement reports whether a value is an element with some keys, or only says that there is one.
func isElement(value []byte, keys []Key) bool {
	if string(value) == "{}" {
		return true
	}
	n, err := parsed(value)
	return err == nil && hasKeys(n, keys)
}

// shows reports whether the object shows the base of an entry, with or without values that a schema
// fills in.
func (r *restorer) shows(e *Entry, n *jsondoc.Node, c cursor) bool {
	if n == nil {
		c = c.nothing(len(r.path))
	}
	if !e.base.has(r.base(n, c, true)) && !e.base.has(r.base(n, c, false)) {
		return false
	}
	absent := e.kind == isAbsent
	if !e.watch.has(r.watch(c, absent, true)) && !e.watch.has(r.watch(c, absent, false)) {
		return false
	}
	if e.shownBy != "" && e.shownBy != r.otherVersion {
		return true
	}
	presence := absent || r.lacks(n)
	return e.shown.has(r.shown(c, presence, true)) || e.shown.has(r.shown(c, presence, false))
}

// stored adds the digests of what is shown now.
func (r *restorer) stored(b *branch, n *jsondoc.Node, c cursor) {
	if b.order != nil {
		b.order.base.orElse(r.orderBase(b.order, n))
	}
	switch e := b.entry; {
	case e == nil:
	case e.kind != isList:
		if n == nil {
			c = c.nothing(len(r.path))
		}
		r.second(e, n, c)
	default:
		if c.hasUnit() {
			r.second(e, nil, c)
		}
		list, at := r.elementsAt(n, c)
		if len(list) != len(e.list.was) {
			return
		}
		for i, m := range list {
			e.list.was[i].orElse(stampOf(digest(m)))
		}
		for _, p := range e.list.parts {
			r.part(p.kept, list[p.at], at(p.at))
		}
	}
}

func (r *restorer) second(e *Entry, n *jsondoc.Node, c cursor) {
	e.base.orElse(r.base(n, c, true))
	e.watch.orElse(r.watch(c, e.kind == isAbsent, true))
	if e.shown.orElse(r.shown(c, e.kind == isAbsent || r.lacks(n), true)); e.shown.two {
		e.shownBy = r.otherVersion
	}
}

// elementsAt returns the elements of a list, or the object that is an element in the other version,
// and their cursors.
func (r *restorer) elementsAt(n *jsondoc.Node, c cursor) (list []*jsondoc.Node, at func(i int) cursor) {
	if n.Kind() == jsondoc.Map {
		return []*jsondoc.Node{n}, func(int) cursor { return c.alone() }
	}
	list = r.elements(n)
	return list, func(i int) cursor { return c.anElement(i, len(list)) }
}

// parsed parses any JSON value.
func parsed(text []byte) (*jsondoc.Node, error) {
	o, err := jsondoc.ParseObject(slices.Concat([]byte(`{"":`), text, []byte("}")))
	if err != nil {
		return nil, err
	}
	return o.Member("")
}

func (r *restorer) orderCounts(e *Entry, n *jsondoc.Node) bool {
	return len(e.order) > 0 && r.there >= e.in && e.base.has(r.orderBase(e, n))
}

// orderBase returns the digest of the order of a list's elements, without lone ones: rules may show
// these by now.
func (r *restorer) orderBase(e *Entry, n *jsondoc.Node) stamp {
	fields, _ := fieldsOf(e.order[0])
	keys := distinctKeys(r.elements(n), fields, e.order)
	if len(e.lone) == 0 {
		return orderBase(keys)
	}
	lone := make(map[string]bool, len(e.lone))
	for _, i := range e.lone {
		if i >= 0 && i < len(e.order) {
			lone[index(e.order[i])] = true
		}
	}
	return orderBase(slices.DeleteFunc(keys, func(k []Key) bool { return lone[index(k)] }))
}
