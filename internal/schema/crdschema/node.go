package crdschema

import (
	"slices"
	"sort"
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
)

// Kind is what values a place holds.
type Kind int

// The kinds of places. None is the kind of a nil *Node.
const (
	None   Kind = iota
	Object      // has named properties, or none and no schema for others
	Map         // any name, each with a value of one schema (additionalProperties)
	Array       // elements of one schema
	String
	Integer
	Number // a JSON number, integers included
	Boolean
	IntOrString // x-kubernetes-int-or-string
	Any         // no type: any JSON value
)

// String names the kind as messages show it, with its article.
func (k Kind) String() string {
	return [...]string{
		"nothing", "an object", "a map", "a list", "a string", "an integer", "a number", "a boolean", "an integer or string",
		"any value",
	}[k]
}

// A Node is a place in a structural schema. It is an immutable view, and one place is one *Node, so
// pointers may be compared and used as keys of maps. The nil *Node is a place that does not exist:
// its methods return zero values.
type Node struct {
	schema     *schema.Structural
	kind       Kind
	properties map[string]*Node
	names      []string
	ordered    []*Node // the properties by name
	values     *Node
	items      *Node
	required   []string
	demands    int  // how many of those the API server does not fill in
	requires   bool // something in a value of the place is required
	enum       []string
	enumOnce   sync.Once
	enumKeys   map[string]bool // of the enum, made by the first EnumHas
	fallback   string          // the default as JSON, or ""
	prunes     bool
	defaults   bool // something in a value of the place has a default
	sumOnce    sync.Once
	defaultSum uint64 // made by the first DefaultSum
}

// Kind returns what values the place holds.
func (n *Node) Kind() Kind {
	if n == nil {
		return None
	}
	return n.kind
}

// Property returns the place of an object's property, or nil if the schema does not name it. A map
// has no properties but Values.
func (n *Node) Property(name string) *Node {
	if n == nil {
		return nil
	}
	return n.properties[name]
}

// PropertyNamed is Property for the bytes of a name. It does not copy them.
func (n *Node) PropertyNamed(name []byte) *Node {
	if n == nil {
		return nil
	}
	return n.properties[string(name)]
}

// Name returns the name of a property as a string, without a copy of the bytes if the schema has
// it (BenchmarkKinds in converters/rules).
func (n *Node) Name(name []byte) string {
	if n != nil {
		i := sort.Search(len(n.names), func(i int) bool { return n.names[i] >= string(name) })
		if i < len(n.names) && n.names[i] == string(name) {
			return n.names[i]
		}
	}
	return string(name)
}

// PropertyFrom is PropertyNamed for the names of an object in turn, which the API server
// sorts. It looks at a few properties from a position on first, 0 for the first name, and returns
// the position for the next name.
func (n *Node) PropertyFrom(at int, name []byte) (p *Node, next int) {
	const few = 4
	if n == nil {
		return nil, 0
	}
	for i := at; i < min(at+few, len(n.names)); i++ {
		if n.names[i] == string(name) {
			return n.ordered[i], i + 1
		}
	}
	return n.properties[string(name)], at
}

// Scalar reports whether values of the place have no parts.
func (n *Node) Scalar() bool { return n.Kind() >= String && n.Kind() <= IntOrString }

// Properties returns the sorted names of an object's properties. The caller must not change the
// list.
func (n *Node) Properties() []string {
	if n == nil {
		return nil
	}
	return n.names
}

// Values returns the place of each value of a map, or nil if the place is not a map.
func (n *Node) Values() *Node {
	if n == nil {
		return nil
	}
	return n.values
}

// Items returns the place of each element of an array, or nil if the place is not an array.
func (n *Node) Items() *Node {
	if n == nil {
		return nil
	}
	return n.items
}

// Required returns the sorted names of the properties that must be present. The caller must not
// change the list.
func (n *Node) Required() []string {
	if n == nil {
		return nil
	}
	return n.required
}

// Requires reports whether a value of the place must have some property, at any depth.
func (n *Node) Requires() bool { return n != nil && n.requires }

// IsRequired reports whether an object must have the property.
func (n *Node) IsRequired(name string) bool {
	_, is := slices.BinarySearch(n.Required(), name)
	return is
}

// Nullable reports whether the place may be null. Elsewhere the API server removes nulls.
func (n *Node) Nullable() bool { return n != nil && n.schema.Nullable }

// Enum returns the values that are allowed, as JSON texts in the order of the CRD; nil if all are.
// The caller must not change the list.
func (n *Node) Enum() []string {
	if n == nil {
		return nil
	}
	return n.enum
}

// EnumHas reports whether keyOf returns key for a value of the enum, as JSON text. The keys are
// made once, so all calls for a node must pass the same keyOf.
func (n *Node) EnumHas(key string, keyOf func(text []byte) string) bool {
	if n == nil {
		return false
	}
	n.enumOnce.Do(func() {
		n.enumKeys = make(map[string]bool, len(n.enum))
		for _, text := range n.enum {
			n.enumKeys[keyOf([]byte(text))] = true
		}
	})
	return n.enumKeys[key]
}

// Default returns the value, as JSON text, that the API server sets when the place is absent and
// its parent is present.
func (n *Node) Default() (text string, has bool) {
	if n == nil {
		return "", false
	}
	return n.fallback, n.fallback != ""
}

// DefaultSum returns sumOf for the default, which the place must have. It is made once, so that
// all calls for a node must pass the same sumOf.
func (n *Node) DefaultSum(sumOf func(n *Node, text string) uint64) uint64 {
	n.sumOnce.Do(func() { n.defaultSum = sumOf(n, n.fallback) })
	return n.defaultSum
}

// Format returns the format of a string or number (date-time, int32, ...), or "".
func (n *Node) Format() string {
	if n == nil || n.schema.ValueValidation == nil {
		return ""
	}
	return n.schema.ValueValidation.Format
}

// PreservesUnknown reports whether the API server keeps fields of the object that the schema does
// not name.
func (n *Node) PreservesUnknown() bool { return n != nil && n.schema.XPreserveUnknownFields }

// Prunes reports whether the API server may remove fields from values of the place, at any depth.
func (n *Node) Prunes() bool { return n != nil && n.prunes }

// Embedded reports whether the value is a whole object with apiVersion, kind and metadata
// (x-kubernetes-embedded-resource).
func (n *Node) Embedded() bool { return n != nil && n.schema.XEmbeddedResource }

// ListType returns atomic, set, map, or "", which the API server treats as atomic.
func (n *Node) ListType() string {
	if n == nil || n.schema.XListType == nil {
		return ""
	}
	return *n.schema.XListType
}

// ListMapKeys returns the fields that identify an element of a list of type map. The caller must
// not change the list.
func (n *Node) ListMapKeys() []string {
	if n == nil {
		return nil
	}
	return n.schema.XListMapKeys
}

// Structural returns the API server's own form of the schema at the place, which the caller must
// not change. For the root and embedded resources it has properties for apiVersion, kind and
// metadata.
func (n *Node) Structural() *schema.Structural {
	if n == nil {
		return nil
	}
	return n.schema
}
