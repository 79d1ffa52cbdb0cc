package jsondoc

import (
	"slices"
	"strconv"
	"strings"
)

// An Object is the root node of an open object, with methods to read and edit by paths of names.
type Object struct{ *Node }

// ParseObject parses text into an object of its own document. It fails for a duplicate name in the
// object or its metadata.
func ParseObject(text []byte) (*Object, error) { return new(Document).Parse(text) }

// Parse is ParseObject with the memory of the document, which is reset.
func (d *Document) Parse(text []byte) (*Object, error) {
	d.Reset(text)
	s, err := d.Scanner(MaxDepth)
	if err != nil {
		return nil, err
	}
	o, err := d.Outline(s, "metadata", nil)
	if err == nil {
		err = s.End()
	}
	if err != nil {
		return nil, err
	}
	return d.Open(o), nil
}

// Get returns the value at a path, or nil if a step is absent or not an object; a null is a value.
// It fails as Member does. The empty path is the object itself, here and in Set.
func (o *Object) Get(path ...string) (*Node, error) {
	n, err := o.Node, error(nil)
	for _, name := range path {
		if n, err = n.Member(name); n == nil {
			break
		}
	}
	return n, err
}

// NestedText returns the text at a path of two names, without reading a node if the outline has it,
// and whether the text may escape letters or dots.
func (o *Object) NestedText(nested, name string) (text []byte, obscured bool, err error) {
	n, err := o.Member(nested)
	if err == nil && n.outlined() && n.members == nil {
		d := o.doc
		at, _ := d.find(d.nested[d.opened.nested.Start:d.opened.nested.End], name)
		return d.Text(at), d.obscured, nil
	}
	if err == nil {
		n, err = n.Member(name)
	}
	return n.Text(), o.doc.obscured || n != nil && (n.changed || n.at.added), err
}

// Set sets the value at a path, and creates objects on the way that are absent or null. It fails
// without a change if something on the way is not an object.
func (o *Object) Set(v Value, path ...string) error {
	n := o.Node
	for i, name := range path {
		if i == len(path)-1 {
			return n.SetMember(name, v)
		}
		next, err := n.Member(name)
		if err == nil && (next == nil || next.Kind() == Null) {
			if err = n.SetMember(name, Value{text: []byte("{}")}); err == nil {
				next, err = n.Member(name)
			}
		}
		if err != nil {
			return err
		}
		n = next
	}
	n.Replace(v)
	return nil
}

// Remove removes the value at a path, if there is one. Empty objects stay. It fails for the empty
// path, and as Get does.
func (o *Object) Remove(path ...string) error {
	if len(path) == 0 {
		return &PathError{"cannot be removed", "."}
	}
	last := len(path) - 1
	parent, err := o.Get(path[:last]...)
	if parent == nil {
		return err
	}
	return parent.RemoveMember(path[last])
}

// Move moves a value without reading its text, and reports whether there was one. If it cannot be
// set after it was removed, it is lost.
func (o *Object) Move(from, to []string) (bool, error) {
	n, err := o.Get(from...)
	if n == nil || slices.Equal(from, to) {
		return n != nil, err
	}
	v := n.Value()
	if err := o.Remove(from...); err != nil {
		return false, err
	}
	return true, o.Set(v, to...)
}

// A PathError names a path of an object that cannot be read or edited.
type PathError struct {
	Problem string // what is wrong there
	Path    string // as FormatPath writes it
}

// Error implements error.
func (e *PathError) Error() string { return e.Problem + ": " + e.Path }

// FormatPath writes a path of names for messages: .spec["a.b/c"].d, or a dot for the object.
func FormatPath(path ...string) string {
	if len(path) == 0 {
		return "."
	}
	var text strings.Builder
	for _, name := range path {
		text.WriteString(formatSegment(name))
	}
	return text.String()
}

func formatSegment(name string) string {
	odd := func(r rune) bool { return r != '_' && (r < '0' || r > '9') && (r|0x20 < 'a' || r|0x20 > 'z') }
	if name == "" || strings.ContainsFunc(name, odd) {
		return "[" + strconv.QuoteToASCII(name) + "]"
	}
	return "." + name
}
