package jsondoc

import (
	"io"
	"slices"
)

// An Output is a text put together from pieces of a document, each of which is copied once, when the text is written. The
// document must not be reset before that.
type Output struct {
	doc    *Document
	pieces []piece
	size   int
}

// Reset empties the output and makes it one of pieces of d.
func (o *Output) Reset(d *Document) { o.doc, o.pieces, o.size = d, emptied(o.pieces, keepFields), 0 }

// Len returns the size of the text in bytes.
func (o *Output) Len() int { return o.size }

// Put adds the text of a node, which must not be nil, as it stands now. What is untouched becomes one piece.
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
			head.Start++ // the comma of one that was not always first; the brace is there already
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

// PutSpan adds a stretch of the document's text.
func (o *Output) PutSpan(at Span) { o.put(piece{Span: at}) }

// PutText adds text that is not of the document.
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

// WriteTo writes the text to w piece by piece, so w should be a bufio.Writer of some tens of KiB.
func (o *Output) WriteTo(w io.Writer) (written int64, err error) {
	for _, p := range o.pieces {
		n, err := w.Write(o.doc.bytes(p))
		if written += int64(n); err != nil {
			return written, err
		}
	}
	return written, nil
}
