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
func ParseObject(text []byte) (*Object, error) {
	d := &Document{}
	d.Reset(text)
	s, err := NewScanner(text, MaxDepth)
	if err != nil {
		return nil, err
	}
	o, err := d.Outline(&s, "metadata")
	if err != nil {
		return nil, err
	}
	return d.Open(o), s.End()
}

// Get returns the value at a path, or nil if a step of it is absent or no object; a null is a value. It fails if an object
// on the way has two members of one name.
func (o *Object) Get(path ...string) (*Node, error) {
	n, err := o.Node, error(nil)
	for _, name := range path {
		if n, err = n.Member(name); n == nil {
			break
		}
	}
	return n, err
}

// Set sets the value at a path and makes the objects on the way that are absent or null. It fails if something else
// than an object is on the way.
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

// Remove removes the value at a path, if there is one. Objects that this leaves empty stay.
func (o *Object) Remove(path ...string) error {
	last := len(path) - 1
	parent, err := o.Get(path[:last]...)
	if parent == nil {
		return err
	}
	return parent.RemoveMember(path[last])
}

// Move moves a value, without a look at its text, and reports whether there was one.
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
	plain := func(r rune) bool { return r == '_' || '0' <= r && r <= '9' || 'a' <= r|0x20 && r|0x20 <= 'z' }
	if name == "" || strings.IndexFunc(name, func(r rune) bool { return !plain(r) }) >= 0 {
		return "[" + strconv.QuoteToASCII(name) + "]"
	}
	return "." + name
}
