package transform

import (
	"slices"
	"strconv"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"

	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/converters/rules/transform/celvalue"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// A Constant is a value that a rule has in its text, or as much of one as its text shows.
type Constant struct {
	Node  *crdschema.Node // of its place
	To    int             // which path of the target it is for
	Below string          // its place below that path: .a[0]
	Text  []byte          // as JSON, with null for what is not known
	Parts []Part          // it and all that it contains, itself first
}

// A Part is a part of a constant.
type Part struct {
	Path      string // below the constant: .a[0]
	Pos       syntax.Position
	EndColumn int
	Text      []byte // as JSON, nil if it or something in it is not known
	Sized     bool   // its elements or the names of its fields are known
}

// Part returns the part at a path, or nil if the constant has none or knows nothing of it.
func (c *Constant) Part(path string) *Part {
	i := slices.IndexFunc(c.Parts, func(p Part) bool { return p.Path == path && p.known() })
	if i < 0 {
		return nil
	}
	return &c.Parts[i]
}

func (p Part) known() bool { return p.Sized || p.Text != nil }

// A constantFinder finds the constants among the results of an expression.
type constantFinder struct {
	resultChecker
	to    int
	found []Constant
}

// constants returns the constants that an expression may give for the paths of a side.
func (r resultChecker) constants(to *side) []Constant {
	f := &constantFinder{resultChecker: r}
	if !to.named() {
		f.find(r.ast.Expr(), to.node(), "")
		return f.found
	}
	for _, e := range inside(r.ast.Expr()) {
		if e.Kind() != ast.MapKind {
			continue
		}
		for _, entry := range e.AsMap().Entries() {
			name, ok := stringOf(entry.AsMapEntry().Key())
			if f.to = to.index(name); ok && f.to >= 0 {
				f.find(entry.AsMapEntry().Value(), to.nodes[f.to], "")
			}
		}
	}
	return f.found
}

// find adds the constants that an expression may give for a place.
func (f *constantFinder) find(e ast.Expr, node *crdschema.Node, below string) {
	for _, e := range inside(e) {
		c := Constant{Node: node, To: f.to, Below: below}
		if c.Text = f.value(&c, e, node, ""); slices.ContainsFunc(c.Parts, Part.known) {
			f.found = append(f.found, c)
		}
	}
}

// value returns the JSON of an expression, as far as it is known, and adds its parts to a constant.
func (f *constantFinder) value(c *Constant, e ast.Expr, node *crdschema.Node, path string) []byte {
	at := len(c.Parts)
	pos, end := f.spanOf(e)
	c.Parts = append(c.Parts, Part{Path: path, Pos: pos, EndColumn: end})
	text, whole, sized := []byte("null"), false, false
	switch e.Kind() {
	case ast.LiteralKind:
		literal, err := celvalue.AppendJSON(nil, e.AsLiteral(), maxResult)
		if whole = err == nil; whole {
			text = literal
		}
	case ast.ListKind:
		text, whole = f.elements(c, e.AsList(), node, path)
		sized = len(e.AsList().OptionalIndices()) == 0
	case ast.MapKind:
		text, whole, sized = f.members(c, e.AsMap(), node, path)
	default:
	}
	if c.Parts[at].Sized = sized; whole {
		c.Parts[at].Text = text
	}
	return text
}

func (f *constantFinder) elements(c *Constant, list ast.ListExpr, node *crdschema.Node, path string) (text []byte, whole bool) {
	text, whole = []byte{'['}, len(list.OptionalIndices()) == 0
	for i, e := range list.Elements() {
		if i > 0 {
			text = append(text, ',')
		}
		element, known := f.inner(c, e, node.Items(), path+"["+strconv.Itoa(i)+"]")
		text, whole = append(text, element...), whole && known
	}
	return append(text, ']'), whole
}

func (f *constantFinder) members(c *Constant, m ast.MapExpr, node *crdschema.Node, path string) (text []byte, whole, sized bool) {
	text, whole, sized = []byte{'{'}, true, true
	for _, entry := range m.Entries() {
		name, ok := stringOf(entry.AsMapEntry().Key())
		if !ok {
			whole, sized = false, false
			continue
		}
		sized = sized && !entry.AsMapEntry().IsOptional()
		below := node.Property(name)
		if below == nil {
			below = node.Values()
		}
		member, known := f.inner(c, entry.AsMapEntry().Value(), below, path+"."+name)
		if len(text) > 1 {
			text = append(text, ',')
		}
		text = append(append(append(text, jsondoc.StringValue(name).Text()...), ':'), member...)
		whole = whole && known
	}
	return append(text, '}'), whole && sized, sized
}

// inner returns the value of a part. The branches of a condition are constants of their own.
func (f *constantFinder) inner(c *Constant, e ast.Expr, node *crdschema.Node, path string) (text []byte, whole bool) {
	values := inside(e)
	if len(values) != 1 {
		f.find(e, node, c.Below+path)
		return []byte("null"), false
	}
	at := len(c.Parts)
	text = f.value(c, values[0], node, path)
	return text, c.Parts[at].Text != nil
}

// total reports whether an expression has a value that the side's schema allows, for any values of
// the rule. It knows only what cannot fail: literals, the rule's own values, and functions that are
// defined for all arguments.
func (r resultChecker) total(e ast.Expr, to *side) bool {
	if !to.named() {
		return r.totalValue(e, to.node())
	}
	if e.Kind() != ast.MapKind {
		return false
	}
	given := map[string]bool{}
	for _, entry := range e.AsMap().Entries() {
		name, ok := stringOf(entry.AsMapEntry().Key())
		i := to.index(name)
		if !ok || i < 0 || entry.AsMapEntry().IsOptional() || !r.totalValue(entry.AsMapEntry().Value(), to.nodes[i]) {
			return false
		}
		given[name] = true
	}
	return len(given) == len(to.nodes)
}

// totalValue reports whether an expression always has a value that the schema allows.
func (r resultChecker) totalValue(e ast.Expr, node *crdschema.Node) bool {
	if e.Kind() == ast.CallKind && e.AsCall().FunctionName() == "_?_:_" {
		args := e.AsCall().Args()
		return r.defined(args[0]) && r.totalValue(args[1], node) && r.totalValue(args[2], node)
	}
	if from, ok := r.source(e); ok {
		return Covers(node, from)
	}
	if e.Kind() == ast.LiteralKind {
		return true // fits has checked it
	}
	switch r.ast.GetType(e.ID()).Kind() {
	case types.StringKind, types.BoolKind, types.IntKind, types.DoubleKind:
		return len(node.Enum()) == 0 && r.defined(e)
	default:
		return false
	}
}

// source returns the schema of an expression that is a value of the rule as it is.
func (r resultChecker) source(e ast.Expr) (*crdschema.Node, bool) {
	switch {
	case e.Kind() == ast.IdentKind && e.AsIdent() == "self" && r.from.single():
		return r.from.node(), r.from.node() != nil
	case e.Kind() == ast.SelectKind && !e.AsSelect().IsTestOnly() && r.from.named():
		operand := e.AsSelect().Operand()
		i := r.from.index(e.AsSelect().FieldName())
		if i >= 0 && operand.Kind() == ast.IdentKind && operand.AsIdent() == "self" {
			return r.from.nodes[i], r.from.nodes[i] != nil
		}
	}
	return nil, false
}

// defined reports whether an expression cannot fail.
func (r resultChecker) defined(e ast.Expr) bool {
	if node, ok := r.source(e); ok {
		kind := node.Kind()
		scalar := kind == crdschema.String || kind == crdschema.Integer || kind == crdschema.Number || kind == crdschema.Boolean
		return scalar && !node.Nullable()
	}
	switch e.Kind() {
	case ast.LiteralKind:
		return true
	case ast.CallKind:
		call := e.AsCall()
		args := call.Args()
		if call.IsMemberFunction() {
			args = append(slices.Clone(args), call.Target())
		}
		overloads := r.ast.GetOverloadIDs(e.ID())
		return len(overloads) == 1 && slices.Contains(definedEverywhere(), overloads[0]) &&
			!slices.ContainsFunc(args, func(arg ast.Expr) bool { return !r.defined(arg) })
	default:
		return false
	}
}

// definedEverywhere returns the overloads that have a value for all arguments of their types.
func definedEverywhere() []string {
	return []string{
		"int64_to_string", "double_to_string", "bool_to_string", "string_to_string", "uint64_to_string", "int64_to_double",
		"add_string", "size_string", "string_size", "equals", "not_equals", "logical_and", "logical_or", "logical_not",
		"conditional", "contains_string", "starts_with_string", "ends_with_string", "less_string", "less_int64",
		"less_equals_int64", "greater_int64", "greater_equals_int64", "less_double", "less_equals_double", "greater_double",
		"greater_equals_double", "string_replace_string_string", "string_lower_ascii", "string_upper_ascii", "string_trim",
	}
}
