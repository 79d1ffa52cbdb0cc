package syntax

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
)

// maxDepth bounds how deep lists and mappings may nest. Objects in a cluster nest far less.
const maxDepth = 200

// Parse reads a file and reports every problem that shows without a CRD and other files, all at
// once. The file is never nil; parts that a finding is about are left out of it.
func Parse(name string, text []byte) (*File, []finding.Finding) {
	file := &File{Name: name, Text: text}
	p := &parser{source: newSource(name, text)}
	if len(text) > MaxFile {
		p.say(Position{File: name}, "file-too-large", "the file is larger than 1 MiB", "split it: a directory may hold any number of files")
		file.Unread = true
		return file, p.findings
	}
	empty := true
	for dec := yaml.NewDecoder(bytes.NewReader(text)); ; {
		var doc yaml.Node
		if err := dec.Decode(&doc); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			p.sayNotYAML(err)
			file.Unread = true
			break
		}
		if isEmpty(&doc) {
			continue
		}
		if last := len(file.Conversions) - 1; last >= 0 && file.Conversions[last].end == 0 {
			file.Conversions[last].end = doc.Content[0].Line
		}
		before := len(p.findings)
		if !p.checkYAML(doc.Content[0], 0) {
			file.Unread = true
			continue
		}
		empty = false
		p.document(file, doc.Content[0], before)
	}
	if empty && len(p.findings) == 0 {
		p.say(Position{File: name}, "no-conversion", "the file has no Conversion", "start it with apiVersion: "+APIVersion)
	}
	return file, finding.Sort(p.findings)
}

func isEmpty(doc *yaml.Node) bool {
	if len(doc.Content) == 0 {
		return true
	}
	root := doc.Content[0]
	return root.Kind == yaml.ScalarNode && root.ShortTag() == "!!null" && root.Style&yaml.TaggedStyle == 0
}

// A parser collects findings while it reads one file.
type parser struct {
	source   *source
	findings []finding.Finding
}

// document reads one document, whose YAML has the findings from index before on.
func (p *parser) document(file *File, root *yaml.Node, before int) {
	kind := ""
	if p.isMapping(root, "the document") {
		kind = p.kindOf(root)
	}
	switch kind {
	case Kind:
		c := p.conversion(root)
		c.Wrong, c.Doubtful = len(p.findings) > before, p.doubtful(before)
		file.Conversions = append(file.Conversions, c)
	case KindRuleSets:
		file.RuleSets = append(file.RuleSets, p.ruleSetsDocument(root, before))
	default:
		file.Unread = true
	}
}

// doubtful reports whether a finding from an index on is about more than the form of a text.
func (p *parser) doubtful(before int) bool {
	return slices.ContainsFunc(p.findings[before:], func(f finding.Finding) bool { return f.Code != "yaml-anchor" })
}

func (p *parser) say(pos Position, code, message, hint string) {
	p.findings = append(p.findings, finding.Finding{Pos: pos, Code: code, Message: message, Hint: hint})
}

// sayAt reports a finding about a node, and marks all of it if it is a scalar.
func (p *parser) sayAt(n *yaml.Node, code, message, hint string) {
	end := 0
	if n.Kind == yaml.ScalarNode && n.Value != "" {
		_, end = origin{source: p.source, node: n}.span(0, len(n.Value))
	}
	p.findings = append(p.findings, finding.Finding{
		Pos: p.source.of(n), EndColumn: end, Code: code, Message: message, Hint: hint,
	})
}

// sayIn reports a finding about a part of a scalar.
func (p *parser) sayIn(o origin, from, to int, code, message, hint string) {
	at, end := o.span(from, to)
	p.findings = append(p.findings, finding.Finding{Pos: at, EndColumn: end, Code: code, Message: message, Hint: hint})
}

// checkYAML reports the parts of YAML that Conversion files may not have. It is false if a document
// cannot be read at all.
func (p *parser) checkYAML(n *yaml.Node, depth int) bool {
	if depth > maxDepth {
		p.sayAt(n, "nested-too-deep", fmt.Sprintf("lists and mappings are nested deeper than %d", maxDepth), "")
		return false
	}
	const inFull = "write the value itself; rules that repeat go into ruleSets"
	if n.Anchor != "" {
		p.say(p.source.of(n), "yaml-anchor", "anchors are not supported", inFull)
	}
	switch {
	case n.Kind == yaml.AliasNode:
		p.say(p.source.of(n), "yaml-alias", "aliases are not supported", inFull)
		return true
	case n.Style&yaml.TaggedStyle != 0:
		p.sayTag(n)
	}
	if isTemplate(n) {
		p.say(p.source.of(n), "template", templateLeft, renderFirst)
		return false
	}
	if n.Kind == yaml.MappingNode {
		p.checkNames(n)
	}
	return !slices.ContainsFunc(n.Content, func(c *yaml.Node) bool { return !p.checkYAML(c, depth+1) })
}

// isTemplate reports whether a mapping is a template in braces, such as those of Helm, which YAML
// reads as a mapping whose key is a mapping.
func isTemplate(n *yaml.Node) bool {
	if n.Kind != yaml.MappingNode || len(n.Content) == 0 {
		return false
	}
	key := n.Content[0]
	return key.Kind == yaml.MappingNode && key.Line == n.Line && key.Column == n.Column+1
}

// sayTag reports a tag. Findings with the same position and message become one.
func (p *parser) sayTag(n *yaml.Node) {
	hint := "remove it"
	if !strings.HasPrefix(n.ShortTag(), "!!") {
		hint = "put an expression that starts with ! in quotes"
	}
	p.say(p.source.of(n), "yaml-tag", "tags are not supported: "+n.Tag, hint)
}

// checkNames reports keys of a mapping that are duplicates, merge keys, or not scalars.
func (p *parser) checkNames(n *yaml.Node) {
	firsts := map[[2]string]*yaml.Node{}
	for i := 0; i < len(n.Content); i += 2 {
		name := n.Content[i]
		switch first := firsts[keyOf(name)]; {
		case name.Kind == yaml.AliasNode:
		case name.Kind != yaml.ScalarNode:
			p.sayAt(name, "key-not-a-word", "a key is not a word", "write lines of KEY: VALUE; a key that starts with [ or { needs quotes")
		case isMerge(name):
			p.sayAt(name, "yaml-merge-key", "merge keys are not supported", "write the keys themselves; rules that repeat go into ruleSets")
		case first != nil:
			p.sayAt(name, "duplicate-key", fmt.Sprintf("duplicate key %q, the first is on line %d", name.Value, first.Line), "remove one")
		default:
			firsts[keyOf(name)] = name
		}
	}
}

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
