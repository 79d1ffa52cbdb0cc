package jsondoc

import (
	"math"
	"slices"
)

// A Document holds the text of one request, the texts of edits, and the nodes of the open object.
// Reset prepares it for the next text, so that a steady load allocates little.
type Document struct {
	// Reserve, if set, is asked for more bytes as outlines, names, nodes and edits grow, some at a
	// time. The memory is needed until the next Reset or [Output.Settle]. After an error, every
	// call fails that needs more.
	Reserve func(bytes int64) error

	text, added []byte
	fields      []field  // of outlines
	nested      []field  // of the nested members of outlines
	nodes       []Node   // their last chunk
	members     []member // their last chunk: those of a node are in one chunk
	object      Object
	opened      Outline // of the object
	inventory   inventory
	inside      Scanner // of the node that is being read
	whole       Scanner // of the text
	used        int     // bytes of outlines, nodes and edits
	ofObject    int     // bytes of used for the open object
	granted     int     // bytes, by Reserve
	refused     error   // by Reserve
	indexes     map[*Node]*index
	obscured    bool // as of Scanner, for all objects so far
}

const (
	maxFields = 1 << 20 // limits the members of all outlines together, and so the memory for tiny objects
	nodeChunk = 64      // the fewest nodes or members in a chunk

	// Limits of what a document or an output keeps for its next text: bytes of edits, members of
	// outlines or pieces, members and nodes of the open object.
	keepAdded, keepFields, keepMembers, keepNodes = 1 << 20, 1 << 15, 1 << 10, 1 << 9

	// Sizes in bytes; that of a field with half of it for the growth of the list.
	fieldSize, memberSize, nodeSize = 28 * 3 / 2, 40, 64
	// reserveUnit is the fewest bytes that are reserved at a time, and the most that are not.
	reserveUnit = 32 << 10
	// ordinaryShare is which part of an ordinary text its outlines take, which is not reserved:
	// otherwise the largest text that there is memory for would not do.
	ordinaryShare = 32
)

// A piece is a part of a document's text or, if added, of the texts of edits.
type piece struct {
	Span
	added bool
}

// A field has the positions of a member, from the brace or comma before it to the one behind.
type field struct {
	name                        Span
	start, value, valueEnd, end uint32
	escaped                     bool // the name has escapes
}

func (f *field) is(literal []byte, name string) bool {
	if f.escaped {
		return isText(literal, name)
	}
	return string(literal) == name
}

// An Outline has the positions of an object in a document and of its members.
type Outline struct {
	Span
	fields Span
	nested Span   // fields of the nested member
	inside uint32 // position of the nested member
}

// Reset sets the text of the document, and drops everything made from the previous one: outlines,
// objects, nodes, values and outputs. The text must not change while the document is in use.
func (d *Document) Reset(text []byte) {
	d.text, d.object, d.inside.text, d.whole.text = text, Object{}, nil, nil
	d.added, d.fields = emptied(d.added, keepAdded), emptied(d.fields, keepFields)
	d.nested = emptied(d.nested, keepFields)
	d.dropNodes()
	d.nodes, d.members = emptied(d.nodes, keepNodes), emptied(d.members, keepMembers)
	d.obscured = false
	clear(d.indexes)
	d.used, d.ofObject, d.granted, d.refused = 0, 0, reserveUnit+len(text)/ordinaryShare, nil
	d.inventory.empty()
}

// dropNodes drops the nodes of the open object, and what they refer to.
func (d *Document) dropNodes() {
	clear(d.nodes)
	clear(d.members)
	d.nodes, d.members = d.nodes[:0], d.members[:0]
}

// Scanner is NewScanner for the document's text, with the memory of the previous one. The result is
// valid until the next call or Reset.
func (d *Document) Scanner(maxDepth int) (*Scanner, error) {
	names := emptied(d.whole.names, keepFields)
	s, err := NewScanner(d.text, maxDepth)
	d.whole, d.whole.names, d.whole.reserve = s, names, d.Reserve
	return &d.whole, err
}

// emptied empties a list. It drops the memory of a list that is much larger than keep.
func emptied[T any](list []T, keep int) []T {
	if cap(list) > 2*keep {
		return nil
	}
	return list[:0]
}

// Outline reads the object at s, a scanner over the document's text. It fails for a duplicate name
// in the object or in its member nested. Read, unless it is nil, moves the scanner over the values
// of other members.
func (d *Document) Outline(s *Scanner, nested string, read func(name []byte) error) (Outline, error) {
	o := Outline{Span: span(s.pos, s.pos), fields: span(len(d.fields), len(d.fields))}
	err := d.outline(s, &d.fields, func(name []byte) error {
		switch {
		case string(name) == nested && s.Kind() == Map:
		case read != nil:
			return read(name)
		default:
			return s.skip(name)
		}
		first := len(d.nested)
		o.inside = offset(s.pos)
		err := d.outline(s, &d.nested, s.skip)
		o.nested = span(first, len(d.nested))
		return err
	})
	o.End, o.fields.End = offset(s.pos), offset(len(d.fields))
	d.obscured = d.obscured || s.obscured
	return o, err
}

