package jsondoc

import (
	"bytes"
	"errors"
	"strconv"
	"strings"
)

// A Node is one value in an open object. It is text until it is read, and then a list of members.
// It is valid until the document opens its next object. Edits of a node that was removed, or that
// is in a replaced value, have no effect. The nil *Node is an absent value, which can be read and
// has no members.
type Node struct {
	doc     *Document
	parent  *Node
	members []member // nil until an array or object is read
	names   nameBits // of the members, and maybe of removed ones
	at      piece
	changed bool // a value below differs from the text
	copied  bool // the node was changed before it was copied
	moved   bool // at is not the value's place in the object's own text
}

// Kind returns the kind of the value, Invalid for nil.
func (n *Node) Kind() Kind {
	if n == nil {
		return Invalid
	}
	return kindOf(n.doc.bytes(n.at)[0])
}

// Str returns the decoded string, and whether the value is a string.
func (n *Node) Str() (string, bool) {
	if n.Kind() != String {
		return "", false
	}
	return Unquote(n.doc.bytes(n.at)), true
}

// IsStr reports whether the value is a string that decodes to text, without a copy.
func (n *Node) IsStr(text string) bool {
	if n.Kind() != String {
		return false
	}
	literal := n.doc.bytes(n.at)
	return isText(literal[1:len(literal)-1], text)
}

// Text returns the JSON with all edits, nil for nil. Callers must not change it or keep it beyond
// the conversion.
func (n *Node) Text() []byte {
	if n == nil {
		return nil
	}
	return n.Value().Text()
}

// Value returns the value with its edits so far, null for nil.
func (n *Node) Value() Value {
	switch {
	case n == nil:
		return Value{}
	case !n.changed:
		return Value{doc: n.doc, at: n.at}
	}
	d, start := n.doc, len(n.doc.added)
	n.appendTo(d)
	return Value{doc: d, at: d.since(start)}
}

// Untouched reports whether the value is at its original place and was not edited, without
// comparing.
func (n *Node) Untouched() bool { return n != nil && !n.moved && (!n.changed || n.copied) }

// SameText reports whether two values have the same text. A value that was edited inside has no
// text yet, so it differs.
func (n *Node) SameText(other *Node) bool {
	return n != nil && other != nil && !n.changed && !other.changed && bytes.Equal(n.doc.bytes(n.at), other.doc.bytes(other.at))
}

// Replace sets the value of a node, which must not be nil.
func (n *Node) Replace(v Value) {
	for i := range n.members {
		n.members[i].leave()
	}
	n.forget()
	n.at, n.members, n.names, n.changed, n.copied, n.moved = n.doc.place(v), nil, 0, false, false, true
	n.parent.touch()
}

// Member returns a member's value, or nil if there is none or n is not an object. The last member
// of a name counts, here and below. Member fails if the object has too many members.
func (n *Node) Member(name string) (*Node, error) {
	i, err := n.find(name, bitOf(name))
	if i < 0 {
		return nil, err
	}
	return n.member(i), nil
}

// MemberText returns the text of a member, or nil, as Member finds it. It makes no node for it.
func (n *Node) MemberText(name string) ([]byte, error) {
	i, err := n.find(name, bitOf(name))
	if i < 0 {
		return nil, err
	}
	if m := &n.members[i]; m.value != nil {
		return m.value.Text(), nil
	}
	return n.textOf(&n.members[i]), nil
}

// SetMember sets a member's value; a new member goes behind the others. It fails if n is not an
// object, if the name is not UTF-8, or as Member does.
func (n *Node) SetMember(name string, v Value) error {
	i, err := n.find(name, bitOf(name))
	if err != nil {
		return err
	}
	if i >= 0 {
		n.member(i).Replace(v)
		return nil
	}
	var short [64]byte
	return n.add(Name{name, appendHead(short[:0], name), bitOf(name)}, v)
}

// AddMember adds a member if it is new, and reports whether it was (BenchmarkConvert in
// converters/rules).
func (n *Node) AddMember(name Name, v Value) (bool, error) {
	if i, err := n.find(name.text, name.bit); err != nil || i >= 0 {
		return false, err
	}
	return true, n.add(name, v)
}

// AppendMember adds a member that the caller knows to be new. Without a lookup, edits of a large
// map take linear time (BenchmarkBigMap in converters/rules).
func (n *Node) AppendMember(name string, v Value) error {
	if err := n.look(); err != nil {
		return err
	}
	return n.add(NameOf(name), v)
}

// shortValue limits in bytes the values that are copied behind a new name. Names and values of new
// members are then one piece of the output (BenchmarkConvert in converters/rules).
const shortValue = 64

