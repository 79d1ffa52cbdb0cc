package transform

import (
	"errors"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/crdconvert/webhookd/internal/converters/rules/transform/celvalue"
)

// Functions that are put around parts of a checked expression. No expression can spell their names.
const (
	orderedName = "@ordered" // around the range of a comprehension
	boundedName = "@bounded" // around the text of a quantity
	shortName   = "@short"   // around the text that a regular expression searches
)

func safeFunctions() []cel.EnvOption {
	t := cel.TypeParamType("T")
	return []cel.EnvOption{
		cel.Function(orderedName, cel.Overload("ordered", []*cel.Type{t}, t, cel.UnaryBinding(celvalue.Ordered))),
		cel.Function(boundedName, cel.Overload("bounded", []*cel.Type{t}, t, cel.UnaryBinding(bounded))),
		cel.Function(shortName, cel.Overload("short", []*cel.Type{t, cel.IntType}, t, cel.BinaryBinding(short))),
	}
}

// safe makes an expression deterministic and bounds its time: comprehensions go through maps in
// order, and calls that may take hours (quantities, regular expressions, heavy functions) are
// guarded. Most expressions stay as they are.
func safe(env *cel.Env, checked *cel.Ast) (*cel.Ast, error) {
	if len(unsafeParts(checked.NativeRep())) == 0 {
		return checked, nil
	}
	optimizer, err := cel.NewStaticOptimizer(making{})
	if err != nil {
		return nil, err
	}
	made, issues := optimizer.Optimize(env, checked)
	return made, issues.Err()
}

type making struct{}

// Optimize implements cel.ASTOptimizer.
func (making) Optimize(c *cel.OptimizerContext, a *ast.AST) *ast.AST {
	for _, part := range unsafeParts(a) {
		// Copying the metadata as well would double it for each part.
		copied := func(e ast.Expr) ast.Expr {
			made, _ := c.CopyAST(c.NewAST(e))
			return made
		}
		switch {
		case part.instead:
			call := part.expr.AsCall()
			args := make([]ast.Expr, len(call.Args()))
			for i, arg := range call.Args() {
				args[i] = copied(arg)
			}
			if call.IsMemberFunction() {
				c.UpdateExpr(part.expr, c.NewMemberCall(part.function, copied(call.Target()), args...))
			} else {
				c.UpdateExpr(part.expr, c.NewCall(part.function, args...))
			}
		case part.most > 0:
			c.UpdateExpr(part.expr, c.NewCall(part.function, copied(part.expr), c.NewLiteral(types.Int(part.most))))
		default:
			c.UpdateExpr(part.expr, c.NewCall(part.function, copied(part.expr)))
		}
	}
	return a
}

// An unsafePart is an expression, and the function to put around it or to call instead.
type unsafePart struct {
	expr     ast.Expr
	function string
	instead  bool
	most     int // the second argument, if any
}

// unsafeParts returns, innermost first, the ranges of comprehensions that may be maps, and the
// calls to guard.
func unsafeParts(a *ast.AST) []unsafePart {
	var found []unsafePart
	heavy := heavyFunctions()
	ast.PostOrderVisit(a.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		switch e.Kind() {
		case ast.ComprehensionKind:
			if over := e.AsComprehension().IterRange(); a.GetType(over.ID()).Kind() != types.ListKind {
				found = append(found, unsafePart{expr: over, function: orderedName})
			}
		case ast.CallKind:
			call := e.AsCall()
			switch name := call.FunctionName(); {
			case (name == "quantity" || name == "isQuantity") && len(call.Args()) == 1:
				found = append(found, unsafePart{expr: call.Args()[0], function: boundedName})
			case name == "matches" || name == "find" || name == "findAll":
				found = append(found, matching(e, call))
			case heavy[name] != nil:
				found = append(found, unsafePart{expr: e, function: guardedName(name), instead: true})
			}
		default:
		}
	}))
	return found
}

// matching guards a call with a regular expression. CEL compiles a literal one only once, so it is
// enough to bound the text.
func matching(e ast.Expr, call ast.CallExpr) unsafePart {
	args := call.Args()
	if call.IsMemberFunction() {
		args = append([]ast.Expr{call.Target()}, args...)
	}
	if len(args) > 1 {
		if pattern, ok := stringOf(args[1]); ok {
			if n, err := steps(pattern); err == nil {
				if call.FunctionName() == "findAll" {
					n *= perFind
				}
				return unsafePart{expr: args[0], function: shortName, most: max(1, int(maxCallCost/perStep)/n)}
			}
		}
	}
	return unsafePart{expr: e, function: guardedName(call.FunctionName()), instead: true}
}

// short returns a text that has at most that many bytes, or an error.
func short(v, most ref.Val) ref.Val {
	if length(v) > number(most) {
		return types.WrapErr(errCost)
	}
	return v
}

var errLongQuantity = errors.New("a quantity has too many digits")

// bounded returns a text that resource.ParseQuantity reads quickly, or an error. It would write
// 1e999999999 out.
func bounded(v ref.Val) ref.Val {
	const most, mostOfExponent = 128, 3
	s, ok := v.(types.String)
	if !ok {
		return v
	}
	_, exponent, _ := strings.Cut(strings.ToLower(string(s)), "e")
	if len(s) > most || len(strings.TrimLeft(exponent, "+-")) > mostOfExponent {
		return types.WrapErr(errLongQuantity)
	}
	return v
}
