package transform

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/ast"

	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/didyoumean"
)

// An expressionCompiler compiles one expression of a rule and says what is wrong with it.
type expressionCompiler struct {
	*compiler
	key     string // in the file
	text    *syntax.Text
	from    *side // what self is
	env     *typedEnv
	missing []missingField
	ast     *cel.Ast
}

// newExpression checks the expression of a key for the values of a side. It returns nil after findings.
func (c *compiler) newExpression(key string, text *syntax.Text, from *side) *expressionCompiler {
	e := &expressionCompiler{compiler: c, key: key, text: text, from: from}
	var err error
	if e.env, err = c.env.typed(from); err != nil {
		c.say(text.Pos, "expression", "", "%s: %s", key, oneLine(err.Error()))
		return nil
	}
	checked, issues, missing := e.env.compile(text.Value)
	e.missing = missing
	if issues.Err() != nil {
		for _, issue := range issues.Errors() {
			e.issue(issue)
		}
		return nil
	}
	e.ast = checked
	return e
}

func (s *side) namedNodes() []NamedNode {
	nodes := make([]NamedNode, len(s.nodes))
	for i, node := range s.nodes {
		nodes[i] = NamedNode{Node: node}
		if s.named() && i < len(s.place.Paths) {
			nodes[i].Name = s.place.Paths[i].Name
		}
	}
	return nodes
}

// program returns the expression, ready to run, or nil after findings.
func (e *expressionCompiler) program() *expression {
	e.checkCost()
	made, err := safe(e.env.env, e.ast)
	if err == nil {
		cost, light := lightCost(made)
		var program cel.Program
		if program, err = e.env.program(made, light); err == nil {
			return &expression{
				program: program, loops: loops(made), cost: cost, self: e.from.namedNodes(), named: e.from.named(), root: e.from.root,
			}
		}
	}
	e.say(e.text.Pos, "expression", "", "%s: %s", e.key, oneLine(err.Error()))
	return nil
}

// loops reports whether there is a comprehension in an expression, such as a macro stands for.
func loops(a *cel.Ast) bool {
	found := false
	ast.PostOrderVisit(a.NativeRep().Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		found = found || e.Kind() == ast.ComprehensionKind
	}))
	return found
}

// issue says what CEL's parser or type checker found.
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
	e.sayText(e.text, at, at+wordLength(e.text.Value[at:]), code, hint, "%s: %s", e.key, message)
}

// quoted returns what stands between the first two single quotes.
func quoted(message string) string {
	_, after, _ := strings.Cut(message, "'")
	word, _, _ := strings.Cut(after, "'")
	return word
}

// fieldHint helps with a field that an object has not.
func (e *expressionCompiler) fieldHint(field string) string {
	for _, m := range e.missing {
		if m.name != field {
			continue
		}
		names := m.object.fields()
		if hint := didyoumean.Hint(field, names, ""); hint != "" {
			return hint
		}
		const many = 12
		switch {
		case len(names) == 0:
			return m.object.path + " has no fields"
		case len(names) > many:
			return fmt.Sprintf("%s has %s, and %d more", m.object.path, list(names[:many]), len(names)-many)
		}
		return m.object.path + " has " + list(names)
	}
	return ""
}

// nameHint helps with a name that there is not.
func (e *expressionCompiler) nameHint(name string) string {
	names := []string{"object", "metadata"}
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
	return "an expression knows " + list(names)
}

// offsetOf returns the byte of a text at a location, whose columns count characters from 0 and lines from 1.
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

// wordLength returns how long the word is that text starts with, at least 1.
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
