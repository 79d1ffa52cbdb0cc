package jsondoc

import (
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A Node is one value inside an open object: a stretch of text until somebody looks into it, a list of members after
// that. It is good until the document opens its next object; edits of a node that was removed, or that is inside a value
// that was replaced, go nowhere. The nil *Node stands for an absent value: it can be read, and has no members.
type Node struct {
	doc     *Document
	parent  *Node
	at      piece
	members []member // of an array or object that was looked into, else nil
	changed bool     // a value below differs from the text at
	moved   bool     // at is not where the object's own text has the value
}

// A member is a member of an object, or an element of an array, which has no name. Its text is head, value, tail; head
// starts with the comma before the member, or with the brace.
type member struct {
	name       []byte
	head, tail piece
	value      *Node
}

// Kind tells what the value is; that of nil is Invalid.
func (n *Node) Kind() Kind {
	if n == nil {
		return Invalid
	}
	return kindOf(n.doc.bytes(n.at)[0])
}

// Str returns the decoded string, and whether the value is one.
func (n *Node) Str() (string, bool) {
	if n.Kind() != String {
		return "", false
	}
	return Unquote(n.doc.bytes(n.at)), true
}

// Text returns the JSON as it stands now; nil has none. It must not be changed, and not be kept beyond the conversion.
func (n *Node) Text() []byte {
	if n == nil {
		return nil
	}
	return n.Value().Text()
}

// Value returns the value as it stands now, to be put elsewhere; later edits of the node do not change it. That of nil is
// null.
func (n *Node) Value() Value {
	switch {
	case n == nil:
		return Value{}
	case !n.changed:
		return Value{doc: n.doc, at: n.at}
	}
	out := Output{doc: n.doc}
	out.Put(n)
	return Value{doc: n.doc, at: n.doc.add(out.AppendTo(nil))}
}

// Untouched reports, without comparing, whether the value is the one that the object came with and was not edited.
func (n *Node) Untouched() bool { return n != nil && !n.changed && !n.moved }

// Replace sets the whole value of a node, which must not be nil.
func (n *Node) Replace(v Value) {
	for _, m := range n.members {
		m.value.parent = nil
	}
	n.at, n.members, n.changed, n.moved = n.doc.place(v), nil, false, true
	n.parent.touch()
}

// Member returns the value of the object's member name, or nil if it has none or the value is no object. It fails if
// the object has two members of one name, whichever it is.
func (n *Node) Member(name string) (*Node, error) {
	i, err := n.find(name)
	if i < 0 {
		return nil, err
	}
	return n.members[i].value, nil
}

// SetMember sets the object's member name; a new one goes behind the others. It fails if the value is no object, or one
// with two members of one name, or if the name is not UTF-8.
func (n *Node) SetMember(name string, v Value) error {
	i, err := n.find(name)
	if err != nil {
		return err
	}
	if i >= 0 {
		n.members[i].value.Replace(v)
		return nil
	}
	return n.add(name, v)
}

// AddMember is SetMember for a member that must be new: it reports whether it was, and changes nothing where it was not
// (BenchmarkConvert in converters/rules).
func (n *Node) AddMember(name string, v Value) (bool, error) {
	if i, err := n.find(name); err != nil || i >= 0 {
		return false, err
	}
	return true, n.add(name, v)
}

// add is SetMember for a name that the object does not have.
func (n *Node) add(name string, v Value) error {
	switch {
	case n.Kind() != Map:
		return &PathError{"is " + n.Kind().String() + ", not an object", n.Path()}
	case !utf8.ValidString(name):
		return &PathError{"cannot have a member whose name is not UTF-8", n.Path()}
	}
	var short [64]byte
	head := n.doc.add(append(appendString(append(short[:0], ','), name), ':'))
	value := n.doc.node(Node{parent: n, at: n.doc.place(v), moved: true})
	literal := n.doc.bytes(head)[1 : head.End-head.Start-1]
	n.members = append(n.members, member{name: unescaped(literal[1 : len(literal)-1]), head: head, value: value})
	n.touch()
	return nil
}

// RemoveMember removes the object's member name, if it has one. It fails if the object has two members of one name.
func (n *Node) RemoveMember(name string) error {
	i, err := n.find(name)
	if i < 0 {
		return err
	}
	n.members[i].value.parent = nil
	n.members = append(n.members[:i], n.members[i+1:]...)
	n.touch()
	return nil
}

// Each calls visit for the members of the object, or for the elements of the array with no name, in their order, until it
// returns false. It fails if two members have one name, and does nothing for other values. Visit may edit the values, but
// not add or remove members of n.
func (n *Node) Each(visit func(name string, value *Node) bool) error {
	if err := n.look(); err != nil || n == nil {
		return err
	}
	for _, m := range n.members {
		if !visit(string(m.name), m.value) {
			break
		}
	}
	return nil
}

// Filter keeps those members of the object, or elements of the array, for which keep returns true: it is called for each, in
// their order. The name, which an element does not have, is good until keep returns. It fails if two members have one name,
// and does nothing for other values. Keep may edit the values, but not add or remove members of n.
func (n *Node) Filter(keep func(name []byte, value *Node) bool) error {
	if err := n.look(); err != nil || n == nil {
		return err
	}
	left := 0
	for i := range n.members {
		m := n.members[i]
		if !keep(m.name, m.value) {
			m.value.parent = nil
			continue
		}
		n.members[left] = m
		left++
	}
	if left < len(n.members) {
		n.members = n.members[:left]
		n.touch()
	}
	return nil
}

// Path returns where the node stands in its object, as FormatPath writes it.
func (n *Node) Path() string {
	if n == nil || n.parent == nil {
		return "."
	}
	var segment string
	for i, m := range n.parent.members {
		if m.value == n && n.parent.Kind() == Array {
			segment = "[" + strconv.Itoa(i) + "]"
		} else if m.value == n {
			segment = formatSegment(string(m.name))
		}
	}
	return strings.TrimSuffix(n.parent.Path(), ".") + segment // of all paths, only the object's own ends in a dot
}

func (n *Node) find(name string) (int, error) {
	if n.Kind() != Map {
		return -1, nil
	}
	if err := n.look(); err != nil {
		return -1, err
	}
	for i := range n.members {
		if string(n.members[i].name) == name {
			return i, nil
		}
	}
	return -1, nil
}

// look lists the members of an array or object, one level deep, unless that was done before.
func (n *Node) look() error {
	kind := n.Kind()
	if kind != Map && kind != Array || n.members != nil {
		return nil
	}
	d, first := n.doc, len(n.doc.fields)
	if n.outlined() {
		n.list(d.nested[d.opened.nested.Start:d.opened.nested.End], 0)
		return nil
	}
	d.inside = Scanner{text: d.bytes(n.at), maxDepth: scanDepth, names: d.inside.names[:0]}
	defer func() { d.fields = d.fields[:first] }()
	if err := d.outline(&d.inside, byte(kind), &d.fields, func([]byte) error { _, err := d.inside.Skip(); return err }); err != nil {
		if syntax, ok := errors.AsType[*SyntaxError](err); ok {
			err = &PathError{syntax.Problem, n.Path()}
		}
		return err
	}
	n.list(d.fields[first:], n.at.Start)
	return nil
}

// outlined says that n is the nested member of the outline of the open object, as it came.
func (n *Node) outlined() bool {
	return n != nil && n.parent == n.doc.object.Node && n.at.Start == n.doc.opened.inside && n.Untouched()
}

// list makes the members of n from fields whose offsets are behind base. The list gets some room for members to come.
func (n *Node) list(fields []field, base uint32) {
	d, first := n.doc, len(n.doc.members)
	for i := range fields {
		f := &fields[i]
		at := func(start, end uint32) piece { return piece{Span{base + start, base + end}, n.at.added} }
		value := d.node(Node{parent: n, at: at(f.value, f.valueEnd), moved: n.moved})
		name := f.nameOf(d.bytes(at(f.name.Start, f.name.End)))
		d.members = append(d.members, member{name, at(f.start, f.value), at(f.valueEnd, f.end), value})
	}
	end := len(d.members)
	d.members = append(d.members, make([]member, 4)...)
	n.members = d.members[first:end:len(d.members)]
}

func (n *Node) touch() {
	for ; n != nil && !n.changed; n = n.parent {
		n.changed = true
	}
}
