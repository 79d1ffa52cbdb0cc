package jsondoc

import (
	"math"
	"slices"
)

// A Document holds the text of one request and what is added to it: the texts that edits bring, and the nodes of the
// object that is open. Reset readies it for the next text, so that a steady load allocates little.
type Document struct {
	// Reserve, where it is set, is asked before the outlines, or the names of one object, take more memory than those of an
	// ordinary text of this size: so many bytes more, until the next Reset. Its error is that of the call which needs the memory.
	Reserve func(bytes int64) error

	text, added []byte
	fields      []field // of outlines, and for a moment of the node that is looked into
	nested      []field // of the members of outlines that are called nested
	nodes       []Node  // the last chunk of them
	members     []member
	object      Object
	opened      Outline // of the object
	inventory   inventory
	inside      Scanner // of the node that is looked into
	whole       Scanner // of the text
	room        int     // for fields, before Reserve is asked
	indexes     map[*Node]*index
	obscured    bool // as of a scanner: some string of an object that was outlined, or before it
}

const (
	maxFields = 1 << 20 // bounds the members of all outlines together, and so the memory that tiny objects cost
	nodeChunk = 64
	// What a document or an output keeps for its next text at the most: bytes of edits, members of outlines or pieces,
	// members of the open object.
	keepAdded, keepFields, keepMembers = 1 << 20, 1 << 15, 1 << 10
	fieldSize                          = 28 // bytes that a field takes
)

// A piece is a stretch of a document's text or, when added, of the texts that edits brought.
type piece struct {
	Span
	added bool
}

// A field says where a member stands: from start, the brace or comma before it, to end, the brace or comma behind.
type field struct {
	name                        Span
	start, value, valueEnd, end uint32
	escaped                     bool // the name has escapes
}

// is reports whether a field whose name is a literal has a name.
func (f *field) is(literal []byte, name string) bool {
	if f.escaped {
		return isText(literal, name)
	}
	return string(literal) == name
}

// An Outline says where an object of a document stands, and where its members do.
type Outline struct {
	Span
	fields Span
	nested Span   // fields of the member called nested
	inside uint32 // where that stands
}

// Reset makes text, which must not change while the document is in use, the document's text, and forgets all that was
// made from the one before: outlines, objects, nodes, values and outputs.
func (d *Document) Reset(text []byte) {
	d.text, d.object, d.inside.text, d.whole.text = text, Object{}, nil, nil
	d.added, d.fields = emptied(d.added, keepAdded), emptied(d.fields, keepFields)
	d.nested = emptied(d.nested, keepFields)
	d.dropNodes()
	d.nodes, d.members = emptied(d.nodes, nodeChunk), emptied(d.members, keepMembers)
	d.obscured = false
	clear(d.indexes)
	d.room = d.ordinary()
	d.inventory.empty()
}

// dropNodes lets go of the nodes of the open object, and of those that they hold on to.
func (d *Document) dropNodes() {
	clear(d.nodes)
	clear(d.members)
	d.nodes, d.members = d.nodes[:0], d.members[:0]
}

// ordinary returns how many members an ordinary text of this size has at the most: one in a hundred bytes. Fields of as many take less
// than half of its size.
func (d *Document) ordinary() int { return 2<<10 + len(d.text)/64 }

// Scanner returns the document's scanner, at the start of its text: NewScanner, but with the memory of the last one. It is
// good until the next call and the next Reset.
func (d *Document) Scanner(maxDepth int) (*Scanner, error) {
	names := emptied(d.whole.names, keepFields)
	s, err := NewScanner(d.text, maxDepth)
	d.whole, d.whole.names, d.whole.reserve = s, names, d.Reserve
	return &d.whole, err
}

// emptied returns the list without elements, and without its memory if that is for many more than keep.
func emptied[T any](list []T, keep int) []T {
	if cap(list) > 2*keep {
		return nil
	}
	return list[:0]
}

// Outline reads the object at the place of s, which must be a scanner over the document's text, and remembers where its
// members stand. A repeated name is an error, in the object and in its member called nested.
func (d *Document) Outline(s *Scanner, nested string) (Outline, error) {
	o := Outline{Span: span(s.pos, s.pos), fields: span(len(d.fields), len(d.fields))}
	err := d.outline(s, &d.fields, func(name []byte) error {
		if string(name) != nested || s.Kind() != Map {
			_, err := s.Skip()
			return err
		}
		first := len(d.nested)
		o.inside = offset(s.pos)
		err := d.outline(s, &d.nested, func([]byte) error { _, err := s.Skip(); return err })
		o.nested = span(first, len(d.nested))
		return err
	})
	o.End, o.fields.End = offset(s.pos), offset(len(d.fields))
	d.obscured = d.obscured || s.obscured
	return o, err
}

