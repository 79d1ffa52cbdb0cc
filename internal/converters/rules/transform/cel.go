package transform

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"

	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/document/didyoumean"
)

// An expressionCompiler compiles one expression of a rule and reports findings.
type expressionCompiler struct {
	*compiler
	key     string // in the file
	text    *syntax.Text
	from    *side // of self
	env     *typedEnv
	missing []missingField
	ast     *cel.Ast
}

// newExpression checks the expression of a key for the values of a side. It returns nil if there
// are findings.
func (c *compiler) newExpression(key string, text *syntax.Text, from *side) *expressionCompiler {
	e := &expressionCompiler{compiler: c, key: key, text: text, from: from}
	var err error
	if e.env, err = c.env.typed(text.Value, from); err != nil {
		c.say(text.Pos, "expression", "", "%s: %s", key, oneLine(err.Error()))
		return nil
	}
	var issues *cel.Issues
	if e.ast, issues, e.missing = e.env.compile(text.Value); issues.Err() != nil {
		all := issues.Errors()
		for _, issue := range all {
			if len(all) == 1 || !strings.Contains(issue.Message, "!error!") { // else it follows from another
				e.issue(issue)
			}
		}
		return nil
	}
	return e
}

func (s *side) namedNodes() []namedNode {
	nodes := make([]namedNode, len(s.nodes))
	for i, node := range s.nodes {
		nodes[i].node = node
		if s.named() {
			nodes[i].name = s.place.Paths[i].Name
		}
	}
	return nodes
}

// program returns the expression, ready to run, or nil if there are findings.
func (e *expressionCompiler) program() *expression {
	e.checkCost()
	made, err := safe(e.env.env, e.ast)
	if err == nil {
		cost, light := lightCost(made)
		var program cel.Program
		if program, err = e.env.program(made, light); err == nil {
			return &expression{
				program: program, loops: loops(made), cost: cost, self: e.from.namedNodes(), named: e.from.named(),
				root: e.from.root, element: e.from.element,
			}
		}
	}
	e.say(e.text.Pos, "expression", "", "%s: %s", e.key, oneLine(err.Error()))
	return nil
}

// loops reports whether an expression has a comprehension, which macros expand to.
func loops(a *cel.Ast) bool {
	found := false
	ast.PostOrderVisit(a.NativeRep().Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		found = found || e.Kind() == ast.ComprehensionKind
	}))
	return found
}

// issue reports what CEL's parser or type checker found.
func (e *expressionCompiler) issue(issue *cel.Error) {
	at := offsetOf(e.text.Value, issue.Location)
	message, code, hint := oneLine(issue.Message), "expression-type", ""
	switch {
	case strings.HasPrefix(message, "Syntax error: "):
		code, message = "expression-syntax", "syntax error: "+syntaxProblem(message[len("Syntax error: "):])
	case strings.HasPrefix(message, "undefined field '"):
		code, hint = "no-such-field", e.fieldHint(quoted(message))
		for at < len(e.text.Value) && strings.ContainsRune(".?[`\"' ", rune(e.text.Value[at])) {
			at++ // CEL points at the dot
		}
	case strings.HasPrefix(message, "undeclared reference to '"):
		code, hint = "no-such-name", e.nameHint(quoted(message))
		message, _, _ = strings.Cut(message, " (in container")
	}
	if m := noOverload.FindStringSubmatch(message); m != nil {
		message, hint = e.overloadProblem(issue, m[1], m[2])
	}
	e.sayText(e.text, at, at+wordLength(e.text.Value[at:]), code, hint, "%s: %s", e.key, message)
}

// quoted returns the text between the first two single quotes.
func quoted(message string) string {
	_, after, _ := strings.Cut(message, "'")
	word, _, _ := strings.Cut(after, "'")
	return word
}

