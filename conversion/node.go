package conversion

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/crdconvert/webhookd/internal/document/jsondoc"
)

// A Node is a value in an [Object]: a whole object, a member or an element. The zero Node is a
// value that is absent: it has no members, and it cannot be set. A Node is valid as long as the
// conversion lasts that it was given to. After its value was deleted or replaced, edits of it have
// no effect.
//
// A path is the names that lead from the node to a value: "spec", "replicas". It leads through
// objects only; [Node.Elements] leads into lists. If an object has a name twice, the last one
// counts, as for kube-apiserver.
//
// Methods that read fail only if the objects of a review have more than a million members together.
type Node struct{ node *jsondoc.Node }

// A Type is that of a JSON value.
type Type int

// The types. Absent is that of a value that is not there, unlike Null.
const (
	Absent Type = iota
	Null
	Boolean
	Number
	String
	List
	Map
)

// String returns the name of the type in messages, with its article.
func (t Type) String() string {
	if t < Absent || t > Map {
		return "Type(" + strconv.Itoa(int(t)) + ")"
	}
	return [...]string{"nothing", "null", "a boolean", "a number", "a string", "a list", "an object"}[t]
}

// Type returns the type of the value.
func (n Node) Type() Type {
	switch n.node.Kind() {
	case jsondoc.Invalid:
		return Absent
	case jsondoc.Null:
		return Null
	case jsondoc.Bool:
		return Boolean
	case jsondoc.Number:
		return Number
	case jsondoc.String:
		return String
	case jsondoc.Array:
		return List
	case jsondoc.Map:
		return Map
	}
	return Absent
}

// Exists reports whether the value is there. A null is.
func (n Node) Exists() bool { return n.Type() != Absent }

// JSON returns the text of the value, or nil if it is absent. The caller must not change it.
func (n Node) JSON() json.RawMessage { return n.node.Text() }

// MarshalJSON implements json.Marshaler, so that [Node.Set] takes nodes in other values, such as
// some elements of a list. It fails for a value that is absent.
func (n Node) MarshalJSON() ([]byte, error) {
	if !n.Exists() {
		return nil, n.Errorf("cannot be encoded since it is absent, look for it with Exists")
	}
	return n.node.Text(), nil
}

// Text returns a string, decoded, and whether the value is one.
func (n Node) Text() (text string, is bool) { return n.node.Str() }

// Int returns an integer, and whether the value is one that fits. 3.0 and 1e3 are no integers here,
// as in the API server.
func (n Node) Int() (i int64, is bool) {
	if n.Type() != Number {
		return 0, false
	}
	i, err := strconv.ParseInt(string(n.node.Text()), 10, 64)
	return i, err == nil
}

// Bool returns a boolean, and whether the value is one.
func (n Node) Bool() (value, is bool) {
	return n.Type() == Boolean && n.node.Text()[0] == 't', n.Type() == Boolean
}

// Decode reads the value into what a pointer points to, as the API server does: the names of fields
// are case-sensitive, and integers in an any are int64. It fails for a value that is absent or does
// not fit. Its error names the path and quotes no value.
func (n Node) Decode(into any) error {
	if !n.Exists() {
		return n.Errorf("cannot be decoded since it is absent, look for it with Exists")
	}
	if err := decodeLast(n.node.Text(), into); err != nil {
		return n.Errorf("cannot be decoded into the Go type %T, correct the object or the type", into)
	}
	return nil
}

// Get returns the value at a path, which is absent if a step of the path is absent or not an
// object. The empty path is the node itself.
func (n Node) Get(path ...string) (Node, error) {
	found, err := n.at().Get(path...)
	return Node{found}, err
}

// Names returns the names of an object's members, in their order. Other values have none.
func (n Node) Names() ([]string, error) {
	names := make([]string, 0, n.node.Len())
	if n.Type() != Map {
		return nil, nil
	}
	err := n.node.Each(func(name string, _ *jsondoc.Node) bool {
		names = append(names, name)
		return true
	})
	return names, err
}

// Elements returns the elements of a list, which may be edited. Other values have none.
func (n Node) Elements() ([]Node, error) {
	if n.Type() != List {
		return nil, nil
	}
	elements, err := n.node.Elements()
	nodes := make([]Node, len(elements))
	for i, e := range elements {
		nodes[i] = Node{e}
	}
	return nodes, err
}

// Set sets the value at a path, and makes objects on the way that are absent or null. The value is
// a Node, whose text is copied, or anything that encoding/json can encode; a [json.RawMessage] or
// [json.Number] keeps its text. A new member comes last. Set fails, without a change, if something
// on the way is not an object, if JSON cannot represent the value, or if the whole object would be
// something else.
func (n Node) Set(value any, path ...string) error {
	v, err := n.valueOf(value, path)
	if err != nil {
		return err
	}
	if !n.Exists() {
		return n.Errorf("cannot be set since it is absent, set it from a node above it")
	}
	if len(path) == 0 && n.Path() == "." && v.Text()[0] != '{' {
		return n.Errorf("cannot be set to a value that is not an object")
	}
	return n.at().Set(v, path...)
}

// Delete deletes the value at a path, if there is one. Objects that become empty stay. It fails for
// the empty path.
func (n Node) Delete(path ...string) error { return n.at().Remove(path...) }

// Rename moves a value, with its text, from one path to another, and reports whether there was one.
// It replaces what was there. It fails for an empty path, and as Set does; the value may be lost
// then.
func (n Node) Rename(from, to []string) (moved bool, err error) {
	if len(from) == 0 || len(to) == 0 {
		return false, n.Errorf("cannot be renamed without a path from it and to another place")
	}
	return n.at().Move(from, to)
}

// Path returns the path of the node for messages: .spec.ports[0].name, or a dot for the object.
func (n Node) Path() string {
	if n.node == nil {
		return "."
	}
	return n.node.Path()
}

// Errorf returns an error about the node, for a [Converter] to return. The text says what is wrong
// and what to do, and quotes no value of the object; the path is added. A path in the server's
// messages has no keys of maps that the CRD does not name, since these are user data.
func (n Node) Errorf(format string, args ...any) error {
	return &jsondoc.PathError{Problem: fmt.Sprintf(format, args...), Path: n.Path()}
}

func (n Node) at() *jsondoc.Object { return &jsondoc.Object{Node: n.node} }

func (n Node) valueOf(value any, path []string) (jsondoc.Value, error) {
	if node, is := value.(Node); is {
		if !node.Exists() {
			return jsondoc.Value{}, n.Errorf("cannot be set to a value that is absent, delete it instead")
		}
		return node.node.Value(), nil
	}
	at := n.Path()
	if below := jsondoc.FormatPath(path...); at == "." {
		at = below
	} else if len(path) > 0 {
		at += below
	}
	switch value := value.(type) {
	case string:
		return jsondoc.StringValue(value), nil
	case json.RawMessage:
		if !json.Valid(value) {
			return jsondoc.Value{}, unrepresentable(at)
		}
		return jsondoc.RawValue(value)
	}
	return render(value, at)
}