func (n *Node) add(name Name, v Value) error {
	switch {
	case n == nil || n.names == 0 && n.Kind() != Map: // only objects have names
		return &PathError{"is " + n.Kind().String() + ", not an object", n.Path()}
	case name.head == nil:
		return &PathError{"cannot have a member whose name is not UTF-8", n.Path()}
	}
	head, at := n.doc.add(name.head), n.doc.place(v)
	if at.End-at.Start <= shortValue && !at.added {
		at = n.doc.add(n.doc.bytes(at))
	}
	if count := len(n.members); count == cap(n.members) && count > 1 && count <= nodeChunk {
		n.relist()
	}
	n.members = append(n.members, member{})
	m := &n.members[len(n.members)-1] // faster than a copy
	m.name, m.escaped = Span{head.Start + 2, head.End - 2}, len(name.head) != len(name.text)+len(`,"":`)
	m.head, m.headAdded, m.at, m.added, m.moved, m.end = head.Span, true, at.Span, at.added, true, at.End
	n.names |= name.bit
	if x := n.doc.indexes[n]; x != nil && x.at != nil {
		x.at[strings.Clone(name.text)] = len(n.members) - 1 // without the clone all names would be allocated
	}
	n.touch()
	return nil
}

// RemoveMember removes a member, if there is one. It fails as Member does.
func (n *Node) RemoveMember(name string) error {
	i, err := n.find(name, bitOf(name))
	if i < 0 {
		return err
	}
	n.forget()
	n.members[i].leave()
	n.members = append(n.members[:i], n.members[i+1:]...)
	n.touch()
	return nil
}

// Element returns an element of the array, or nil if there is none or n is not an array.
func (n *Node) Element(i int) (*Node, error) {
	if n.Kind() != Array {
		return nil, nil //nolint:nilnil // absent, as for Member
	}
	if err := n.look(); err != nil || i < 0 || i >= len(n.members) {
		return nil, err
	}
	return n.member(i), nil
}

// Elements returns the elements of the array; other values have none. It fails as Member does.
func (n *Node) Elements() ([]*Node, error) {
	if err := n.look(); err != nil || n.Kind() != Array {
		return nil, err
	}
	list := make([]*Node, len(n.members))
	for i := range list {
		list[i] = n.member(i)
	}
	return list, nil
}

// Each calls visit for each member of an object, or each element of an array with no name, until it
// returns false. For other values it does nothing. It fails as Member does. Visit may edit the
// values, but not add or remove members of n.
func (n *Node) Each(visit func(name string, value *Node) bool) error {
	if err := n.look(); err != nil || n == nil {
		return err
	}
	for i := range n.members {
		if !visit(string(n.nameOf(i)), n.member(i)) {
			break
		}
	}
	return nil
}

// Len returns the number of members or elements, 0 for other values and where [Node.Each] fails.
func (n *Node) Len() int {
	if n.look() != nil {
		return 0
	}
	return n.count()
}

// Filter calls keep for each member of an object or element of an array, and removes those for
// which it returns false. For other values it does nothing. It fails as Member does. The name,
// empty for elements, and the member are valid until keep returns. Keep may edit the values, but
// not add or remove members of n.
func (n *Node) Filter(keep func(name []byte, m Member) bool) error {
	if err := n.look(); err != nil || n == nil {
		return err
	}
	left, names := 0, nameBits(0)
	for i := range n.members {
		name := n.nameOf(i)
		if !keep(name, Member{n, i}) {
			n.members[i].leave()
			continue
		}
		if left != i {
			n.members[left] = n.members[i]
		}
		left++
		names |= bitOf(name)
	}
	if left < len(n.members) {
		n.forget()
		n.members, n.names = n.members[:left], n.names&names // an array has no names
		n.touch()
	}
	return nil
}

// Path returns the path of the node in its object, as FormatPath writes it.
func (n *Node) Path() string {
	if n == nil || n.parent == nil {
		return "."
	}
	var segment string
	for i := range n.parent.members {
		if m := &n.parent.members[i]; m.value == n && n.parent.Kind() == Array {
			segment = "[" + strconv.Itoa(i) + "]"
		} else if m.value == n {
			segment = formatSegment(string(n.parent.nameOf(i)))
		}
	}
	return strings.TrimSuffix(n.parent.Path(), ".") + segment // only the path of the object ends in a dot
}

func (n *Node) find(name string, bit nameBits) (int, error) {
	if n == nil || n.members == nil && n.Kind() != Map {
		return -1, nil
	}
	if err := n.look(); err != nil || n.names&bit == 0 { // arrays have no names
		return -1, err
	}
	if len(n.members) > manyMembers {
		return n.lookup(name), nil
	}
	return search(n, name), nil
}

// search returns the index of the member of a name, or -1.
func search[T string | []byte](n *Node, name T) int {
	for i := range n.members {
		if isNamed(&n.members[i], n.doc, name) {
			return i
		}
	}
	return -1
}

