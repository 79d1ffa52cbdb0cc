package transform

import (
	"regexp"
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
)

// noOverload matches the message of CEL's type checker for a call whose arguments have types that
// the function does not take.
var noOverload = regexp.MustCompile(`^found no matching overload for '(.*)' applied to '(.*)'$`)

// The arguments of operators in the words of CEL's type checker.
var (
	numbers       = regexp.MustCompile(`^\((int, double|double, int)\)$`)
	textAndNumber = regexp.MustCompile(`^\((string, (int|double)|(int|double), string)\)$`)
)

// overloadProblem puts a call that the type checker refuses into words, and says what to write.
func (e *expressionCompiler) overloadProblem(issue *cel.Error, function, arguments string) (message, hint string) {
	name := function
	if operator, is := operators.FindReverse(function); is && operator != "" {
		name = operator
	} else if bracketed, is := map[string]string{operators.Conditional: "? :", operators.Index: "[ ]"}[function]; is {
		name = bracketed
	}
	message = name + " does not take " + strings.ReplaceAll(arguments, "type of ", "")
	literal := e.literalIn(issue.ExprID)
	const isMap = "for CEL, a literal in braces is a map, not an object of the schema: "
	switch joins := function == operators.Add && strings.Count(arguments, "list(") == 1; {
	case strings.Contains(arguments, "type of ") && strings.Contains(arguments, "map("):
		switch {
		case joins && literal == ast.MapKind:
			hint = isMap + "write dyn([{...}]), as + joins two lists"
		case literal == ast.ListKind:
			hint = isMap + "write dyn([...]) around the list"
		case literal == ast.MapKind:
			hint = isMap + "write dyn({...})"
		default:
			hint = isMap + "write dyn(...) around it"
		}
	case function == operators.Conditional && strings.Contains(arguments, "optional_type("):
		hint = "write optional.of(...) around the branch that has a value"
	case joins:
		hint = "+ joins two lists: put a single element into brackets"
	case numbers.MatchString(arguments):
		hint = "write double(...) around the integer"
	case textAndNumber.MatchString(arguments):
		hint = "write string(...) around the number, or int(...) around the string"
	case takesOneType(function) && literal == ast.ListKind:
		hint = "both have to be of one type: convert the elements of the list, or write dyn([...]) around it"
	case takesOneType(function):
		hint = "both have to be of one type: convert one of them, or write dyn(...) around it"
	}
	return message, hint
}

// takesOneType reports whether the two values that a function takes have to be of the same type.
func takesOneType(function string) bool {
	return slices.Contains([]string{operators.Conditional, operators.Equals, operators.NotEquals, operators.Add, operators.In, "or", "orValue"}, function)
}

// literalIn returns what the first literal list or map among the arguments of a call is, given the
// number of the call in the expression.
func (e *expressionCompiler) literalIn(id int64) (kind ast.ExprKind) {
	parsed, issues := e.env.env.Parse(e.text.Value)
	if issues.Err() != nil {
		return ast.UnspecifiedExprKind
	}
	ast.PostOrderVisit(parsed.NativeRep().Expr(), ast.NewExprVisitor(func(part ast.Expr) {
		if part.ID() != id || part.Kind() != ast.CallKind {
			return
		}
		call := part.AsCall()
		args := slices.Clone(call.Args())
		if call.IsMemberFunction() {
			args = append(args, call.Target())
		}
		for _, arg := range slices.Backward(args) {
			if arg.Kind() == ast.ListKind || arg.Kind() == ast.MapKind {
				kind = arg.Kind()
			}
		}
	}))
	return kind
}
