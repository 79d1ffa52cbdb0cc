package transform

import (
	"errors"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"k8s.io/apiserver/pkg/cel/library"

	"github.com/crdconvert/webhookd/internal/converters/rules/transform/celvalue"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
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

// The assumed sizes of values that the schema does not bound. Most schemas have no bounds, and any
// loop over the largest possible object would be too expensive. Larger values meet the limits at
// run time.
const (
	usualLength = 1024 // characters of a string
	usualCount  = 128  // elements or entries
)

// checkCost reports an expression that may cost more than the API server allows a rule of a CRD.
func (e *expressionCompiler) checkCost() {
	estimate, err := e.env.env.EstimateCost(e.ast, &library.CostEstimator{SizeEstimator: sizes{e}})
	if err != nil || estimate.Max <= maxStaticCost {
		return
	}
	e.say(e.text.Pos, "expression-cost",
		"loop less, or bound the values in the schema with maxLength, maxItems and maxProperties",
		"%s: the expression may cost %d units, and no more than %d are allowed", e.key, estimate.Max, maxStaticCost)
}

// sizes estimates the sizes of values from their schemas.
type sizes struct{ *expressionCompiler }

// EstimateSize implements checker.CostEstimator.
func (s sizes) EstimateSize(element checker.AstNode) *checker.SizeEstimate {
	size := uint64(usualLength)
	if kind := element.Type().Kind(); kind == types.ListKind || kind == types.MapKind {
		size = usualCount
	}
	if bound, ok := s.bound(element.Path()); ok {
		size = bound
	}
	return &checker.SizeEstimate{Max: size}
}

// EstimateCallCost implements checker.CostEstimator.
//
//nolint:gocritic // the interface wants a pointer
func (s sizes) EstimateCallCost(string, string, *checker.AstNode, []checker.AstNode) *checker.CallEstimate {
	return nil
}

// bound returns the largest size of the value at a path of CEL: a variable, then fields and
// elements.
func (s sizes) bound(path []string) (uint64, bool) {
	node, rest := s.variable(path)
	for _, name := range rest {
		switch name {
		case "@items":
			node = node.Items()
		case "@values":
			node = node.Values()
		case "@keys":
			return 0, false
		default:
			property, _ := celvalue.FieldName(node, name)
			node = node.Property(property)
		}
	}
	return maxSize(node)
}

// variable returns the schema of the path's variable or named value, and the rest of the path.
func (s sizes) variable(path []string) (*crdschema.Node, []string) {
	switch {
	case len(path) == 0:
	case path[0] == "object":
		return s.from.root, path[1:]
	case path[0] == "metadata":
		return s.from.root.Property("metadata"), path[1:]
	case path[0] == "self" && !s.from.named():
		return s.from.node(), path[1:]
	case path[0] == "self" && len(path) > 1 && s.from.index(path[1]) >= 0:
		return s.from.nodes[s.from.index(path[1])], path[2:]
	}
	return nil, nil
}

// maxSize returns the largest size of values, if the schema bounds it.
func maxSize(n *crdschema.Node) (uint64, bool) {
	if n == nil {
		return 0, false
	}
	if enum := n.Enum(); len(enum) > 0 {
		longest := 0
		for _, value := range enum {
			longest = max(longest, len(value))
		}
		return uint64(longest), true
	}
	v := n.Structural().ValueValidation
	if v == nil {
		return 0, false
	}
	var bound *int64
	switch n.Kind() {
	case crdschema.Array:
		bound = v.MaxItems
	case crdschema.Object, crdschema.Map:
		bound = v.MaxProperties
	default:
		bound = v.MaxLength
	}
	if bound == nil || *bound < 0 {
		return 0, false
	}
	return uint64(*bound), true
}
