package syntax

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
)

// A yamlProblem is why a file is not YAML, and where.
type yamlProblem struct {
	pos        Position
	text, hint string
}

// sayNotYAML reports an error of the YAML parser by its likely cause. The parser names a line at
// most, which may be the one before.
func (p *parser) sayNotYAML(err error) {
	y := yamlProblem{text: strings.TrimPrefix(err.Error(), "yaml: "), pos: Position{File: p.source.name}}
	if head, rest, ok := strings.Cut(y.text, ": "); ok {
		if _, err := fmt.Sscanf(head, "line %d", &y.pos.Line); err == nil {
			y.text = rest
		}
		if strings.HasPrefix(y.text, "did not find expected") && !strings.Contains(y.text, "whitespace") {
			y.pos.Line++ // the YAML parser counts from 0 here, and its scanner from 1
		}
	}
	lines := finding.SplitLines(p.source.text)
	if y.pos.Line > 0 && y.pos.Line <= len(lines) && !y.isTab(lines) && !y.isTemplate(lines) && !y.isExpression(lines) {
		y.hint = hintOf(y.text, lines[y.pos.Line-1])
	}
	p.say(y.pos, "not-yaml", "not YAML: "+strings.ReplaceAll(y.text, "\n", " "), y.hint)
}

// column sets the column to that of a byte of the problem's line.
func (y *yamlProblem) column(line string, at int) {
	y.pos.Column = utf8.RuneCountInString(line[:at]) + 1
}

// isTab reports whether the cause is a tab in the indentation.
func (y *yamlProblem) isTab(lines []string) bool {
	if !strings.Contains(y.text, "tab character") && !strings.Contains(y.text, "cannot start any token") {
		return false
	}
	for n := y.pos.Line; n <= min(y.pos.Line+1, len(lines)); n++ {
		line := lines[n-1]
		indentation := line[:len(line)-len(strings.TrimLeft(line, " \t-"))]
		if tab := strings.IndexByte(indentation, '\t'); tab >= 0 {
			y.pos.Line = n
			y.column(line, tab)
			y.text, y.hint = "there is a tab in the indentation", "indent with spaces, not tabs"
			return true
		}
	}
	return false
}

// What a template that is not rendered is called.
const (
	templateLeft = "{{ starts a template"
	renderFirst  = "render it first, or put it in quotes"
)

// isTemplate reports whether the cause is a template that is not in quotes.
func (y *yamlProblem) isTemplate(lines []string) bool {
	for n := max(1, y.pos.Line-1); n <= min(y.pos.Line+1, len(lines)); n++ {
		line := lines[n-1]
		at := strings.Index(line, "{{")
		if at < 0 || !strings.Contains(line[at:], "}}") || strings.Count(line[:at], "'")%2 == 1 || strings.Count(line[:at], `"`)%2 == 1 {
			continue
		}
		y.pos.Line = n
		y.column(line, at)
		y.text, y.hint = templateLeft, renderFirst
		return true
	}
	return false
}

// expressionKey matches a key with an expression.
var expressionKey = regexp.MustCompile(`(?:^|[\s{,])((?:toHub|toSpoke|whenToHub|whenToSpoke):\s+)`)

// isExpression reports whether the cause is an expression that should be in quotes: YAML reads its
// colons, commas, brackets and braces as its own.
func (y *yamlProblem) isExpression(lines []string) bool {
	const most, mostShown = 3, 80 // lines of an expression, and bytes of it in a hint
	for n := y.pos.Line; n > max(0, y.pos.Line-most); n-- {
		line := lines[n-1] + " "
		for _, m := range expressionKey.FindAllStringSubmatchIndex(line, -1) {
			text := line[m[3]:]
			for _, more := range lines[n:y.pos.Line] {
				text = strings.TrimSpace(text) + " " + strings.TrimSpace(more)
			}
			value, needed := unquoted(text)
			if !needed {
				continue
			}
			key := strings.TrimRight(line[m[2]:m[3]], ": \t")
			y.pos.Line = n
			y.column(line, min(m[3], len(line)-1))
			y.text, y.hint = "the expression of "+key+" has characters that mean something to YAML", "put it in quotes"
			if len(value) <= mostShown {
				y.hint += ": " + key + ": '" + strings.ReplaceAll(value, "'", "''") + "'"
			}
			return true
		}
	}
	return false
}

var nextKey = regexp.MustCompile(`,\s*[A-Za-z]+:(\s|$)`)

// unquoted returns the expression at the start of a text, which may be followed by other keys, and
// whether YAML reads it as something else because it is not in quotes.
func unquoted(text string) (value string, needed bool) {
	if text == "" || strings.ContainsAny(text[:1], "|>") {
		return "", false
	}
	value = text
	if next := nextKey.FindStringIndex(text); next != nil {
		value = text[:next[0]]
	}
	value = strings.TrimSpace(value)
	for strings.HasSuffix(value, "}") && strings.Count(value, "}") > strings.Count(value, "{") {
		value = strings.TrimSpace(value[:len(value)-1]) // it closes the rule
	}
	if quote := text[0]; quote == '"' || quote == '\'' {
		end := strings.IndexByte(text[1:], quote)
		after := strings.TrimSpace(text[1+end+1:])
		return value, end >= 0 && after != "" && !strings.ContainsAny(after[:1], ",}]#'")
	}
	return value, text[0] == '!' || strings.ContainsAny(value, "{[,") || strings.Contains(value, ": ") || strings.Contains(value, "?")
}

// hintOf says what to write in place of a line that is not YAML.
func hintOf(problem, line string) string {
	switch {
	case strings.Contains(line, "{."):
		return "drop the braces around the path: write .name"
	case strings.Contains(problem, "unexpected end of stream"):
		return "a quote is not closed"
	case strings.Count(line, "{") > strings.Count(line, "}"):
		return "write } at the end, or put paths and expressions with brackets, braces or commas in quotes"
	case strings.ContainsAny(line, "{[") && strings.Contains(line, ": "):
		return "between { and }, put paths and expressions with brackets, braces or commas in quotes"
	case strings.HasPrefix(problem, "mapping values"):
		return "put a text with a colon in quotes"
	case strings.Contains(problem, "cannot start any token"):
		return "put a value that starts with @, % or ` in quotes"
	}
	return ""
}
