package lsp

import (
	"regexp"
	"slices"

	"github.com/crdconvert/webhookd/internal/converters/rules/binding"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
)

// A cursor is a path in a text and what it is a path of.
type cursor struct {
	line, from, to int // the path's bytes in its line
	path           string
	kind, hub      string // names of the CRD and the hub, or empty
	version        string // name of the version around it, or empty
	set            string // name of the rule set around it, or empty
	document, name string // kind and name of a RuleSets or of a Conversion, or empty
	side           binding.Side
	flow           bool // in braces, where a path with brackets needs quotes
}

var pathToken = regexp.MustCompile(`(?:\.[A-Za-z_$]?[\w$-]*|\["(?:[^"\\]|\\.)*"\]|\[[^\]"\s,]*\]|\{[\w$-]*\})+`)

// cursorAt returns the path at a byte of a line, or one of no bytes there. It is false where a rule
// has no path. A path in the making may not be YAML, so the text is read without it.
func cursorAt(text []string, line, at int) (cursor, bool) {
	if line < 0 || line >= len(text) {
		return cursor{}, false
	}
	of, from, to := text[line], at, at
	for _, m := range pathToken.FindAllStringIndex(of, -1) {
		if m[0] <= at && at <= m[1] {
			from, to = m[0], m[1]
		}
	}
	without := slices.Clone(text)
	without[line] = of[:from] + of[to:]
	n, ok := nestingAt(without, line, from)
	if !ok || n.typed != "" {
		return cursor{}, false
	}
	c := n.cursor()
	c.line, c.from, c.to, c.path = line, from, to, of[from:to]
	var key string
	if key, ok = n.place(); key == "hub" {
		c.side = binding.OfHub
	} else {
		c.side = binding.OfSpoke
	}
	return c, ok
}

// place returns the key of the place of a rule that the cursor is in. It has one path, a list of
// them, or one for each of several names.
func (n *nesting) place() (key string, ok bool) {
	keys := n.keys
	if n.key != "" {
		keys = append([]string{n.key}, keys...)
	}
	for i, key := range keys[:min(2, len(keys))] {
		above := nesting{keys: keys[i+1:]}
		if (key == "spoke" || key == "field" || key == "hub") && above.in("") == "rule" {
			return key, true
		}
	}
	return "", false
}

// cursor returns what is known of the document and the version around the cursor.
func (n *nesting) cursor() cursor {
	root := len(n.mappings) - 1
	c := cursor{
		document: scalar(n.member(root, "kind")), name: scalar(member(n.member(root, "metadata"), "name")),
		hub: scalar(member(n.member(root, "spec"), "hub")), flow: n.flow,
	}
	c.kind = c.name
	name := ""
	if c.document == syntax.KindRuleSets {
		name = c.name
	}
	c.set = n.ruleSet(name)
	own := len(n.mappings) - len(n.keys) // 0 in a list, which is in no mapping of its own
	if i := slices.Index(n.keys, "versions"); i >= 0 {
		c.version = scalar(n.member(i+own-1, "name"))
	}
	return c
}
