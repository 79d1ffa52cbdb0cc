package transform

import (
	"fmt"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/functions"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"k8s.io/apiserver/pkg/cel/library"
)

// CEL looks at the limit of the cost behind each call, and some calls take hours, or more memory than there is, for two values
// that have their place in one object. Those of heavyFunctions are counted before they begin, and not begun if they alone
// exceed the limit; the others of works only cost what they take.
//
// A unit is a tenth of a microsecond, as it is for the API server (pkg/apis/cel/config.go), or ten bytes to be moved.
const (
	perByte    = 0.1  // moved
	perCompare = 0.02 // of one byte with another one, which indexOf does for each of a text with each of what it looks for
	perPair    = 0.4  // of values that are compared
	perPiece   = 2    // of a text that becomes an element of a list
	perStep    = 0.2  // of a regular expression
	perFind    = 5    // how many steps are one that has to remember what it found
	composite  = 50   // how many scalars a list or a map is, where it is compared
)

// A work is what a call costs, in units.
type work func(args []ref.Val) float64

// heavyFunctions returns the functions whose work is more than in proportion to the values that they are given.
func heavyFunctions() map[string]work {
	return map[string]work{
		"replace": replacing, "split": splitting, "join": joining, "format": formatting, "indexOf": seeking, "lastIndexOf": seeking, "flatten": flattening,
		"matches": matchingText, "find": matchingText, "findAll": func(args []ref.Val) float64 { return perFind * matchingText(args) },
		"sets.contains": pairing, "sets.equivalent": pairing, "sets.intersects": pairing,
		"distinct":    func(args []ref.Val) float64 { return pairing([]ref.Val{args[0], args[0]}) },
		"lists.range": func(args []ref.Val) float64 { return number(args[0]) },
	}
}

// works returns what calls cost that CEL takes to cost less.
func works() map[string]work {
	all := heavyFunctions()
	all["charAt"] = func(args []ref.Val) float64 { return perByte * length(args[0]) }
	all["size"] = func(args []ref.Val) float64 { return perByte / 10 * length(args[0]) }
	return all
}

// length is that of a text in bytes, which takes no time to tell; 0 for other values.
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

// occurrences counts a text in another one, up to the limit that a call may have as its last argument.
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
	list, ok := args[0].(traits.Lister)
	if !ok {
		return 0
	}
	separator := 0.0
	if len(args) > 1 {
		separator = length(args[1])
	}
	total := 0.0
	for it := list.Iterator(); it.HasNext() == types.True; {
		total += length(it.Next()) + separator
	}
	return perByte * total
}

func formatting(args []ref.Val) float64 {
	return perByte*length(args[0]) + perByte*contents(args[1], maxCallCost/perByte)
}

// contents returns how long all texts in a value are, and something for each other value, or most if that is less.
func contents(v ref.Val, most float64) float64 {
	total := 1 + length(v)
	switch v := v.(type) {
	case traits.Lister:
		for it := v.Iterator(); it.HasNext() == types.True && total < most; {
			total += contents(it.Next(), most-total)
		}
	case traits.Mapper:
		for it := v.Iterator(); it.HasNext() == types.True && total < most; {
			key := it.Next()
			total += length(key) + contents(v.Get(key), most-total)
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
	list, ok := v.(traits.Lister)
	if !ok || depth <= 0 {
		return 1
	}
	total := 0.0
	for it := list.Iterator(); it.HasNext() == types.True && total < most; {
		total += leaves(it.Next(), depth-1, most-total)
	}
	return total
}

// pairing counts the comparisons of each element of a list with each of another one.
func pairing(args []ref.Val) float64 {
	first, firstWeight := elements(args[0])
	second, secondWeight := elements(args[1])
	return perPair * max(first*secondWeight, firstWeight*second)
}

func elements(v ref.Val) (count, weight float64) {
	list, ok := v.(traits.Lister)
	if !ok {
		return 0, 0
	}
	for it := list.Iterator(); it.HasNext() == types.True; {
		count++
		switch it.Next().(type) {
		case traits.Lister, traits.Mapper:
			weight += composite
		default:
			weight++
		}
	}
	return count, weight
}

// guardedName is what a heavy function is called where it is counted before it begins. No expression can spell it.
func guardedName(function string) string { return "@" + function }

// guardedOverload stands before the names of its overloads, which share names with functions.
const guardedOverload = "@overload_"

// guardedFunctions declares the heavy functions of an environment again, each with the same overloads.
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

// guarded is the binding of an overload with so many arguments.
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

// actualCost tells what calls have cost: the API server's numbers, or ours where those are less.
type actualCost struct {
	library.CostEstimator

	works map[string]work
}

// CallCost implements interpreter.ActualCostEstimator.
func (a *actualCost) CallCost(function, overload string, args []ref.Val, result ref.Val) *uint64 {
	name := strings.TrimPrefix(function, "@")
	cost := a.CostEstimator.CallCost(name, strings.TrimPrefix(overload, guardedOverload), args, result)
	if work := a.works[name]; work != nil {
		units := 1 + uint64(max(0, min(work(args), maxCallCost))) // what is more was not begun
		if cost == nil || *cost < units {
			return &units
		}
	}
	return cost
}

// matchingText is for a regular expression that is not written out.
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

// maxPattern bounds a regular expression that is not written out, in bytes.
const maxPattern = 1 << 10

// steps returns how many states a regular expression has, which is how many steps each character of a text may take.
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
