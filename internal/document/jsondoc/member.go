package jsondoc

import "unicode/utf8"

// A member is a member of an object, or an element of an array, which has no name. Its text is
// head, value and tail; head starts with the comma or brace before the member. It is small, and
// gets a node only on demand, since most members are only skipped (BenchmarkConvert in
// converters/rules).
type member struct {
	name, head Span
	at         Span   // of the value, until it has a node
	end        uint32 // of the tail behind the value, which a new member lacks
	headAdded  bool   // name and head are text of an edit
	escaped    bool   // the name has escapes
	added      bool   // the value is text of an edit
	moved      bool   // as of a node
	value      *Node
}

// behind moves a span of a part that starts at base.
func (s Span) behind(base uint32) Span { return Span{base + s.Start, base + s.End} }

// leave detaches the value's node: its edits are no longer edits of the object.
func (m *member) leave() {
	if m.value != nil {
		m.value.parent = nil
	}
}

// piece returns the value's piece, until it has a node.
func (m *member) piece() piece { return piece{m.at, m.added} }

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

func (n *Node) nameOf(i int) []byte { return n.members[i].nameIn(n.doc) }

// member returns the node of a member, and creates it if necessary.
func (n *Node) member(i int) *Node {
	m := &n.members[i]
	if m.value == nil {
		m.value = n.doc.node(Node{parent: n, at: m.piece(), moved: m.moved})
	}
	return m.value
}

// A Member is a member of an object, or an element of an array, in Filter.
type Member struct {
	of *Node
	i  int
}

// Node returns the value for reading and editing.
func (m Member) Node() *Node { return m.of.member(m.i) }

// Value is Node().Value() without a node.
func (m Member) Value() Value {
	if e := &m.of.members[m.i]; e.value == nil {
		return Value{doc: m.of.doc, at: e.piece()}
	}
	return m.Node().Value()
}

// A Name is a member's name that is encoded once, to be added to many objects.
type Name struct {
	text string
	head []byte // comma, JSON name, colon; nil if not UTF-8
	bit  nameBits
}

// NameOf encodes a name.
func NameOf(name string) Name { return Name{name, appendHead(nil, name), bitOf(name)} }

func appendHead(dst []byte, name string) []byte {
	if !utf8.ValidString(name) {
		return nil
	}
	return append(AppendString(append(dst, ','), name), ':')
}

// nameBits is a Bloom filter of names: without its bit, a name is not in the set.
type nameBits uint64

func bitOf[T string | []byte](name T) nameBits {
	hash := len(name) * 7
	if len(name) > 0 {
		hash += int(name[0]) + int(name[len(name)-1])*31
	}
	return 1 << (hash & 63)
}

// An index finds members of a large object by name, so that the time for all lookups is linear
// (BenchmarkBigMap in converters/rules).
type index struct {
	next   int // where the next lookup is likely to find its member
	misses int // lookups that found it elsewhere
	at     map[string]int
}

const (
	// manyMembers is the largest number of members that are searched without an index.
	manyMembers = 64
	// fewMisses is how many misses cost as much as a map of the names.
	fewMisses = 16
)

// lookup returns the index of the member of a large object, or -1.
func (n *Node) lookup(name string) int {
	x := n.doc.indexes[n]
	if x == nil {
		if n.doc.indexes == nil {
			n.doc.indexes = make(map[*Node]*index)
		}
		x = &index{}
		n.doc.indexes[n] = x
	}
	if i := x.next; i < len(n.members) && isNamed(&n.members[i], n.doc, name) {
		x.next++
		return i
	}
	if x.at == nil {
		if x.misses++; x.misses <= fewMisses {
			i := search(n, name)
			x.next = i + 1
			return i
		}
		x.at = make(map[string]int, len(n.members))
		for i := range n.members {
			x.at[string(n.nameOf(i))] = i
		}
	}
	i, found := x.at[name]
	if !found {
		return -1
	}
	x.next = i + 1
	return i
}

// forget drops the index, before members move.
func (n *Node) forget() {
	if len(n.members) > manyMembers {
		delete(n.doc.indexes, n)
	}
}