// outline adds to fields those of the object at the place of s; skip moves s over a value.
func (d *Document) outline(s *Scanner, fields *[]field, skip func(name []byte) error) error {
	start := offset(s.pos)
	return s.Members(func(name []byte) error {
		f := field{name: s.nameAt, start: start, value: offset(s.pos)}
		f.escaped = len(name) != int(f.name.End-f.name.Start) // every escape is longer than what it stands for
		err := skip(name)
		f.valueEnd, f.end = offset(s.pos), offset(s.space(s.pos))
		start = f.end
		if *fields = append(*fields, f); len(*fields) > maxFields && err == nil {
			err = &SyntaxError{s.pos, "too many members in all objects together"}
		}
		if len(d.fields)+len(d.nested) > d.room && err == nil {
			err = d.reserve()
		}
		return err
	})
}

// makeRoom asks before there are so many more members of the open object than there is room for.
func (d *Document) makeRoom(more int) error {
	for len(d.fields)+len(d.nested)+len(d.members)+more > d.room {
		if err := d.reserve(); err != nil {
			return err
		}
	}
	return nil
}

// reserve doubles the room for fields.
func (d *Document) reserve() error {
	if d.Reserve != nil {
		if err := d.Reserve(int64(d.room) * fieldSize); err != nil {
			return err
		}
	}
	d.room *= 2
	return nil
}

// Open returns the object that o outlines, and ends the life of the one that was open before and of its nodes.
func (d *Document) Open(o Outline) *Object {
	d.dropNodes()
	d.opened = o
	d.inventory.empty()
	clear(d.indexes) // of nodes that are used again
	d.object.Node = d.node(Node{at: piece{Span: o.Span}})
	d.object.list(d.fields[o.fields.Start:o.fields.End])
	return &d.object
}

// Text returns a stretch of the document's own text.
func (d *Document) Text(at Span) []byte { return d.bytes(piece{Span: at}) }

// Value returns a value of the document's own text, which must be one valid JSON value.
func (d *Document) Value(at Span) Value { return Value{doc: d, at: piece{Span: at}} }

// Member returns where the value of a member of an outlined object stands in the text, and whether there is one.
func (d *Document) Member(o Outline, name string) (Span, bool) {
	return d.find(d.fields[o.fields.Start:o.fields.End], name)
}

// Nested returns where the value of a member of the member called nested stands, of an outlined object.
func (d *Document) Nested(o Outline, name string) (Span, bool) {
	return d.find(d.nested[o.nested.Start:o.nested.End], name)
}

// EachNested calls visit for each member of the member called nested, of an outlined object, with the literal of its name,
// without quotes, and the place of its value, until it returns false.
func (d *Document) EachNested(o Outline, visit func(name []byte, at Span) bool) {
	for i := o.nested.Start; i < o.nested.End; i++ {
		if f := &d.nested[i]; !visit(d.Text(f.name), Span{f.value, f.valueEnd}) {
			return
		}
	}
}

func (d *Document) find(fields []field, name string) (Span, bool) {
	for i := range fields {
		if f := &fields[i]; f.is(d.Text(f.name), name) {
			return Span{f.value, f.valueEnd}, true
		}
	}
	return Span{}, false
}

// node keeps n in a place that stays: a full chunk is left to those who point into it.
func (d *Document) node(n Node) *Node {
	if len(d.nodes) == cap(d.nodes) {
		d.nodes = make([]Node, 0, nodeChunk)
	}
	n.doc = d
	d.nodes = append(d.nodes, n)
	return &d.nodes[len(d.nodes)-1]
}

// bytes returns the text of a piece. Behind the end of a text, where its memory goes on, are the texts of others: a piece
// that leads there panics.
func (d *Document) bytes(p piece) []byte {
	text := d.text
	if p.added {
		text = d.added
	}
	return slices.Clip(text)[p.Start:p.End:p.End]
}

// add adds text that an edit brings. Edits of 2 GiB are a converter gone wild: its object fails by a panic.
func (d *Document) add(text []byte) piece {
	start := len(d.added)
	if len(text) > math.MaxInt32-start {
		panic("jsondoc: edits of 2 GiB or more")
	}
	d.added = append(d.added, text...)
	return piece{span(start, len(d.added)), true}
}

// place returns where v stands in this document, and adds its text if it is from elsewhere.
func (d *Document) place(v Value) piece {
	if v.doc == d {
		return v.at
	}
	return d.add(v.Text())
}

func span(start, end int) Span { return Span{offset(start), offset(end)} }

// offset narrows an offset, which NewScanner, add and maxFields keep below 31 bits.
func offset(i int) uint32 { return uint32(i) } //nolint:gosec // bounded as said
