package transform

import (
	"strings"
	"unicode/utf8"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/ast"

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
