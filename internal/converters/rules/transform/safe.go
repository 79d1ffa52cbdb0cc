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

// What is put around parts of a checked expression. No expression can spell these names.
const (
	orderedName = "@ordered" // around what a comprehension goes through
	boundedName = "@bounded" // around the text of a quantity
)

func safeFunctions() []cel.EnvOption {
	t := cel.TypeParamType("T")
	return []cel.EnvOption{
		cel.Function(orderedName, cel.Overload("ordered", []*cel.Type{t}, t, cel.UnaryBinding(celvalue.Ordered))),
		cel.Function(boundedName, cel.Overload("bounded", []*cel.Type{t}, t, cel.UnaryBinding(bounded))),
	}
}

// safe makes an expression deterministic, by putting in order what comprehensions go through, unless it is a list, and
// keeps it from parsing quantities that would take the parser hours. Most expressions stay as they are.
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
		c.UpdateExpr(part.expr, c.NewCall(part.function, c.CopyASTAndMetadata(c.NewAST(part.expr))))
	}
	return a
}

type unsafePart struct {
	expr     ast.Expr
	function string
}

// unsafeParts returns what comprehensions go through and is not known to be a list, and the texts of quantities, the
// innermost first.
func unsafeParts(a *ast.AST) []unsafePart {
	var found []unsafePart
	ast.PostOrderVisit(a.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		switch e.Kind() {
		case ast.ComprehensionKind:
			if over := e.AsComprehension().IterRange(); a.GetType(over.ID()).Kind() != types.ListKind {
				found = append(found, unsafePart{over, orderedName})
			}
		case ast.CallKind:
			call := e.AsCall()
			if name := call.FunctionName(); (name == "quantity" || name == "isQuantity") && len(call.Args()) == 1 {
				found = append(found, unsafePart{call.Args()[0], boundedName})
			}
		default:
		}
	}))
	return found
}

var errLongQuantity = errors.New("a quantity has too many digits")

// bounded returns a text that resource.ParseQuantity reads in no time. That takes 1e999999999 for a number of so many digits.
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
