package lsp

import (
	"regexp"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/rules/binding"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
)

// A cursor is a path in a text and what it is a path of. It comes from the lines and not from the
// parsed file, since a file in the making is rarely YAML.
type cursor struct {
	line, from, to int // the path's bytes in its line
	path           string
	kind, hub      string // names of the CRD and the hub, or empty
	versions       []string
	set            string // name of the rule set around it, or empty
	document, name string // kind and name of a RuleSets or of a Conversion, or empty
	side           binding.Side
	flow           bool // in braces, where a path with brackets needs quotes
}

var (
	pathToken = regexp.MustCompile(`(?:\.[A-Za-z_$]?[\w$-]*|\["(?:[^"\\]|\\.)*"\]|\[[^\]"\s,]*\]|\{[\w$-]*\})+`)
	sideKey   = regexp.MustCompile(`(?:^|[\s{,-])(spoke|field|hub)\s*:`)
	openKey   = regexp.MustCompile(`^[\s-]*(spoke|field|hub)\s*:\s*(?:#.*)?$`)
	nameLine  = regexp.MustCompile(`^([\s-]*)name\s*:\s*["']?([\w.-]+)`)
	hubLine   = regexp.MustCompile(`^\s*hub\s*:\s*["']?([A-Za-z][\w-]*)`)
	metaName  = regexp.MustCompile(`(?:^|[\s{,])name\s*:\s*["']?([a-z0-9-]+\.[a-z0-9.-]+)`)
)

// cursorAt returns the path at a byte of a line, or one of no bytes there. It is false where a rule
// has no path.
func cursorAt(text []string, line, at int) (cursor, bool) {
	c := cursor{line: line, from: at, to: at}
	if line < 0 || line >= len(text) {
		return c, false
	}
	of := text[line]
	before := sideKey.FindAllStringSubmatchIndex(of[:at], -1)
	key, valueFrom := "", 0
	if len(before) > 0 {
		last := before[len(before)-1]
		key, valueFrom = of[last[2]:last[3]], last[1]
	} else if key = keyAbove(text, line); key == "" {
		return c, false
	}
	for _, m := range pathToken.FindAllStringIndex(of[valueFrom:], -1) {
		if m[0]+valueFrom <= at && at <= m[1]+valueFrom {
			c.from, c.to = m[0]+valueFrom, m[1]+valueFrom
		}
	}
	between := strings.TrimLeft(of[valueFrom:c.from], " '\"")
	if len(before) > 0 && between != "" && !strings.HasPrefix(between, "{") && !strings.HasPrefix(between, "[") {
		return c, false // behind the value, or in a comment
	}
	c.path = of[c.from:c.to]
	c.flow = strings.Contains(of[:c.from], "{") && !strings.HasSuffix(of[:c.from], "'") && !strings.HasSuffix(of[:c.from], `"`)
	if c.side = binding.OfSpoke; key == "hub" {
		c.side = binding.OfHub
	}
	c.surroundings(text)
	return c, true
}

func indent(line string) int { return len(line) - len(strings.TrimLeft(line, " -")) }

// keyAbove returns the key of a place of several lines.
func keyAbove(text []string, line int) string {
	for i := line - 1; i >= 0 && i >= line-100; i-- {
		if m := openKey.FindStringSubmatch(text[i]); m != nil && indent(text[i]) <= indent(text[line]) {
			return m[1]
		}
		if strings.TrimSpace(text[i]) != "" && indent(text[i]) < indent(text[line]) {
			return ""
		}
	}
	return ""
}

// surroundings finds the Conversion and the candidates for the version around the cursor, the
// nearest first.
func (c *cursor) surroundings(text []string) {
	first, end := c.line, c.line
	for first > 0 && !strings.HasPrefix(text[first-1], "---") {
		first--
	}
	for end < len(text) && !strings.HasPrefix(text[end], "---") {
		end++
	}
	for i := c.line; i >= first; i-- {
		if m := nameLine.FindStringSubmatch(text[i]); m != nil {
			c.versions = append(c.versions, m[2])
		}
	}
	for _, line := range text[first:end] {
		if m := hubLine.FindStringSubmatch(line); m != nil && c.hub == "" {
			c.hub = m[1]
		}
		if m := metaName.FindStringSubmatch(line); m != nil && c.kind == "" {
			c.kind = m[1]
		}
	}
	for _, line := range text[first:end] {
		if m := documentKind.FindStringSubmatch(line); m != nil {
			c.document = m[1]
		}
		if m := anyName.FindStringSubmatch(line); m != nil && c.name == "" {
			c.name = m[1]
		}
	}
	name := ""
	if c.document == syntax.KindRuleSets {
		name = c.name
	}
	if in, ok := nestingAt(text, c.line, c.from); ok {
		c.set = in.ruleSet(name)
	}
}

var (
	documentKind = regexp.MustCompile(`^kind\s*:\s*["']?(RuleSets|Conversion)\b`)
	anyName      = regexp.MustCompile(`(?:^|[\s{,])name\s*:\s*["']?([a-z0-9.-]+)`)
)
