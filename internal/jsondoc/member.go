package jsondoc

import "unicode/utf8"

// A member is a member of an object, or an element of an array, which has no name. Its text is head, value, tail; head
// starts with the comma before the member, or with the brace. It is small, and gets a node only when somebody asks for one:
// most members are only passed by (BenchmarkConvert in converters/rules).
type member struct {
	name, head Span
	at         Span   // of the value, as long as it has no node
	end        uint32 // of the tail, which starts where the value ends: a member that was added has none
	headAdded  bool   // name and head are not of the document's own text
	escaped    bool   // the name has escapes
	added      bool   // the value is not of the document's own text
	moved      bool   // as of a node
	value      *Node
}

// behind returns a span of a text as one of a text that it starts at base of.
func (s Span) behind(base uint32) Span { return Span{base + s.Start, base + s.End} }

// leave ends that edits of the value are edits of the object.
func (m *member) leave() {
	if m.value != nil {
		m.value.parent = nil
	}
}

// piece returns where the value stands, as long as it has no node.
func (m *member) piece() piece { return piece{m.at, m.added} }

// tail returns where the text behind the value stands.
func (m *member) tail() piece { return piece{Span{m.at.End, m.end}, m.headAdded} }

func (m *member) nameIn(d *Document) []byte {
	literal := d.bytes(piece{m.name, m.headAdded})
	if m.escaped {
		return unescaped(literal)
	}
	return literal
}

// isNamed reports whether the member has a name, without a copy of it.
func isNamed[T string | []byte](m *member, d *Document, name T) bool {
	if m.escaped {
		return isText(d.bytes(piece{m.name, m.headAdded}), name)
	}
	return int(m.name.End-m.name.Start) == len(name) && string(d.bytes(piece{m.name, m.headAdded})) == string(name)
}

// nameOf returns the name of a member.
func (n *Node) nameOf(i int) []byte { return n.members[i].nameIn(n.doc) }

// member returns the node of a member.
func (n *Node) member(i int) *Node {
	m := &n.members[i]
	if m.value == nil {
		m.value = n.doc.node(Node{parent: n, at: m.piece(), moved: m.moved})
	}
	return m.value
}

// A Member is a member of an object or an element of an array that Filter has come to.
type Member struct {
	of *Node
	i  int
}

// Node returns the value, to be looked into or edited.
func (m Member) Node() *Node { return m.of.member(m.i) }

// Value returns the value as it stands now: Node().Value(), but without a node.
func (m Member) Value() Value {
	if e := &m.of.members[m.i]; e.value == nil {
		return Value{doc: m.of.doc, at: e.piece()}
	}
	return m.Node().Value()
}

// A Name is the name of a member, ready to be added to objects. The zero Name is none.
type Name struct {
	text string
	head []byte // the comma, the name as JSON, the colon; nil if it is not UTF-8
	bit  nameBits
}

// NameOf returns a name.
func NameOf(name string) Name { return Name{name, appendHead(nil, name), bitOf(name)} }

func appendHead(dst []byte, name string) []byte {
	if !utf8.ValidString(name) {
		return nil
	}
	return append(AppendString(append(dst, ','), name), ':')
}

// nameBits has a bit for each of some names: where that of a name is missing, the name is none of them.
type nameBits uint64

func bitOf[T string | []byte](name T) nameBits {
	hash := len(name) * 7
	if len(name) > 0 {
		hash += int(name[0]) + int(name[len(name)-1])*31
	}
	return 1 << (hash & 63)
}