// outline adds to fields those of the object at s; skip moves s over a value.
func (d *Document) outline(s *Scanner, fields *[]field, skip func(name []byte) error) error {
	start := offset(s.pos)
	return s.Members(func(name []byte) error {
		f := field{name: s.nameAt, start: start, value: offset(s.pos)}
		f.escaped = len(name) != int(f.name.End-f.name.Start) // an escape is longer than its character
		err := skip(name)
		f.valueEnd, f.end = offset(s.pos), offset(s.space(s.pos))
		start = f.end
		if *fields = append(*fields, f); len(*fields) > maxFields && err == nil {
			err = &SyntaxError{s.pos, "too many members in all objects together"}
		}
		if err == nil {
			err = d.use(fieldSize)
		}
		return err
	})
}

// useForObject is use for bytes that are needed while the object is open.
func (d *Document) useForObject(bytes int) error {
	d.ofObject += bytes
	return d.use(bytes)
}

// use counts bytes, and reserves more when that is due.
func (d *Document) use(bytes int) error {
	d.used += bytes
	if more := d.used - d.granted; more > 0 && d.Reserve != nil && d.refused == nil {
		more = max(more, reserveUnit)
		d.granted += more
		d.refused = d.Reserve(int64(more))
	}
	return d.refused
}

// Open returns the object of an outline, and ends the life of the previously open one.
func (d *Document) Open(o Outline) *Object {
	d.dropNodes()
	d.used, d.ofObject = d.used-d.ofObject, 0
	d.opened = o
	d.inventory.empty()
	clear(d.indexes) // nodes are reused
	d.object.Node = d.node(Node{at: piece{Span: o.Span}})
	d.object.list(d.fields[o.fields.Start:o.fields.End])
	return &d.object
}

// Text returns part of the document's text.
func (d *Document) Text(at Span) []byte { return d.bytes(piece{Span: at}) }

// Value returns part of the document's text as a value. It must be one valid JSON value.
func (d *Document) Value(at Span) Value { return Value{doc: d, at: piece{Span: at}} }

// Member returns the position of a member's value in an outlined object, and whether it has the
// member.
func (d *Document) Member(o Outline, name string) (Span, bool) {
	return d.find(d.fields[o.fields.Start:o.fields.End], name)
}

// Nested is Member for the nested member of the object.
func (d *Document) Nested(o Outline, name string) (Span, bool) {
	return d.find(d.nested[o.nested.Start:o.nested.End], name)
}

// EachNested calls visit for each member of the nested member, with the literal of its name,
// without quotes, and the position of its value, until visit returns false.
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

// node stores n at an address that stays valid: full chunks are never moved.
func (d *Document) node(n Node) *Node {
	if len(d.nodes) == cap(d.nodes) {
		d.nodes = make([]Node, 0, max(nodeChunk, min(2*cap(d.nodes), keepNodes)))
		_ = d.useForObject(cap(d.nodes) * nodeSize) // a later call fails
	}
	n.doc = d
	d.nodes = append(d.nodes, n)
	return &d.nodes[len(d.nodes)-1]
}

// bytes returns the text of a piece. It panics for a piece beyond the end of the text, where the
// memory may hold other texts.
func (d *Document) bytes(p piece) []byte {
	text := d.text
	if p.added {
		text = d.added
	}
	return slices.Clip(text)[p.Start:p.End:p.End]
}

// add adds the text of an edit. 2 GiB of edits are a bug of the converter, whose object fails by a
// panic.
func (d *Document) add(text []byte) piece {
	start := len(d.added)
	d.append(text)
	return d.since(start)
}

func (d *Document) append(text []byte) {
	if len(text) > math.MaxInt32-len(d.added) {
		panic("jsondoc: edits of 2 GiB or more")
	}
	d.added = append(d.added, text...)
	_ = d.use(len(text)) // a later call fails
}

// copy adds the text of a piece. An empty one may be of the other text.
func (d *Document) copy(p piece) {
	if p.Start != p.End {
		d.append(d.bytes(p))
	}
}

// since returns what was added since there were so many bytes.
func (d *Document) since(start int) piece { return piece{span(start, len(d.added)), true} }

// place returns the position of v in this document, and adds its text if it is from elsewhere.
func (d *Document) place(v Value) piece {
	if v.doc == d {
		return v.at
	}
	return d.add(v.Text())
}

func span(start, end int) Span { return Span{offset(start), offset(end)} }

// offset narrows an offset, which NewScanner, add and maxFields keep below 31 bits.
func offset(i int) uint32 { return uint32(i) } //nolint:gosec // bounded as said
