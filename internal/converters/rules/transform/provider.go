package transform

import (
	"slices"
	"strings"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	k8scel "k8s.io/apiserver/pkg/cel"

	"github.com/crdconvert/webhookd/internal/converters/rules/transform/celvalue"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// A provider describes a schema to CEL's type checker, as far as an expression reads it: an
// object's type is named after its path, and its fields are found when they are selected.
// Kubernetes' own declarations (SchemaDeclType) hide values without a type and give durations and
// dates types of their own. Here any value can be read, and durations are strings.
//
// Objects with the same fields of the same types have one type, that of the first: otherwise CEL
// would refuse to choose between two places of one schema, as in `self.?old.or(self.?new)`.
//
// A provider remembers the missing fields of the expression that is being compiled.
type provider struct {
	types.Provider
	mutex   sync.Mutex           // of objects and alike
	objects map[string]*object   // by the names of their types
	alike   map[string][]*object // those of schemas, by the names of their fields
	missing []missingField
}

// An object is a type with fields: an object of the schema, or the named values of a rule.
type object struct {
	path   string // in expressions
	node   *crdschema.Node
	named  []namedNode
	shared bool // objects at other paths have the type, too
}

type missingField struct {
	object *object
	name   string
}

// objectType returns the type of an object. An expression must not be able to spell its name: CEL
// would take `object.spec` for a type of that name, not for a field.
func (p *provider) objectType(o *object) *cel.Type {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if o.node != nil {
		names := strings.Join(o.node.Properties(), "\n")
		if i := slices.IndexFunc(p.alike[names], func(first *object) bool { return sameTypes(first.node, o.node) }); i >= 0 {
			first := p.alike[names][i]
			first.shared = first.shared || first.path != o.path
			return cel.ObjectType(first.typeName())
		}
		p.alike[names] = append(p.alike[names], o)
	}
	p.objects[o.typeName()] = o
	return cel.ObjectType(o.typeName())
}

func (o *object) typeName() string { return "type of " + o.path }

// sameTypes reports whether the values of two places have the same type, apart from its name.
func sameTypes(a, b *crdschema.Node) bool {
	if a == b || a == nil || b == nil {
		return a == b
	}
	return a.Kind() == b.Kind() && a.Nullable() == b.Nullable() && a.PreservesUnknown() == b.PreservesUnknown() &&
		slices.Equal(a.Properties(), b.Properties()) && sameTypes(a.Items(), b.Items()) && sameTypes(a.Values(), b.Values()) &&
		!slices.ContainsFunc(a.Properties(), func(name string) bool { return !sameTypes(a.Property(name), b.Property(name)) })
}

// object returns the object of a type, or nil.
func (p *provider) object(name string) *object {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return p.objects[name]
}

// called returns what messages call an object: its path, if that is known.
func (p *provider) called(o *object) string {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	for _, other := range p.objects {
		if rest, within := strings.CutPrefix(o.path, other.path); other.shared && within && (rest == "" || strings.ContainsAny(rest[:1], ".[{")) {
			return "the object"
		}
	}
	return o.path
}

func newProvider(base types.Provider) *provider {
	return &provider{Provider: base, objects: map[string]*object{}, alike: map[string][]*object{}}
}

// typeOf returns the type of a schema's values. A type with fields gets the name.
func (p *provider) typeOf(n *crdschema.Node, name string) *cel.Type {
	var t *cel.Type
	switch n.Kind() {
	case crdschema.Object:
		if len(n.Properties()) == 0 && n.PreservesUnknown() {
			return cel.MapType(cel.StringType, cel.DynType)
		}
		return p.objectType(&object{path: name, node: n})
	case crdschema.Map:
		return cel.MapType(cel.StringType, p.typeOf(n.Values(), name+"{}"))
	case crdschema.Array:
		return cel.ListType(p.typeOf(n.Items(), name+"[]"))
	case crdschema.String:
		t = cel.StringType
	case crdschema.Integer:
		t = cel.IntType
	case crdschema.Number:
		t = cel.DoubleType
	case crdschema.Boolean:
		t = cel.BoolType
	case crdschema.None, crdschema.IntOrString, crdschema.Any:
		return cel.DynType
	}
	if n.Nullable() {
		return cel.NullableType(t)
	}
	return t
}

// FindStructType implements types.Provider.
func (p *provider) FindStructType(name string) (*types.Type, bool) {
	if p.object(name) != nil {
		return types.NewTypeTypeWithParam(cel.ObjectType(name)), true
	}
	return p.Provider.FindStructType(name)
}

// FindStructFieldType implements types.Provider.
func (p *provider) FindStructFieldType(name, field string) (*types.FieldType, bool) {
	o := p.object(name)
	if o == nil {
		return p.Provider.FindStructFieldType(name, field)
	}
	if i := slices.IndexFunc(o.named, func(n namedNode) bool { return n.name == field }); i >= 0 {
		return &types.FieldType{Type: p.typeOf(o.named[i].node, o.path+"."+field)}, true
	}
	if property, ok := celvalue.FieldName(o.node, field); ok {
		return &types.FieldType{Type: p.typeOf(o.node.Property(property), o.path+"."+property)}, true
	}
	if o.node.PreservesUnknown() {
		return &types.FieldType{Type: cel.DynType}, true
	}
	p.missing = append(p.missing, missingField{o, field})
	return nil, false
}

// FindStructFieldNames implements types.Provider.
func (p *provider) FindStructFieldNames(name string) ([]string, bool) {
	o := p.object(name)
	if o == nil {
		return p.Provider.FindStructFieldNames(name)
	}
	return o.fields(), true
}

// fields returns the names of an object's fields as expressions spell them.
func (o *object) fields() []string {
	var names []string
	for _, n := range o.named {
		names = append(names, n.name)
	}
	for _, property := range o.node.Properties() {
		if escaped, ok := k8scel.Escape(property); ok && escaped == property {
			names = append(names, property)
		} else {
			names = append(names, "`"+property+"`")
		}
	}
	return names
}

// NewValue implements types.Provider. An expression writes an object as a map, not as Type{...}.
func (p *provider) NewValue(name string, fields map[string]ref.Val) ref.Val {
	if p.object(name) != nil {
		return types.NewErr("no such constructor")
	}
	return p.Provider.NewValue(name, fields)
}
