package transform

import (
	"slices"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
)

// lightCost returns the highest cost of an expression if it is known beforehand: no call costs more
// than reading a text once. Counting the cost of an expression while it runs doubles its time
// (BenchmarkKinds in package rules).
func lightCost(a *cel.Ast) (units uint64, known bool) {
	known = true
	ast.PostOrderVisit(a.NativeRep().Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		units++
		switch e.Kind() {
		case ast.CallKind:
			known = known && isLight(e.AsCall())
		case ast.ComprehensionKind, ast.StructKind, ast.UnspecifiedExprKind:
			known = false
		case ast.IdentKind, ast.ListKind, ast.LiteralKind, ast.MapKind, ast.SelectKind:
		}
	}))
	return units, known
}

func isLight(call ast.CallExpr) bool {
	switch call.FunctionName() {
	case operators.Conditional, operators.LogicalAnd, operators.LogicalOr, operators.LogicalNot, operators.OptSelect,
		"or", "orValue", "hasValue", "value", "optional.of", "optional.none", "string", "int", "bool", "dyn":
		return true
	case operators.Equals, operators.NotEquals, operators.Add: // with a literal
		return slices.ContainsFunc(call.Args(), isLiteral)
	case operators.Index, operators.OptIndex: // by a literal
		return isLiteral(call.Args()[1])
	case guardedName("split"): // which refuses a text of too many pieces
		return isLiteral(call.Args()[0])
	}
	return false
}

func isLiteral(e ast.Expr) bool { return e.Kind() == ast.LiteralKind }
