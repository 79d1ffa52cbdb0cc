package transform

import (
	"fmt"
	"iter"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/functions"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"k8s.io/apiserver/pkg/cel/library"
)

// CEL checks the cost limit after each call, but two values of one object are enough for some calls
// to take hours or all memory. So the cost of a heavy function is computed before the call, which
// fails if that exceeds the limit. For the other works, CEL's estimate is corrected.
//
// A unit is a tenth of a microsecond, as for the API server (pkg/apis/cel/config.go), or ten bytes
// moved.
const (
	perByte    = 0.1  // moved
	perCompare = 0.02 // of two bytes; indexOf compares each byte of a text with each of another
	perPair    = 0.4  // of values compared
	perPiece   = 2    // of a text, which becomes an element of a list
	perStep    = 0.2  // of a regular expression
	perFind    = 5    // steps that one step costs if the matches are collected
	composite  = 50   // scalars that a list or a map counts as if compared
)

// A work is the cost of a call in units.
type work func(args []ref.Val) float64

// heavyFunctions returns the functions whose cost grows faster than their arguments.
func heavyFunctions() map[string]work {
	return map[string]work{
		"replace": replacing, "split": splitting, "join": joining, "format": formatting, "indexOf": seeking, "lastIndexOf": seeking, "flatten": flattening,
		"matches": matchingText, "find": matchingText, "findAll": func(args []ref.Val) float64 { return perFind * matchingText(args) },
		"sets.contains": pairing, "sets.equivalent": pairing, "sets.intersects": pairing,
		"distinct":    func(args []ref.Val) float64 { return pairing([]ref.Val{args[0], args[0]}) },
		"lists.range": func(args []ref.Val) float64 { return number(args[0]) },
	}
}

// works returns the costs of the calls that CEL underestimates.
func works() map[string]work {
	all := heavyFunctions()
	all["charAt"] = func(args []ref.Val) float64 { return perByte * length(args[0]) }
	all["size"] = func(args []ref.Val) float64 { return perByte / 10 * length(args[0]) }
	return all
}

// length returns the length of a text in bytes, or 0 for other values.
func length(v ref.Val) float64 {
	s, _ := v.(types.String)
	return float64(len(s))
}

func number(v ref.Val) float64 {
	n, _ := v.(types.Int)
	return float64(n)
}

func replacing(args []ref.Val) float64 {
	return perByte * (length(args[0]) + occurrences(args[0], args[1], args[3:])*length(args[2]))
}

func splitting(args []ref.Val) float64 {
	return perByte*length(args[0]) + perPiece*occurrences(args[0], args[1], args[2:])
}

// occurrences counts a text in another one, up to the limit that a call may have as its last
// argument.
func occurrences(text, of ref.Val, limit []ref.Val) float64 {
	s, _ := text.(types.String)
	part, _ := of.(types.String)
	count := float64(strings.Count(string(s), string(part)))
	if len(limit) > 0 && number(limit[0]) >= 0 {
		count = min(count, number(limit[0]))
	}
	return count
}

func joining(args []ref.Val) float64 {
	separator := 0.0
	if len(args) > 1 {
		separator = length(args[1])
	}
	total := 0.0
	for text := range each(args[0]) {
		total += length(text) + separator
	}
	return perByte * total
}

// each returns the elements of a list or the keys of a map, if v is either.
func each(v ref.Val) iter.Seq[ref.Val] {
	return func(yield func(ref.Val) bool) {
		all, ok := v.(traits.Iterable)
		if !ok {
			return
		}
		for it := all.Iterator(); it.HasNext() == types.True; {
			if !yield(it.Next()) {
				return
			}
		}
	}
}

func formatting(args []ref.Val) float64 {
	return perByte*length(args[0]) + perByte*contents(args[1], maxCallCost/perByte)
}

// contents returns the length of all texts in a value plus the number of values, but not more than
// most.
func contents(v ref.Val, most float64) float64 {
	total := 1 + length(v)
	m, isMap := v.(traits.Mapper)
	for inside := range each(v) {
		if isMap {
			total += length(inside)
			inside = m.Get(inside)
		}
		if total += contents(inside, most-total); total >= most {
			break
		}
	}
	return min(total, most)
}

func seeking(args []ref.Val) float64 { return perCompare * length(args[0]) * length(args[1]) }

// flattening counts the elements of the result.
func flattening(args []ref.Val) float64 {
	depth := 1.0
	if len(args) > 1 {
		depth = number(args[1])
	}
	return leaves(args[0], depth+1, 2*maxCallCost)
}

