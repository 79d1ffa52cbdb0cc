package transform

import (
	"slices"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"

	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
)

// implied returns the places of the object that exist whenever the expression is true, as far as
// its form shows it: those of each `has(object.spec.x)` that it joins with &&.
func implied(e ast.Expr) [][]syntax.Segment {
	switch e.Kind() {
	case ast.CallKind:
		if call := e.AsCall(); call.FunctionName() == operators.LogicalAnd {
			return slices.Concat(implied(call.Args()[0]), implied(call.Args()[1]))
		}
	case ast.SelectKind:
		if path, ok := objectPath(e); ok && e.AsSelect().IsTestOnly() {
			return [][]syntax.Segment{path}
		}
	case ast.ComprehensionKind, ast.IdentKind, ast.ListKind, ast.LiteralKind, ast.MapKind, ast.StructKind, ast.UnspecifiedExprKind:
	}
	return nil
}

// objectPath returns the path of object.a.b.
func objectPath(e ast.Expr) ([]syntax.Segment, bool) {
	switch e.Kind() {
	case ast.IdentKind:
		return nil, e.AsIdent() == "object"
	case ast.SelectKind:
		path, ok := objectPath(e.AsSelect().Operand())
		return append(path, syntax.Segment{Kind: syntax.Field, Name: e.AsSelect().FieldName()}), ok
	case ast.CallKind, ast.ComprehensionKind, ast.ListKind, ast.LiteralKind, ast.MapKind, ast.StructKind, ast.UnspecifiedExprKind:
	}
	return nil, false
}
