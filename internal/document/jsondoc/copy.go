package jsondoc

import "bytes"

// Original returns the object as the document has it, without the edits since Open. It costs no
// scan. Its edits are its own, and it lives as long as o.
func (o *Object) Original() *Object {
	d := o.doc
	root := d.node(Node{at: piece{Span: d.opened.Span}})
	root.list(d.fields[d.opened.fields.Start:d.opened.fields.End])
	return &Object{root}
}

// Copy returns the object with its edits so far, untouched as from ParseObject but without a scan.
// Edits of the copy are its own, and it lives as long as o. Copy returns nil if ParseObject might
// refuse the text, because edits have nested it too deep or it has a duplicate name.
func (o *Object) Copy() *Object {
	if o.look() != nil {
		return nil
	}
	root := o.doc.copyOf(o.Node, nil, 1)
	if root == nil {
		return nil
	}
	return &Object{root}
}

// copyOf copies a node and everything below it that was edited or read, so that the copy needs no
// new scan (BenchmarkKinds in converters/rules).
func (d *Document) copyOf(n, parent *Node, depth int) *Node {
	c := d.node(Node{parent: parent, at: n.at, changed: n.changed, copied: n.changed})
	if !n.changed && parent != nil {
		if n.moved && d.mayBeDeep(n.at, depth) {
			return nil
		}
		if n.members == nil {
			return c
		}
	}
	first := d.chunk(len(d.members), len(n.members))
	d.members = append(d.members, n.members...)
	c.names = n.names
	c.listed(first)
	for i := range c.members {
		m := &c.members[i]
		was := m.value
		switch m.value = nil; {
		case was != nil && (was.changed || was.at != m.piece() || was.members != nil): // also of a copy of what was replaced
			if m.value = d.copyOf(was, c, depth+1); m.value == nil {
				return nil
			}
		case m.moved && d.mayBeDeep(m.piece(), depth+1):
			return nil
		}
		m.moved = false
	}
	return c
}

// mayBeDeep reports whether a value at a depth may have more levels than ParseObject allows. It
// overestimates them.
func (d *Document) mayBeDeep(at piece, depth int) bool {
	text := d.bytes(at)
	if depth+len(text)/2 <= MaxDepth { // a level takes two bytes
		return false
	}
	return depth+bytes.Count(text, []byte("{"))+bytes.Count(text, []byte("[")) > MaxDepth
}
