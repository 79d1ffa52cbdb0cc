package jsondoc

import (
	"slices"
	"strconv"
	"strings"
)

// An Object is the object of a document that is open: its root node, and reading and editing by paths of member names.
type Object struct{ *Node }

// ParseObject returns the object that text is, in a document of its own. A repeated name is an error, in the object and in
// its metadata.
func ParseObject(text []byte) (*Object, error) { return new(Document).Parse(text) }

// Parse is ParseObject with the memory of the document, which forgets all that was made from it before, as Reset says.
func (d *Document) Parse(text []byte) (*Object, error) {
	d.Reset(text)
	s, err := d.Scanner(MaxDepth)
	if err != nil {
		return nil, err
	}
	o, err := d.Outline(s, "metadata")
	if err == nil {
		err = s.End()
	}
	if err != nil {
		return nil, err
	}
	return d.Open(o), nil
}

// Get returns the value at a path, or nil if a step of it is absent or no object; a null is a value. It fails if an object
// on the way has more members than are looked at. No path at all is the object itself, here and in Set.
func (o *Object) Get(path ...string) (*Node, error) {
	n, err := o.Node, error(nil)
	for _, name := range path {
		if n, err = n.Member(name); n == nil {
			break
		}
	}
	return n, err
}

// NestedText returns the text that Get would find at two names, without a list of members where the outline tells it, and
// whether letters or dots in it may be spelt as escapes.
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

// Set sets the value at a path and makes the objects on the way that are absent or null. It fails, and changes nothing, if
// something else than an object is on the way.
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

// Remove removes the value at a path, if there is one. Objects that this leaves empty stay. It fails as Get does, and if
// there is no path.
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

// Move removes a value, sets it elsewhere without a look at its text, and reports whether there was one. If it can be
// removed and not set, it is gone.
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

// A PathError says which path of an object could not be read or edited, and why.
type PathError struct {
	Problem string // what is wrong at the path
	Path    string // the place, as FormatPath writes it
}

// Error implements error.
func (e *PathError) Error() string { return e.Problem + ": " + e.Path }

// FormatPath writes a path of member names as messages show it: .spec["a.b/c"].d; the object itself is a dot.
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