// look lists the members of an array or object, unless they are listed already.
func (n *Node) look() error {
	if n == nil || n.members != nil {
		return nil
	}
	kind := n.Kind()
	if kind != Map && kind != Array {
		return nil
	}
	d := n.doc
	if n.outlined() {
		n.list(d.nested[d.opened.nested.Start:d.opened.nested.End])
		return nil
	}
	if fields, known := d.fieldsAt(n.at); known {
		n.list(fields)
		return d.refused
	}
	d.inside = Scanner{text: d.bytes(n.at), maxDepth: scanDepth, names: d.inside.names[:0]}
	first, repeated, err := n.scan(&d.inside, kind == Map)
	if err != nil {
		d.members = d.members[:first]
		if syntax, ok := errors.AsType[*SyntaxError](err); ok {
			err = &PathError{syntax.Problem, n.Path()}
		}
		return err
	}
	if repeated {
		d.members = d.members[:first+d.lastOfEach(d.members[first:])]
	}
	n.listed(first)
	return nil
}

// lastOfEach moves the last member of each name to the front, in order, and returns their number.
func (d *Document) lastOfEach(members []member) int {
	seen := make(map[string]bool, len(members))
	at := len(members)
	for i := at - 1; i >= 0; i-- {
		if name := string(members[i].nameIn(d)); !seen[name] {
			seen[name] = true
			at--
			members[at] = members[i]
		}
	}
	return copy(members, members[at:])
}

// scan adds the members of n, at the start of s, to the document's members from first on, and
// reports whether there is a duplicate name. It is Scanner.Members and Elements for valid JSON
// (BenchmarkConvert in converters/rules).
func (n *Node) scan(s *Scanner, object bool) (first int, repeated bool, err error) {
	d, base, seen := n.doc, n.at.Start, nameSet{}
	first = len(d.members)
	start := 0
	for more := s.Enter(); more; more = s.Next(object) {
		first = d.chunk(first, 1)
		d.members = append(d.members, member{})
		m := &d.members[len(d.members)-1]
		m.headAdded, m.added, m.moved = n.at.added, n.at.added, n.moved
		if object {
			name := s.Name()
			if !seen.add(s, name, false) {
				break
			}
			m.name, m.escaped = s.nameAt.behind(base), s.escapes
			n.names |= bitOf(name)
		}
		m.head = span(start, s.pos).behind(base)
		at, _ := s.Skip()
		start = s.space(s.pos)
		m.at, m.end = at.behind(base), base+offset(start)
		if len(d.members)-first > maxFields-len(d.fields) {
			s.fail(start, "too many members in all objects together")
			break
		}
		if d.refused != nil {
			return first, false, d.refused
		}
	}
	return first, seen.repeated, s.err
}

// outlined reports whether n is the nested member of the open object's outline.
func (n *Node) outlined() bool {
	if n == nil || n.changed || n.at.added {
		return false
	}
	o := &n.doc.opened
	return n.at.Start == o.inside && n.at.Start > o.Start
}

func (n *Node) list(fields []field) {
	d := n.doc
	first := d.chunk(len(d.members), len(fields))
	for i := range fields {
		f := &fields[i]
		m := member{
			name: f.name, head: Span{f.start, f.value}, at: Span{f.value, f.valueEnd}, end: f.end,
			headAdded: n.at.added, added: n.at.added, escaped: f.escaped, moved: n.moved,
		}
		d.members = append(d.members, m)
		if f.name.End > 0 { // not an element
			n.names |= bitOf(m.nameIn(d))
		}
	}
	n.listed(first)
}

// listed gives n the document's members from first on, with a little room for more.
func (n *Node) listed(first int) {
	d, end := n.doc, len(n.doc.members)
	room := min(end+4, end+(end-first)/2, cap(d.members))
	d.members = d.members[:room]
	n.members = d.members[first:end:room]
}

// relist gives n room for more members in the document's memory (BenchmarkKinds in
// converters/rules).
func (n *Node) relist() {
	d := n.doc
	first := d.chunk(len(d.members), len(n.members)+1)
	d.members = append(d.members, n.members...)
	n.listed(first)
}

// chunk makes room for more members behind those from first on, which stay together. It returns
// their new index: what older nodes have stays where it is.
func (d *Document) chunk(first, more int) int {
	if len(d.members)+more <= cap(d.members) {
		return first
	}
	listing := d.members[first:]
	size := max(nodeChunk, min(2*cap(d.members), keepMembers), 2*len(listing)+more)
	_ = d.useForObject(size * memberSize) // a later call fails
	d.members = append(make([]member, 0, size), listing...)
	return 0
}

func (n *Node) touch() {
	for ; n != nil && (!n.changed || n.copied); n = n.parent {
		n.changed, n.copied = true, false
	}
}