func leaves(v ref.Val, depth, most float64) float64 {
	if _, ok := v.(traits.Lister); !ok || depth <= 0 {
		return 1
	}
	total := 0.0
	for element := range each(v) {
		if total += leaves(element, depth-1, most-total); total >= most {
			break
		}
	}
	return total
}

// pairing counts the comparisons of each element of a list with each of another.
func pairing(args []ref.Val) float64 {
	first, firstWeight := elements(args[0])
	second, secondWeight := elements(args[1])
	return perPair * max(first*secondWeight, firstWeight*second)
}

func elements(v ref.Val) (count, weight float64) {
	for element := range each(v) {
		count++
		switch element.(type) {
		case traits.Lister, traits.Mapper:
			weight += composite
		default:
			weight++
		}
	}
	return count, weight
}

// guardedName returns the name of the guarded version of a heavy function. No expression can spell
// it.
func guardedName(function string) string { return "@" + function }

// guardedOverload is the prefix of the overloads of guarded functions, which share names with
// functions.
const guardedOverload = "@overload_"

// guardedFunctions declares a guarded version of each heavy function, with the same overloads.
func guardedFunctions(base *cel.Env) ([]cel.EnvOption, error) {
	var options []cel.EnvOption
	for name, work := range heavyFunctions() {
		function := base.Functions()[name]
		bindings, err := function.Bindings()
		if err != nil {
			return nil, fmt.Errorf("function %s cannot be guarded: %w", name, err)
		}
		var overloads []cel.FunctionOpt
		for _, o := range function.OverloadDecls() {
			declare := cel.Overload
			if o.IsMemberFunction() {
				declare = cel.MemberOverload
			}
			i := slices.IndexFunc(bindings, func(b *functions.Overload) bool {
				return b.Operator == o.ID() || function.HasSingletonBinding() && b.Operator == name
			})
			if i < 0 {
				return nil, fmt.Errorf("function %s has nothing to guard: %s", name, o.ID())
			}
			overloads = append(overloads, declare(guardedOverload+o.ID(), o.ArgTypes(), o.ResultType(), guarded(bindings[i], len(o.ArgTypes()), work)))
		}
		options = append(options, cel.Function(guardedName(name), overloads...))
	}
	return options, nil
}

// guarded returns the guarded binding of an overload with count arguments.
func guarded(b *functions.Overload, count int, work work) cel.OverloadOpt {
	refused := types.WrapErr(errCost)
	call := func(args ...ref.Val) ref.Val {
		switch {
		case work(args) > maxCallCost:
			return refused
		case count == 1 && b.Unary != nil:
			return b.Unary(args[0])
		case count == 2 && b.Binary != nil:
			return b.Binary(args[0], args[1])
		default:
			return b.Function(args...)
		}
	}
	switch count {
	case 1:
		return cel.UnaryBinding(func(v ref.Val) ref.Val { return call(v) })
	case 2:
		return cel.BinaryBinding(func(v, w ref.Val) ref.Val { return call(v, w) })
	default:
		return cel.FunctionBinding(call)
	}
}

// actualCost returns the cost of a call: the API server's number, or ours if that is higher.
type actualCost struct {
	library.CostEstimator

	works map[string]work
}

// CallCost implements interpreter.ActualCostEstimator.
func (a *actualCost) CallCost(function, overload string, args []ref.Val, result ref.Val) *uint64 {
	name := strings.TrimPrefix(function, "@")
	cost := a.CostEstimator.CallCost(name, strings.TrimPrefix(overload, guardedOverload), args, result)
	if work := a.works[name]; work != nil {
		units := 1 + uint64(max(0, min(work(args), maxCallCost))) // a call that costs more has failed
		if cost == nil || *cost < units {
			return &units
		}
	}
	return cost
}

// matchingText is the work of a regular expression that is not a literal.
func matchingText(args []ref.Val) float64 {
	pattern, _ := args[1].(types.String)
	if len(pattern) > maxPattern {
		return 2 * maxCallCost
	}
	n, err := steps(string(pattern))
	if err != nil {
		return 0
	}
	return perStep * float64(n) * (length(args[0]) + float64(n))
}

// maxPattern bounds a regular expression that is not a literal, in bytes.
const maxPattern = 1 << 10

// steps returns the number of states of a regular expression: each character of a text may take
// that many steps.
func steps(pattern string) (int, error) {
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return 0, err
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return 0, err
	}
	return len(program.Inst), nil
}

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
