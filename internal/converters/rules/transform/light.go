package transform

import (
	"slices"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
)

// lightCost returns what an expression costs at most if that is known beforehand: it calls nothing whose cost depends on the
// values, but for a text that is gone through once. To count costs while an expression runs takes as long as the expression
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
	if !known {
		return 0, false
	}
	return units, true
}

func isLight(call ast.CallExpr) bool {
	switch call.FunctionName() {
	case operators.Conditional, operators.LogicalAnd, operators.LogicalOr, operators.LogicalNot, operators.OptSelect,
		"or", "orValue", "hasValue", "value", "optional.of", "optional.none", "string", "int", "bool", "dyn":
		return true
	case operators.Equals, operators.NotEquals, operators.Add: // of a text with one of the rule
		return slices.ContainsFunc(call.Args(), isLiteral)
	case operators.Index, operators.OptIndex: // by a name or a number of the rule
		return isLiteral(call.Args()[1])
	case guardedName("split"): // which a text that makes too many pieces does not begin
		return isLiteral(call.Args()[0])
	}
	return false
}

func isLiteral(e ast.Expr) bool { return e.Kind() == ast.LiteralKind }
