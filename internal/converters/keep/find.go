package keep

import (
	"bytes"
	"slices"

	"github.com/crdconvert/webhookd/internal/converters/keep/annotation"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// keyText returns the value of a key field as canonical JSON, and whether it may be one.
func keyText(text []byte) (string, bool) {
	switch jsondoc.KindOf(text) {
	case jsondoc.String:
		if bytes.IndexByte(text, '\\') >= 0 {
			return string(jsondoc.AppendString(nil, jsondoc.Unquote(text))), true
		}
		return string(text), true
	case jsondoc.Number:
		text, err := jsondoc.CanonicalNumber(string(text))
		return text, err == nil
	case jsondoc.Bool:
		return string(text), true
	case jsondoc.Invalid, jsondoc.Null, jsondoc.Array, jsondoc.Map:
	}
	return "", false
}

// keyOf returns the value of a key field of an element, whose schema may fill it in.
func keyOf(e *jsondoc.Node, field string, s *crdschema.Node) (string, bool) {
	value, err := e.MemberText(field)
	if text, has := s.Property(field).Default(); has && value == nil {
		value = []byte(text)
	}
	text, ok := keyText(value)
	return text, ok && err == nil
}

// keysOf returns the keys of an element, and whether it has all fields.
func keysOf(e *jsondoc.Node, fields []string, s *crdschema.Node) ([]annotation.Key, bool) {
	return appendKeysOf(make([]annotation.Key, 0, len(fields)), e, fields, s)
}

func appendKeysOf(keys []annotation.Key, e *jsondoc.Node, fields []string, s *crdschema.Node) ([]annotation.Key, bool) {
	for _, field := range fields {
		text, ok := keyOf(e, field, s)
		if !ok {
			return nil, false
		}
		keys = append(keys, annotation.Key{Name: field, Value: text})
	}
	return keys, true
}

// index returns the keys of an element as the key of a map.
func index(keys []annotation.Key) string {
	if len(keys) == 1 {
		return keys[0].Value
	}
	return string(annotation.AppendKeys(nil, keys))
}

// find returns the value at a path, or nil.
func find(n *jsondoc.Node, path annotation.Path) (*jsondoc.Node, error) {
	for _, s := range path {
		var err error
		switch {
		case s.First:
			n, err = n.Element(0)
		case s.Keys != nil:
			n, err = elementOf(n, s.Keys)
		default:
			n, err = n.Member(s.Name)
		}
		if n == nil || err != nil {
			return nil, err
		}
	}
	return n, nil
}

// elementOf returns the element of a list with some keys, or nil.
func elementOf(n *jsondoc.Node, keys []annotation.Key) (*jsondoc.Node, error) {
	if n.Kind() != jsondoc.Array {
		return nil, nil //nolint:nilnil // absent
	}
	var found *jsondoc.Node
	err := n.Each(func(_ string, e *jsondoc.Node) bool {
		if hasKeys(e, keys, nil) {
			found = e
		}
		return found == nil
	})
	return found, err
}

// hasKeys reports whether an element has some keys. It copies no plain text (BenchmarkKinds in
// converters/rules).
func hasKeys(e *jsondoc.Node, keys []annotation.Key, s *crdschema.Node) bool {
	for _, k := range keys {
		if value, err := e.MemberText(k.Name); err == nil && len(value) > 0 && value[0] == '"' && string(value) == k.Value {
			continue
		}
		if text, ok := keyOf(e, k.Name, s); !ok || text != k.Value {
			return false
		}
	}
	return true
}

// hasKey reports whether an element has a key field.
func hasKey(e *jsondoc.Node, field string, s *crdschema.Node) bool {
	value, err := e.MemberText(field)
	if kind := jsondoc.KindOf(value); err == nil && (kind == jsondoc.String || kind == jsondoc.Bool) {
		return true
	}
	_, ok := keyOf(e, field, s)
	return ok
}

// A keyIndex finds elements by their keys.
type keyIndex struct {
	keys [][]annotation.Key
	by   map[string]int // nil for a few, which need no index (BenchmarkKinds in converters/rules)
}

const fewKeys = 8

func indexOf(keys [][]annotation.Key) keyIndex {
	x := keyIndex{keys: keys}
	if len(keys) > fewKeys {
		x.by = make(map[string]int, len(keys))
		for i, k := range keys {
			x.by[index(k)] = i
		}
	}
	return x
}

// find returns the index of the element with some keys, or -1. It is most likely next.
func (x keyIndex) find(keys []annotation.Key, next int) int {
	if next < len(x.keys) && slices.Equal(x.keys[next], keys) {
		return next
	}
	if x.by == nil {
		return slices.IndexFunc(x.keys, func(k []annotation.Key) bool { return slices.Equal(k, keys) })
	}
	if i, found := x.by[index(keys)]; found {
		return i
	}
	return -1
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
func (f *finder) part(s annotation.PathElement) (part *jsondoc.Node, at int, err error) {
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
func (f *finder) element(keys []annotation.Key) int {
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

func fieldsOf(keys []annotation.Key) (fields []string, joined string) {
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

// A trie is a place of the object with its entries and those below it.
type trie struct {
	step     annotation.PathElement
	children []*trie
	index    map[string]*trie  // of the children, if there are many
	entry    *annotation.Entry // of the place itself
	order    *annotation.Entry // of the list at the place
	tags     bool              // it is all labels or all annotations
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
func (m *Memory) trie(kept []*annotation.Entry) *trie {
	root := m.tries.Add(trie{})
	for _, e := range kept {
		t := root
		for i := range e.Path {
			t = t.child(e.Path[i], m)
		}
		switch {
		case e.Kind == annotation.KindOrder && t.order == nil:
			t.order = e
		case e.Kind != annotation.KindOrder && t.entry == nil:
			t.entry = e
		}
	}
	return root
}

// child returns the trie of a step, and creates it if necessary.
func (t *trie) child(s annotation.PathElement, m *Memory) *trie {
	child := t.find(s)
	if child != nil {
		return child
	}
	const usual = 4
	child = m.tries.Add(trie{step: s})
	if t.children == nil {
		t.children = m.children.Room(usual)
	}
	t.children = append(t.children, child)
	if t.index != nil {
		t.index[s.ID()] = child
	}
	return child
}

// find returns the trie of a step, or nil. Most have few children, which need no index
// (BenchmarkKinds).
func (t *trie) find(s annotation.PathElement) *trie {
	const few = 8
	if len(t.children) <= few {
		for _, child := range t.children {
			if child.step.Equal(s) {
				return child
			}
		}
		return nil
	}
	if t.index == nil {
		t.index = make(map[string]*trie, 2*len(t.children))
		for _, child := range t.children {
			t.index[child.step.ID()] = child
		}
	}
	return t.index[s.ID()]
}
