package transform

import (
	"slices"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"

	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

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
