package keep

import (
	"bytes"
	"maps"
	"slices"

	"github.com/crdconvert/webhookd/internal/converters/keep/annotation"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
)

// returns reports whether an entry of a trie makes a value where there is none.
func (t *trie) returns() bool {
	if t.valid && (t.entry.Kind == annotation.KindValue || t.entry.Kind == annotation.KindList && t.node == nil) {
		return true
	}
	return slices.ContainsFunc(t.children, (*trie).returns)
}

// removes reports whether an entry of a trie says that there is nothing.
func (t *trie) removes() bool { return t.valid && t.entry.Kind == annotation.KindAbsent }

// changes reports whether an entry of a trie changes the object.
func (t *trie) changes() bool {
	return t.valid || t.order != nil || slices.ContainsFunc(t.children, (*trie).changes)
}

// apply restores the valid entries at a place and below it. It reports whether the value at the
// place goes, since it was absent.
func (r *restorer) apply(t *trie, n *jsondoc.Node) (goes bool) {
	switch {
	case r.stopped() || !t.changes():
		return false
	case t.valid && t.entry.Kind == annotation.KindValue:
		r.replace(n, t.entry.Value)
		if t.newlyMapped() {
			r.done.mapNewly(n)
		}
		return false
	case t.removes():
		return true
	case t.valid && t.entry.Kind == annotation.KindList:
		r.distinctly(t, n, func() { r.applyList(t.matched, t.entry.List, n) })
		return false
	}
	if n.Kind() == jsondoc.Map {
		return r.applyMembers(t, n)
	}
	if n.Kind() == jsondoc.Array {
		r.distinctly(t, n, func() { r.applyElements(t, n) })
	}
	return false
}

