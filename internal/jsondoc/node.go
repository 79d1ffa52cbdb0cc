package jsondoc

import "strconv"

// A Node is one value inside an open object: a stretch of text until somebody looks into it, a list of members after
// that. It is good until the document opens its next object; edits of a node that was removed or replaced go nowhere.
type Node struct {
	doc     *Document
	parent  *Node
	at      piece
	members []member // of an array or object that was looked into
	listed  bool     // members is filled
	changed bool     // a value below differs from the text at
	moved   bool     // at is not where the object's own text has the value
}

// A member is a member of an object, or an element of an array, which has no name. Its text is head, value, tail.
type member struct {
	name       []byte
	head, tail piece
	value      *Node
}

// Kind tells what the value is; that of nil, which stands for an absent value, is Invalid.
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

// Text returns the JSON as it stands now. It must not be changed, and not be kept beyond the conversion.
func (n *Node) Text() []byte { return n.Value().Text() }

// Value returns the value as it stands now, to be put elsewhere; later edits of the node do not change it.
func (n *Node) Value() Value {
	if n == nil || !n.changed {
		if n == nil {
			return Value{}
		}
		return Value{doc: n.doc, at: n.at}
	}
	var out Output
	out.Reset(n.doc)
	out.Put(n)
	start := len(n.doc.added)
	n.doc.added = out.AppendTo(n.doc.added)
	return Value{doc: n.doc, at: n.doc.addedSince(start)}
}

// Untouched reports, without comparing, whether the value is the one that the object came with and was not edited.
func (n *Node) Untouched() bool { return n != nil && !n.changed && !n.moved }

// Replace sets the whole value.
func (n *Node) Replace(v Value) {
	for _, m := range n.members {
		m.value.parent = nil
	}
	n.at, n.members, n.listed, n.changed, n.moved = n.doc.place(v), nil, false, false, true
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
// with two members of one name.
func (n *Node) SetMember(name string, v Value) error {
	i, err := n.find(name)
	if err != nil {
		return err
	}
	if i >= 0 {
		n.members[i].value.Replace(v)
		return nil
	}
	if n.Kind() != Map {
		return &PathError{"is " + n.Kind().String() + ", not an object", n.Path()}
	}
	start := len(n.doc.added)
	n.doc.added = append(appendString(n.doc.added, name), ':')
	head := n.doc.addedSince(start)
	value := n.doc.node(n, n.doc.place(v))
	value.moved = true
	n.members = append(n.members, member{name: []byte(name), head: head, value: value})
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
// returns false. It fails if two members have one name, and does nothing for other values. Visit must not edit n itself.
func (n *Node) Each(visit func(name string, value *Node) bool) error {
	if err := n.look(); err != nil || n == nil {
		return err
	}
	for i := range n.members {
		if !visit(string(n.members[i].name), n.members[i].value) {
			break
		}
	}
	return nil
}

// Path returns where the node stands in its object, as FormatPath writes it.
func (n *Node) Path() string {
	if n.parent == nil {
		return "."
	}
	var segment string
	for i, m := range n.parent.members {
		if m.value == n {
			segment = formatSegment(string(m.name))
			if n.parent.Kind() == Array {
				segment = "[" + strconv.Itoa(i) + "]"
			}
		}
	}
	if n.parent.parent == nil {
		return segment
	}
	return n.parent.Path() + segment
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
	if kind != Map && kind != Array || n.listed {
		return nil
	}
	s := Scanner{text: n.doc.bytes(n.at), maxDepth: MaxDepth}
	each := s.Members
	if kind == Array {
		each = func(visit func([]byte) error) error { return s.Elements(func() error { return visit(nil) }) }
	}
	first := len(n.doc.fields)
	if err := n.doc.outline(&s, each, ""); err != nil {
		return &PathError{"repeats a name or has too many members", n.Path()}
	}
	n.list(n.doc.fields[first:], n.at.Start)
	n.doc.fields = n.doc.fields[:first]
	return nil
}

// list makes the members of n from fields whose offsets are behind base. The list gets some room for members to come.
func (n *Node) list(fields []field, base uint32) {
	d := n.doc
	first := len(d.members)
	for _, f := range fields {
		head := piece{Span{base + f.start, base + f.value}, n.at.added}
		tail := piece{Span{base + f.valueEnd, base + f.end}, n.at.added}
		value := d.node(n, piece{Span{base + f.value, base + f.valueEnd}, n.at.added})
		name := d.bytes(piece{Span{base + f.name.Start, base + f.name.End}, n.at.added})
		d.members = append(d.members, member{unescaped(name), head, tail, value})
	}
	end := len(d.members)
	d.members = append(d.members, make([]member, 4)...)
	n.members, n.listed = d.members[first:end:len(d.members)], true
}

func (n *Node) touch() {
	for ; n != nil && !n.changed; n = n.parent {
		n.changed = true
	}
}
