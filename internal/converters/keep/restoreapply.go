package keep

import (
	"bytes"
	"slices"

	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// returns reports whether an entry of a branch makes a value where there is none.
func (b *branch) returns() bool {
	if b.valid && (b.entry.kind == isValue || b.entry.kind == isList && b.node == nil) {
		return true
	}
	return slices.ContainsFunc(b.kids, (*branch).returns)
}

// changes reports whether an entry of a branch changes the object.
func (b *branch) changes() bool {
	return b.valid || b.order != nil || slices.ContainsFunc(b.kids, (*branch).changes)
}

// apply restores the valid entries at a place and below it. It reports whether the value at the
// place goes, since it was absent.
func (r *restorer) apply(b *branch, n *jsondoc.Node, depth int) (goes bool) {
	switch {
	case r.stopped() || !b.changes():
		return false
	case b.valid && b.entry.kind == isValue:
		r.replace(n, b.entry.value)
		if b.gains() {
			r.done.gains(n)
		}
		return false
	case b.valid && b.entry.kind == isAbsent:
		return true
	case b.valid && b.entry.kind == isList:
		r.distinctly(b, n, func() { r.applyList(b.matched, b.entry.list, n) })
		return false
	}
	if n.Kind() == jsondoc.Map {
		return r.applyMembers(b, n, depth)
	}
	if n.Kind() == jsondoc.Array {
		r.distinctly(b, n, func() { r.applyElements(b, n, depth) })
	}
	return false
}

// distinctly edits a list, and undoes that if two elements then have the same keys.
func (r *restorer) distinctly(b *branch, n *jsondoc.Node, edit func()) {
	if b.cursor.schema.ListType() == "" || n.Kind() != jsondoc.Array || !areDistinct(b.cursor.schema, n) {
		edit()
		return
	}
	was := bytes.Clone(n.Text())
	if edit(); !areDistinct(b.cursor.schema, n) {
		r.replace(n, was)
	}
}

func (r *restorer) replace(n *jsondoc.Node, text []byte) {
	v, err := jsondoc.RawValue(text)
	r.note(err)
	if err == nil {
		n.Replace(v)
	}
}

// applyMembers edits an object, and reports whether it goes: labels or annotations with nothing
// left.
func (r *restorer) applyMembers(b *branch, n *jsondoc.Node, depth int) bool {
	var gone []string
	for _, kid := range b.kids {
		name := kid.step.Name
		switch {
		case kid.step.Keys != nil:
		case kid.node != nil && kid.node.Kind() != jsondoc.Null:
			if r.apply(kid, kid.node, depth+1) {
				gone = append(gone, name)
			}
		case kid.returns():
			if made := r.made(kid); kid.cursor.fits(made) {
				v, err := jsondoc.RawValue(made)
				r.note(err)
				if kid.node != nil { // null
					kid.node.Replace(v)
				} else {
					r.note(n.AppendMember(name, v))
				}
				r.gainBelow(kid, n)
			}
		case kid.node != nil && kid.valid && kid.entry.kind == isAbsent:
			gone = append(gone, name)
		}
	}
	if len(gone) == 0 {
		return false
	}
	left, goes := 0, nameSet(gone)
	r.note(n.Filter(func(name []byte, _ jsondoc.Member) bool {
		if goes(name) {
			return false
		}
		left++
		return true
	}))
	return left == 0 && b.tags
}

// nameSet returns a function that reports whether names contain one.
func nameSet(names []string) func(name []byte) bool {
	if len(names) <= fewKeys {
		return func(name []byte) bool {
			return slices.ContainsFunc(names, func(other string) bool { return other == string(name) })
		}
	}
	all := make(map[string]bool, len(names))
	for _, name := range names {
		all[name] = true
	}
	return func(name []byte) bool { return all[string(name)] }
}

// gains reports whether a value returns where nothing was shown, though the other version may have
// a place for it.
func (b *branch) gains() bool {
	return b.valid && b.entry.kind == isValue && b.entry.base == (stamps{}) && !b.cursor.oneSided() && !b.cursor.conditional
}

// gainBelow notes the gains of a branch that was made in n.
func (r *restorer) gainBelow(b *branch, n *jsondoc.Node) {
	if b.step.Keys != nil || !b.gainsBelow() {
		return
	}
	m, err := n.Member(b.step.Name)
	r.note(err)
	r.done.gains(m)
	for _, kid := range b.kids {
		r.gainBelow(kid, m)
	}
}

func (b *branch) gainsBelow() bool {
	return b.gains() || slices.ContainsFunc(b.kids, (*branch).gainsBelow)
}

// made returns the text of a value that entries make.
func (r *restorer) made(b *branch) []byte {
	if !b.valid || b.entry.kind != isList {
		return b.render()
	}
	list, err := parsed([]byte("[{}]")) // the other version has nothing left of the first element
	if r.note(err); err != nil {
		return []byte("[]")
	}
	r.applyList(r.list(b.entry, list, b.cursor), b.entry.list, list)
	return list.Text()
}

// render is made without the list of a place with First.
func (b *branch) render() []byte {
	if b.valid && b.entry.kind == isValue && (b.step.Keys == nil || len(b.entry.value) > len("{}")) {
		return b.entry.value
	}
	if b.isList() {
		var items []item
		for _, kid := range b.sorted() {
			items = append(items, item{kid.step.Keys, kid.render()})
		}
		return arrayOf(textsOf(b.withExtra(items)))
	}
	text := []byte{'{'}
	add := func(name string, value []byte) {
		if len(text) > 1 {
			text = append(text, ',')
		}
		text = append(append(jsondoc.AppendString(text, name), ':'), value...)
	}
	for _, k := range b.step.Keys {
		add(k.Name, []byte(k.Value))
	}
	for _, kid := range b.kids {
		if kid.step.Keys == nil && kid.returns() {
			add(kid.step.Name, kid.render())
		}
	}
	return append(text, '}')
}

func (b *branch) isList() bool {
	return slices.ContainsFunc(b.kids, func(k *branch) bool { return k.step.Keys != nil && k.returns() })
}

// sorted returns the elements that return, in their kept order.
func (b *branch) sorted() []*branch {
	list := slices.DeleteFunc(slices.Clone(b.kids), func(k *branch) bool { return k.step.Keys == nil || !k.returns() })
	if b.order == nil {
		return list
	}
	at := ranks(b.order.order)
	slices.SortStableFunc(list, func(x, y *branch) int { return at(x.step.Keys) - at(y.step.Keys) })
	return list
}

// ranks returns a function that gives the rank of an element's keys in an order. Elements that the
// order lacks come last.
func ranks(order [][]Key) func([]Key) int {
	at := make(map[string]int, len(order))
	for i, keys := range order {
		at[index(keys)] = i + 1
	}
	return func(keys []Key) int {
		if i := at[index(keys)]; i > 0 {
			return i
		}
		return len(order) + 1
	}
}

func arrayOf(texts [][]byte) []byte {
	return slices.Concat([]byte{'['}, bytes.Join(texts, []byte{','}), []byte{']'})
}

type item struct {
	keys []Key
	text []byte
}

// applyElements edits the elements of a list with keys.
func (r *restorer) applyElements(b *branch, n *jsondoc.Node, depth int) {
	var gone map[*jsondoc.Node]bool
	var made []item
	for _, kid := range b.kids {
		switch {
		case kid.step.Keys == nil:
		case kid.node != nil:
			if r.apply(kid, kid.node, depth+1) {
				if gone == nil {
					gone = map[*jsondoc.Node]bool{}
				}
				gone[kid.node] = true
			}
		case kid.returns():
			if text := kid.render(); kid.cursor.fits(text) {
				made = append(made, item{kid.step.Keys, text})
			}
		}
	}
	if len(gone) > 0 {
		r.note(n.Filter(func(_ []byte, m jsondoc.Member) bool { return !gone[m.Node()] }))
	}
	if len(made) == 0 && (b.order == nil || !b.inOrder && !b.extra) {
		return
	}
	list := r.elements(n)
	r.replace(n, arrayOf(textsOf(b.withExtra(b.arranged(list, b.others(list, made))))))
}

// others returns the new elements that are not duplicates of elements of the list.
func (b *branch) others(list []*jsondoc.Node, made []item) []item {
	d := newDistinct(b.cursor.schema, list)
	return slices.DeleteFunc(made, func(i item) bool { return !d.addText(i.text) })
}

// arranged returns the elements of a list and the new ones, in the kept order as far as that is
// still valid.
func (b *branch) arranged(list []*jsondoc.Node, late []item) []item {
	var items []item
	for _, e := range list {
		items = append(items, item{text: e.Text()})
	}
	if b.order == nil {
		return append(items, late...)
	}
	fields, _ := fieldsOf(b.order.order[0])
	for i, e := range list {
		items[i].keys, _ = keysOf(e, fields)
	}
	at := ranks(b.order.order)
	byOrder := func(x, y item) int { return at(x.keys) - at(y.keys) }
	if b.inOrder {
		items = append(items, late...)
		slices.SortStableFunc(items, byOrder)
		return items
	}
	slices.SortStableFunc(late, byOrder)
	return behind(items, late, b.order.order)
}

// behind inserts each late item behind the visible one that preceded it in the kept order.
func behind(items, late []item, order [][]Key) []item {
	visible := make(map[string]bool, len(items))
	for _, i := range items {
		visible[index(i.keys)] = true
	}
	last, after := "", make(map[string]string, len(order)) // the last visible element before each other one
	for _, keys := range order {
		if k := index(keys); visible[k] {
			last = k
		} else {
			after[k] = last
		}
	}
	follow := make(map[string][]item, len(late))
	for _, l := range late {
		k := after[index(l.keys)]
		follow[k] = append(follow[k], l)
	}
	all := slices.Clone(follow[""])
	for _, i := range items {
		all = append(append(all, i), follow[index(i.keys)]...)
	}
	return all
}

func textsOf(items []item) [][]byte {
	texts := make([][]byte, 0, len(items))
	for _, i := range items {
		texts = append(texts, i.text)
	}
	return texts
}