// distinctly edits a list, and undoes that if two elements then have the same keys.
func (r *restorer) distinctly(t *trie, n *jsondoc.Node, edit func()) {
	if t.cursor.schema.ListType() == "" || n.Kind() != jsondoc.Array || !areDistinct(t.cursor.schema, n) {
		edit()
		return
	}
	was := bytes.Clone(n.Text())
	if edit(); !areDistinct(t.cursor.schema, n) {
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
func (r *restorer) applyMembers(t *trie, n *jsondoc.Node) bool {
	var gone []string
	for _, child := range t.children {
		name := child.step.Name
		switch {
		case child.step.Keys != nil:
		case child.node != nil && child.node.Kind() != jsondoc.Null:
			if r.apply(child, child.node) {
				gone = append(gone, name)
			}
		case child.returns():
			if made := r.made(child); child.cursor.fits(made) {
				v, err := jsondoc.RawValue(made)
				r.note(err)
				if child.node != nil { // null
					child.node.Replace(v)
				} else {
					r.note(n.AppendMember(name, v))
				}
				r.mapNewly(child, n)
			}
		case child.node != nil && child.removes():
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
	return left == 0 && t.tags
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

// newlyMapped reports whether a value returns where the other version shows nothing, though it may
// have a place for it.
func (t *trie) newlyMapped() bool {
	return t.valid && t.unshown && (t.cursor.tracked || t.cursor.unit != nil || t.cursor.place.isBound()) && !t.cursor.conditional
}

// mapNewly notes the newly mapped values of a trie that was made in n.
func (r *restorer) mapNewly(t *trie, n *jsondoc.Node) {
	if t.step.Keys != nil || !t.mapsNewly() {
		return
	}
	m, err := n.Member(t.step.Name)
	r.note(err)
	r.done.mapNewly(m)
	for _, child := range t.children {
		r.mapNewly(child, m)
	}
}

func (t *trie) mapsNewly() bool {
	return t.newlyMapped() || slices.ContainsFunc(t.children, (*trie).mapsNewly)
}

// made returns the text of a value that entries make.
func (r *restorer) made(t *trie) []byte {
	if !t.valid || t.entry.Kind != annotation.KindList {
		return t.render()
	}
	list, err := parsed([]byte("[{}]")) // the other version has nothing left of the first element
	if r.note(err); err != nil {
		return []byte("[]")
	}
	r.applyList(r.list(t.entry, list, t.cursor), t.entry.List, list)
	return list.Text()
}

// render is made without the list of a place with First. Objects get the defaults of rules.
func (t *trie) render() []byte {
	if t.valid && t.entry.Kind == annotation.KindValue && !t.entry.IsPresence() {
		return t.entry.Value
	}
	if t.isList() {
		var items []item
		for _, child := range t.sorted() {
			items = append(items, item{child.step.Keys, child.render()})
		}
		return arrayOf(textsOf(t.withAdded(items)))
	}
	text := []byte{'{'}
	add := func(name string, value []byte) {
		if len(text) > 1 {
			text = append(text, ',')
		}
		text = append(append(jsondoc.AppendString(text, name), ':'), value...)
	}
	for _, k := range t.step.Keys {
		add(k.Name, []byte(k.Value))
	}
	for _, child := range t.children {
		if child.step.Keys == nil && child.returns() && !t.isKey(child.step.Name) {
			add(child.step.Name, child.render())
		}
	}
	t.cursor.place.eachDefault(func(name string, p *Place) {
		if child := t.find(annotation.PathElement{Name: name}); child == nil || !child.returns() && !child.removes() {
			add(name, p.Default)
		}
	})
	return append(text, '}')
}

func (t *trie) isKey(name string) bool {
	return slices.ContainsFunc(t.step.Keys, func(k annotation.Key) bool { return k.Name == name })
}

// eachDefault calls visit for each member that a rule fills in, by name.
func (p *Place) eachDefault(visit func(name string, p *Place)) {
	if p == nil {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(p.Members)) {
		if m := p.Members[name]; m.Default != nil {
			visit(name, m)
		}
	}
	p.RuleSet.eachDefault(visit)
}

func (t *trie) isList() bool {
	return slices.ContainsFunc(t.children, func(k *trie) bool { return k.step.Keys != nil && k.returns() })
}

// sorted returns the elements that return, in their kept order.
func (t *trie) sorted() []*trie {
	list := slices.DeleteFunc(slices.Clone(t.children), func(k *trie) bool { return k.step.Keys == nil || !k.returns() })
	if t.order == nil {
		return list
	}
	at := ranks(t.order.Order)
	slices.SortStableFunc(list, func(x, y *trie) int { return at(x.step.Keys) - at(y.step.Keys) })
	return list
}

// ranks returns a function that gives the rank of an element's keys in an order. Elements that the
// order lacks come last.
func ranks(order [][]annotation.Key) func([]annotation.Key) int {
	at := make(map[string]int, len(order))
	for i, keys := range order {
		at[index(keys)] = i + 1
	}
	return func(keys []annotation.Key) int {
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
	keys []annotation.Key
	text []byte
}

// applyElements edits the elements of a list with keys.
func (r *restorer) applyElements(t *trie, n *jsondoc.Node) {
	keys := t.keysByNode(r.elements(n)) // kept values may be keys
	var gone map[*jsondoc.Node]bool
	var made []item
	for _, child := range t.children {
		switch {
		case child.step.Keys == nil:
		case child.node != nil:
			if r.apply(child, child.node) {
				if gone == nil {
					gone = map[*jsondoc.Node]bool{}
				}
				gone[child.node] = true
			}
		case child.returns():
			if text := child.render(); child.cursor.fits(text) {
				made = append(made, item{child.step.Keys, text})
			}
		}
	}
	if len(gone) > 0 {
		r.note(n.Filter(func(_ []byte, m jsondoc.Member) bool { return !gone[m.Node()] }))
	}
	if len(made) == 0 && (t.order == nil || !t.inOrder && !t.added) {
		return
	}
	list := r.elements(n)
	r.replace(n, arrayOf(textsOf(t.withAdded(t.arranged(list, keys, t.others(list, made))))))
}

// keysByNode returns the keys of the elements of a list whose order is kept.
func (t *trie) keysByNode(list []*jsondoc.Node) map[*jsondoc.Node][]annotation.Key {
	if t.order == nil {
		return nil
	}
	all := make(map[*jsondoc.Node][]annotation.Key, len(list))
	fields, _ := fieldsOf(t.order.Order[0])
	for _, e := range list {
		all[e], _ = keysOf(e, fields, t.cursor.schema.Items())
	}
	return all
}

// others returns the new elements that are not duplicates of elements of the list.
func (t *trie) others(list []*jsondoc.Node, made []item) []item {
	d := newDistinct(t.cursor.schema, list)
	return slices.DeleteFunc(made, func(i item) bool { return !d.addText(i.text) })
}

// arranged returns the elements of a list and the new ones, in the kept order as far as that is
// still valid.
func (t *trie) arranged(list []*jsondoc.Node, keys map[*jsondoc.Node][]annotation.Key, late []item) []item {
	var items []item
	for _, e := range list {
		items = append(items, item{keys[e], e.Text()})
	}
	if t.order == nil {
		return append(items, late...)
	}
	at := ranks(t.order.Order)
	byOrder := func(x, y item) int { return at(x.keys) - at(y.keys) }
	if t.inOrder {
		items = append(items, late...)
		slices.SortStableFunc(items, byOrder)
		return items
	}
	slices.SortStableFunc(late, byOrder)
	return behind(items, late, t.order.Order, t.cursor.place != nil && t.cursor.place.First)
}

// behind inserts each late item behind the visible one that preceded it in the kept order, or else
// before all: behind the first, if that stays the first one.
func behind(items, late []item, order [][]annotation.Key, firstStays bool) []item {
	visible := make(map[string]bool, len(items))
	for _, i := range items {
		visible[index(i.keys)] = true
	}
	last, after := "", make(map[string]string, len(order)) // the last visible element before each other one
	if firstStays && len(items) > 0 {
		last = index(items[0].keys)
	}
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

// withAdded inserts the added elements of a list behind the ones that they followed, as far as
// those are left, and elements with the keys of another one behind that: otherwise such an element
// would take its place, and hide that someone has removed it.
func (t *trie) withAdded(items []item) []item {
	if t.order == nil || !t.added {
		return items
	}
	fields, _ := fieldsOf(t.order.Order[0])
	present := make(map[string]int, len(items))
	for i := range slices.Backward(items) {
		present[index(items[i].keys)] = i
	}
	last, at := -1, make([]int, 0, len(t.order.Order)) // the last one of the kept order that is left, for each
	for _, keys := range t.order.Order {
		if i, found := present[index(keys)]; found {
			last = i
		}
		at = append(at, last)
	}
	element, follow := t.cursor.anyElement(), map[int][]item{}
	for _, e := range t.order.Added {
		i := -1
		if j := min(e.After, len(at)-1); j >= 0 {
			i = at[j]
		}
		n, err := parsed(e.Value)
		if err != nil || !element.fits(e.Value) {
			continue
		}
		keys, ok := keysOf(n, fields, t.cursor.schema.Items())
		if ok {
			first, found := present[index(keys)]
			if !found {
				continue
			}
			i = max(i, first)
		}
		follow[i] = append(follow[i], item{keys, e.Value})
	}
	all := slices.Clone(follow[-1])
	for i, one := range items {
		all = append(append(all, one), follow[i]...)
	}
	return all
}
