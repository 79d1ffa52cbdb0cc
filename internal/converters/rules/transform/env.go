package transform

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/ext"
	"github.com/google/cel-go/interpreter"
	k8scel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/library"

	"github.com/crdconvert/webhookd/internal/converters/rules/transform/celvalue"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// An Env has the functions of CEL and the registered Go functions, which all rules share. It is
// safe for concurrent use.
type Env struct {
	base  *cel.Env
	funcs map[string]GoFunc

	mutex  sync.Mutex
	scalar map[scope]*typedEnv
}

// A scope is the types of an expression's variables, if self is a scalar or absent.
type scope struct {
	root     *crdschema.Node
	self     bool
	kind     crdschema.Kind
	nullable bool
}

// A typedEnv has the variables of expressions. It takes far more time and memory than an
// expression, so expressions with the same variables share one and are compiled one after the
// other.
type typedEnv struct {
	mutex sync.Mutex
	env   *cel.Env
	types *provider
}

// typed returns the environment of an expression for the values of a side.
func (e *Env) typed(text string, from *side) (*typedEnv, error) {
	if from.named() || from.single() && !from.node().Scalar() || from.element != nil && strings.Contains(text, "element") {
		return newTypedEnv(e.base, from)
	}
	key := scope{root: from.root, self: from.single(), kind: from.node().Kind(), nullable: from.node().Nullable()}
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if made := e.scalar[key]; made != nil {
		return made, nil
	}
	shared := *from
	shared.element = nil
	made, err := newTypedEnv(e.base, &shared)
	if err == nil {
		e.scalar[key] = made
	}
	return made, err
}

func newTypedEnv(base *cel.Env, from *side) (*typedEnv, error) {
	t := &typedEnv{types: newProvider(base.CELTypeProvider())}
	options := []cel.EnvOption{
		cel.CustomTypeProvider(t.types),
		cel.Variable("object", t.types.typeOf(from.root, "object")),
		cel.Variable("metadata", t.types.typeOf(from.root.Property("metadata"), "metadata")),
	}
	switch {
	case from.named():
		options = append(options, cel.Variable("self", t.types.objectType(&object{path: "self", named: from.namedNodes()})))
	case from.single():
		options = append(options, cel.Variable("self", t.types.typeOf(from.node(), "self")))
	}
	if from.element != nil {
		options = append(options, cel.Variable("element", t.types.typeOf(from.element.Node, "element")))
	}
	var err error
	t.env, err = base.Extend(options...)
	return t, err
}

// compile checks an expression. It also returns the fields that are missing.
func (t *typedEnv) compile(text string) (*cel.Ast, *cel.Issues, []missingField) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.types.missing = nil
	checked, issues := t.env.Compile(text)
	return checked, issues, t.types.missing
}

func (t *typedEnv) program(made *cel.Ast, light bool) (cel.Program, error) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return t.env.Program(made, programOptions(light)...)
}

// NewEnv returns an environment with registered functions. The map may be nil and must not change
// afterwards. NewEnv takes some milliseconds: share the result. It fails only if the CEL libraries
// do not fit each other.
func NewEnv(funcs map[string]GoFunc) (*Env, error) {
	base, err := cel.NewEnv(celOptions()...)
	if err != nil {
		return nil, fmt.Errorf("CEL environment: %w", err)
	}
	guarded, err := guardedFunctions(base)
	if err == nil {
		base, err = base.Extend(guarded...)
	}
	if err != nil {
		return nil, fmt.Errorf("CEL environment: %w", err)
	}
	return &Env{base: base, funcs: funcs, scalar: map[scope]*typedEnv{}}, nil
}

// celOptions are those of Kubernetes 1.37 (k8s.io/apiserver/pkg/cel/environment), with these
// differences: maps and lists may hold values of different types, as the named values of a rule do;
// there is no authorizer; names may be quoted with backticks; and there is the math of cel-go.
func celOptions() []cel.EnvOption {
	return append([]cel.EnvOption{
		cel.EagerlyValidateDeclarations(true),
		cel.DefaultUTCTimeZone(true),
		cel.CrossTypeNumericComparisons(true),
		cel.OptionalTypes(),
		cel.EnableIdentifierEscapeSyntax(),
		cel.ParserRecursionLimit(250),
		cel.CostEstimatorOptions(checker.PresenceTestHasCost(false)),
		cel.ASTValidators(cel.ValidateDurationLiterals(), cel.ValidateTimestampLiterals(), cel.ValidateRegexLiterals()),
		ext.Strings(ext.StringsVersion(2)),
		ext.Sets(),
		ext.Lists(ext.ListsVersion(3)),
		ext.TwoVarComprehensions(),
		ext.Math(ext.MathVersion(2)),
		library.URLs(),
		library.Regex(),
		library.Lists(library.ListsVersion(1)),
		library.Quantity(),
		library.IP(),
		library.CIDR(),
		library.Format(),
		library.SemverLib(library.SemverVersion(1)),
	}, safeFunctions()...)
}

// The API server's limits for expressions (k8s.io/apiserver/pkg/apis/cel), and our own for results.
const (
	maxCallCost   = 1_000_000
	maxObjectCost = 10_000_000
	maxStaticCost = 10_000_000 // of an estimate (apiextensions, StaticEstimatedCostLimit)
	checkEvery    = 100        // steps of a comprehension between two checks of the context
	maxResult     = 1 << 20    // bytes
)

// programOptions returns the options of an expression. Its cost is counted unless it is light.
func programOptions(light bool) []cel.ProgramOption {
	if light {
		return []cel.ProgramOption{cel.EvalOptions(cel.OptOptimize)}
	}
	return []cel.ProgramOption{
		cel.EvalOptions(cel.OptOptimize, cel.OptTrackCost),
		cel.CostLimit(maxCallCost),
		cel.CostTracking(&actualCost{works: works()}),
		cel.CostTrackerOptions(interpreter.PresenceTestHasCost(false)),
		cel.InterruptCheckFrequency(checkEvery),
	}
}

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
