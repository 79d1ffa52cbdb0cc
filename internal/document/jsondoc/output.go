package jsondoc

import (
	"io"
	"slices"
)

// An Output is a text put together from pieces of a document, which are copied only when it is
// written. The document must not be reset before that.
type Output struct {
	doc    *Document
	pieces []piece
	size   int
}

// Reset empties the output for pieces of d.
func (o *Output) Reset(d *Document) { o.doc, o.pieces, o.size = d, emptied(o.pieces, keepFields), 0 }

// Len returns the size of the text in bytes.
func (o *Output) Len() int { return o.size }

// Put adds the text of a node, which must not be nil, with its edits. Untouched text is one piece.
func (o *Output) Put(n *Node) {
	if !n.changed {
		o.put(n.at)
		return
	}
	start, end, added := n.at.Start, n.at.End, n.at.added
	o.put(piece{Span{start, start + 1}, added})
	for i := range n.members {
		m := &n.members[i]
		head := piece{m.head, m.headAdded}
		if i == 0 {
			head.Start++ // not the comma of a member that was not first, or the brace again
		}
		o.put(head)
		if m.value == nil {
			o.put(m.piece())
		} else {
			o.Put(m.value)
		}
		o.put(m.tail())
	}
	o.put(piece{Span{end - 1, end}, added})
}

// appendTo is Put to the texts of edits (BenchmarkKinds in converters/rules).
func (n *Node) appendTo(d *Document) {
	if !n.changed {
		d.copy(n.at)
		return
	}
	start, end, added := n.at.Start, n.at.End, n.at.added
	d.copy(piece{Span{start, start + 1}, added})
	for i := range n.members {
		m := &n.members[i]
		head := piece{m.head, m.headAdded}
		if i == 0 {
			head.Start++
		}
		d.copy(head)
		if m.value == nil {
			d.copy(m.piece())
		} else {
			m.value.appendTo(d)
		}
		d.copy(m.tail())
	}
	d.copy(piece{Span{end - 1, end}, added})
}

// PutSpan adds part of the document's text.
func (o *Output) PutSpan(at Span) { o.put(piece{Span: at}) }

// PutText adds a text that is not from the document.
func (o *Output) PutText(text string) { o.put(o.doc.add([]byte(text))) }

func (o *Output) put(p piece) {
	o.size += int(p.End - p.Start)
	if last := len(o.pieces) - 1; last >= 0 && o.pieces[last].End == p.Start && o.pieces[last].added == p.added {
		o.pieces[last].End = p.End
	} else if p.Start != p.End {
		o.pieces = append(o.pieces, p)
	}
}

// AppendTo appends the text to dst.
func (o *Output) AppendTo(dst []byte) []byte {
	dst = slices.Grow(dst, o.size)
	for _, p := range o.pieces {
		dst = append(dst, o.doc.bytes(p)...)
	}
	return dst
}

// Settle drops what the document has but for the texts that the output refers to. It returns the
// bytes of memory that are still in use, without the document's own text. Only AppendTo and WriteTo
// may follow, until the document is reset.
func (o *Output) Settle() int64 {
	d := o.doc
	d.object, d.opened, d.indexes, d.inventory = Object{}, Outline{}, nil, inventory{}
	d.fields, d.nested, d.nodes, d.members = nil, nil, nil, nil
	d.inside, d.whole = Scanner{}, Scanner{}
	return int64(cap(d.added) + cap(o.pieces)*pieceSize)
}

const pieceSize = 12 // bytes

// WriteTo writes each piece to w, so w should be a bufio.Writer of some tens of KiB.
func (o *Output) WriteTo(w io.Writer) (written int64, err error) {
	for _, p := range o.pieces {
		n, err := w.Write(o.doc.bytes(p))
		if written += int64(n); err != nil {
			return written, err
		}
	}
	return written, nil
}