// fieldHint helps with a field that an object does not have.
func (e *expressionCompiler) fieldHint(field string) string {
	for _, m := range e.missing {
		if m.name != field {
			continue
		}
		names := m.object.fields()
		if hint := didyoumean.Hint(field, names, ""); hint != "" {
			return hint
		}
		if len(names) == 0 {
			return e.env.types.called(m.object) + " has no fields"
		}
		return e.env.types.called(m.object) + " has " + List(names)
	}
	return ""
}

// nameHint helps with a name that does not exist.
func (e *expressionCompiler) nameHint(name string) string {
	names := []string{"object", "metadata"}
	if e.from.element != nil {
		names = append(names, "element")
	} else if name == "element" {
		return "the rule goes through no elements and is in no rule set: read object"
	}
	if len(e.from.nodes) > 0 {
		names = append(names, "self")
	} else if name == "self" {
		return "the rule has no " + e.from.key + " path whose value self could be: read object"
	}
	if hint := didyoumean.Hint(name, names, ""); hint != "" {
		return hint
	}
	if i := e.from.index(name); i >= 0 {
		return "did you mean self." + name + "?"
	}
	return "an expression knows " + List(names)
}

// offsetOf returns the byte offset of a location, whose lines count from 1 and columns from 0, in
// characters.
func offsetOf(text string, at common.Location) int {
	offset := 0
	for line := at.Line(); line > 1; line-- {
		next := strings.IndexByte(text[offset:], '\n')
		if next < 0 {
			break
		}
		offset += next + 1
	}
	for column := at.Column(); column > 0 && offset < len(text); column-- {
		_, size := utf8.DecodeRuneInString(text[offset:])
		offset += size
	}
	return offset
}

// wordLength returns the length of the word that text starts with, at least 1.
func wordLength(text string) int {
	isWord := func(r rune) bool {
		return r == '_' || '0' <= r && r <= '9' || 'a' <= r|0x20 && r|0x20 <= 'z' || r >= utf8.RuneSelf
	}
	end := strings.IndexFunc(text, func(r rune) bool { return !isWord(r) })
	if end < 0 {
		end = len(text)
	}
	return min(max(end, 1), len(text))
}

func oneLine(message string) string { return strings.Join(strings.Fields(message), " ") }

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

// CEL's parser reports errors in the words of antlr4's default error strategy.
var (
	wrongInput   = regexp.MustCompile(`^(?:mismatched|extraneous) input '(.*)' expecting (.*)$`)
	missingInput = regexp.MustCompile(`^missing (.*) at '(.*)'$`)
	noWayOn      = regexp.MustCompile(`^no viable alternative at input '(.*)'$`)
	noToken      = regexp.MustCompile(`^token recognition error at: '(.*)'$`)
)

const endOfInput = "<EOF>"

// syntaxProblem puts an error of CEL's parser into words.
func syntaxProblem(message string) string {
	if m := wrongInput.FindStringSubmatch(message); m != nil {
		return unexpected(m[1], m[2])
	}
	if m := missingInput.FindStringSubmatch(message); m != nil {
		if m[2] == endOfInput {
			return m[1] + " is missing at the end"
		}
		return m[1] + " is missing before '" + m[2] + "'"
	}
	if m := noWayOn.FindStringSubmatch(message); m != nil {
		return "nothing that can follow '" + m[1] + "'"
	}
	if m := noToken.FindStringSubmatch(message); m != nil {
		if strings.ContainsAny(m[1][:min(1, len(m[1]))], "'\"`") {
			return "a string that does not end, or has an escape that CEL does not know"
		}
		return "characters that mean nothing: " + m[1]
	}
	return message
}

// unexpected describes an unexpected token. A set of expected tokens would not help the reader.
func unexpected(token, expected string) string {
	one := !strings.HasPrefix(expected, "{") && expected != endOfInput
	switch {
	case token == endOfInput && one:
		return expected + " is missing at the end"
	case token == endOfInput:
		return "it ends too early"
	case one:
		return "'" + token + "' where " + expected + " is expected"
	}
	return "'" + token + "' is not allowed here"
}
