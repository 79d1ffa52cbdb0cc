package keep

import (
	"slices"

	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// A branch is a place of the object with its entries and those below it.
type branch struct {
	step     PathElement
	children []*branch
	index    map[string]*branch // of the children, if there are many
	entry    *Entry             // of the place itself
	order    *Entry             // of the list at the place
	tags     bool               // it is all labels or all annotations
	// Set by visit.
	valid   bool // the entry returns
	unshown bool // a value of which the other version shows nothing
	inOrder bool // the list has its order of when that was kept
	added   bool // elements that no key identifies return to the list
	matched *matchedList
	node    *jsondoc.Node
	cursor  cursor
}

// trie sorts entries by their places. The first of two entries for one place wins.
func (m *Memory) trie(kept []*Entry) *branch {
	root := m.branches.add(branch{})
	for _, e := range kept {
		b := root
		for i := range e.path {
			b = b.child(e.path[i], m)
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

// child returns the branch of a step, and creates it if necessary.
func (b *branch) child(s PathElement, m *Memory) *branch {
	child := b.find(s)
	if child != nil {
		return child
	}
	const usual = 4
	child = m.branches.add(branch{step: s})
	if b.children == nil {
		b.children = m.children.room(usual)
	}
	b.children = append(b.children, child)
	if b.index != nil {
		b.index[s.id()] = child
	}
	return child
}

// find returns the branch of a step, or nil. Most branches have few, which need no index
// (BenchmarkKinds).
func (b *branch) find(s PathElement) *branch {
	const few = 8
	if len(b.children) <= few {
		for _, child := range b.children {
			if child.step.equal(s) {
				return child
			}
		}
		return nil
	}
	if b.index == nil {
		b.index = make(map[string]*branch, 2*len(b.children))
		for _, child := range b.children {
			b.index[child.step.id()] = child
		}
	}
	return b.index[s.id()]
}

// id is the same for equal steps.
func (s PathElement) id() string {
	if s.Keys != nil {
		return "[" + string(appendKeys(nil, s.Keys))
	}
	return "." + s.Name
}

// A finder finds the parts of a value by steps.
type finder struct {
	of     *jsondoc.Node
	schema *crdschema.Node           // of the elements
	list   []*jsondoc.Node           // of a list
	byKeys map[string]map[string]int // the index of each element, by its keys, by their fields
}

// finderOf returns the finder of a value, whose elements have a schema.
func (w *walker) finderOf(n *jsondoc.Node, elements *crdschema.Node) finder {
	if n.Kind() == jsondoc.Array {
		return finder{of: n, schema: elements, list: w.elements(n)}
	}
	return finder{of: n}
}

// part returns the part that a step leads to, or nil, and the index of an element, or -1.
func (f *finder) part(s PathElement) (part *jsondoc.Node, at int, err error) {
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
		return slices.IndexFunc(f.list, func(e *jsondoc.Node) bool { return hasKeys(e, keys, f.schema) })
	}
	fields, of := fieldsOf(keys)
	if f.byKeys[of] == nil {
		if len(f.byKeys) == maxKeySets {
			return -1
		}
		if f.byKeys == nil {
			f.byKeys = map[string]map[string]int{}
		}
		f.byKeys[of] = indexBy(f.list, fields, f.schema)
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
func indexBy(list []*jsondoc.Node, fields []string, s *crdschema.Node) map[string]int {
	by := make(map[string]int, len(list))
	for i, e := range list {
		keys, ok := keysOf(e, fields, s)
		if !ok {
			continue
		}
		if _, found := by[index(keys)]; !found {
			by[index(keys)] = i
		}
	}
	return by
}
