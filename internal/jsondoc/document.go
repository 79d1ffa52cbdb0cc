package jsondoc

import "math"

// A Document holds the text of one request and what is added to it: the texts that edits bring, and the nodes of the
// object that is open. Reset readies it for the next text, so that a steady load allocates little.
type Document struct {
	text    []byte
	added   []byte
	fields  []field
	nodes   []Node
	members []member
	object  Object
}

const (
	maxFields = 1 << 20 // bounds the members of all outlines together, and so the memory that tiny objects cost
	keepBytes = 1 << 20 // what a document keeps for its next text at the most, of each of its lists
	addedSeed = ","     // what separates members that did not stand beside each other in the text
)

// A piece is a stretch of a document's text or, when added, of the texts that edits brought.
type piece struct {
	Span
	added bool
}

// A field says where a member stands: from start, behind the brace or comma before it, to end, the brace or comma behind.
type field struct {
	name                        Span
	start, value, valueEnd, end uint32
}

// An Outline says where an object of a document stands, and where its members do.
type Outline struct {
	Span
	fields Span
}

// Reset makes text, which must not change while the document is in use, the document's text, and forgets all that was
// made from the one before: outlines, objects, nodes, values and outputs.
func (d *Document) Reset(text []byte) {
	if cap(d.added) > keepBytes {
		d.added = nil
	}
	if cap(d.fields) > keepBytes/32 {
		d.fields = nil
	}
	d.text, d.added, d.fields = text, append(d.added[:0], addedSeed...), d.fields[:0]
}

// Outline reads the object at the place of s, which must be a scanner over the document's text, and remembers where its
// members stand. A repeated name is an error, in the object and in its member called nested.
func (d *Document) Outline(s *Scanner, nested string) (Outline, error) {
	start, first := s.pos, len(d.fields)
	err := d.outline(s, s.Members, nested)
	return Outline{span(start, s.pos), span(first, len(d.fields))}, err
}

// outline adds the fields of the array or object that each reads.
func (d *Document) outline(s *Scanner, each func(func([]byte) error) error, nested string) error {
	start := s.pos + 1
	return each(func(name []byte) (err error) {
		f := field{name: s.nameAt, start: offset(start), value: offset(s.pos)}
		if nested != "" && string(name) == nested && s.Kind() == Map {
			err = s.Members(func([]byte) error { _, err := s.Skip(); return err })
		} else {
			_, err = s.Skip()
		}
		f.valueEnd, f.end = offset(s.pos), offset(s.space(s.pos))
		start = int(f.end) + 1
		if d.fields = append(d.fields, f); len(d.fields) > maxFields && err == nil {
			err = &SyntaxError{s.pos, "too many members in all objects together"}
		}
		return err
	})
}

// Open returns the object that o outlines, and ends the life of the one that was open before and of its nodes.
func (d *Document) Open(o Outline) *Object {
	d.nodes, d.members = d.nodes[:0], d.members[:0]
	root := d.node(nil, piece{Span: o.Span})
	root.list(d.fields[o.fields.Start:o.fields.End], 0)
	d.object.Node = root
	return &d.object
}

// Text returns a stretch of the document's own text.
func (d *Document) Text(at Span) []byte { return d.bytes(piece{Span: at}) }

// Value returns a value of the document's own text, which must be one valid JSON value.
func (d *Document) Value(at Span) Value { return Value{doc: d, at: piece{Span: at}} }

// Member returns where the value of a member of an outlined object stands in the text, and whether there is one.
func (d *Document) Member(o Outline, name string) (Span, bool) {
	for _, f := range d.fields[o.fields.Start:o.fields.End] {
		if string(unescaped(d.text[f.name.Start:f.name.End])) == name {
			return Span{f.value, f.valueEnd}, true
		}
	}
	return Span{}, false
}

// node returns a node that stays in its place: a full chunk is left to those who point into it.
func (d *Document) node(parent *Node, at piece) *Node {
	if len(d.nodes) == cap(d.nodes) {
		d.nodes = make([]Node, 0, 64)
	}
	d.nodes = append(d.nodes, Node{doc: d, parent: parent, at: at})
	return &d.nodes[len(d.nodes)-1]
}

// bytes returns the text of a piece.
func (d *Document) bytes(p piece) []byte {
	if p.added {
		return d.added[p.Start:p.End:p.End]
	}
	return d.text[p.Start:p.End:p.End]
}

// place returns where v stands in this document, and adds its text if it is from elsewhere.
func (d *Document) place(v Value) piece {
	if v.doc == d {
		return v.at
	}
	start := len(d.added)
	d.added = append(d.added, v.Text()...)
	return d.addedSince(start)
}

// addedSince returns what was added from start on. Edits of 2 GiB are a converter gone wild: its object fails by a panic.
func (d *Document) addedSince(start int) piece {
	if len(d.added) > math.MaxInt32 {
		panic("jsondoc: edits of 2 GiB or more")
	}
	return piece{span(start, len(d.added)), true}
}

func span(start, end int) Span { return Span{offset(start), offset(end)} }

// offset narrows an offset, which NewScanner, addedSince and maxFields keep below 31 bits.
func offset(i int) uint32 { return uint32(i) } //nolint:gosec // bounded as said
