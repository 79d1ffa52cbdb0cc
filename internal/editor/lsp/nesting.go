package lsp

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// A nesting is where a cursor is in the keys around it.
type nesting struct {
	keys     []string     // of the mappings around the cursor, the innermost first
	mappings []*yaml.Node // which the keys are of, with the cursor's own before them
	key      string       // whose value the cursor is in, "" at a key
	typed    string       // of the key or the value, up to the cursor
	flow     bool         // in braces or brackets, without quotes
}

// cursorMark is a character that no text has.
const cursorMark = "\uE000"

// nestingAt returns the nesting of a byte of a line. It is false where there is none, in a comment
// for example. A text in the making is rarely YAML: what is open at the cursor is
// closed, and what is below is left out if it does not fit.
func nestingAt(text []string, line, at int) (nesting, bool) {
	if line < 0 || line >= len(text) {
		return nesting{}, false
	}
	first, last := documentAt(text, line)
	before := strings.Join(append(slices.Clone(text[first:line]), text[line][:at]), "\n")
	below, closers := "\n"+strings.Join(text[line+1:last], "\n"), closersOf(before)
	for _, after := range []string{text[line][at:] + below, closers + below, closers} {
		for _, mark := range []string{cursorMark + ": ", cursorMark} {
			var document yaml.Node
			if yaml.Unmarshal([]byte(before+mark+after), &document) != nil {
				continue
			}
			var n nesting
			if n.find(&document) {
				return n, strings.HasSuffix(text[line][:at], n.typed)
			}
		}
	}
	return nesting{}, false
}

// documentAt returns the lines of the document around a line.
func documentAt(text []string, line int) (first, last int) {
	begins := func(line string) bool { return strings.HasPrefix(line, "---") }
	for first = line; first > 0 && !begins(text[first-1]); {
		first--
	}
	if last = slices.IndexFunc(text[line+1:], begins); last < 0 {
		return first, len(text)
	}
	return first, line + 1 + last
}

// closersOf returns the braces and brackets that close those which are open at the end of a text.
func closersOf(text string) (closers string) {
	quote, comment := rune(0), false
	for i, r := range text {
		begins := i == 0 || strings.ContainsRune(" {[,:\n", rune(text[i-1]))
		switch {
		case comment:
			comment = r != '\n'
		case quote != 0:
			if r == quote {
				quote = 0
			}
		case (r == '"' || r == '\'') && begins:
			quote = r
		case r == '#' && begins:
			comment = true
		case r == '{':
			closers = "}" + closers
		case r == '[':
			closers = "]" + closers
		case (r == '}' || r == ']') && closers != "":
			closers = closers[1:]
		}
	}
	return closers
}

// find looks for the cursor below a node, and writes down the way to it.
func (n *nesting) find(in *yaml.Node) bool {
	for i, child := range in.Content {
		typed, _, here := strings.Cut(child.Value, cursorMark)
		isMapping := in.Kind == yaml.MappingNode
		switch {
		case here:
			n.typed = typed
			n.flow = in.Style&yaml.FlowStyle != 0 && child.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) == 0
			if isMapping && i%2 == 1 {
				n.key = in.Content[i-1].Value
			}
		case !n.find(child):
			continue
		case isMapping && i%2 == 1:
			n.keys = append(n.keys, in.Content[i-1].Value)
		}
		if isMapping {
			n.mappings = append(n.mappings, in)
		}
		return true
	}
	return false
}

// member returns the value of a key of the i-th mapping around the cursor, or nil.
func (n *nesting) member(i int, key string) *yaml.Node {
	if i < 0 || i >= len(n.mappings) {
		return nil
	}
	return member(n.mappings[i], key)
}

func member(of *yaml.Node, key string) *yaml.Node {
	if of == nil || of.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(of.Content); i += 2 {
		if of.Content[i].Value == key {
			return of.Content[i+1]
		}
	}
	return nil
}

// scalar returns the text of a node, "" if it is none or has the cursor.
func scalar(n *yaml.Node) string {
	if n == nil || strings.Contains(n.Value, cursorMark) {
		return ""
	}
	return n.Value
}

// ruleSet returns the name of the rule set that the cursor is in, "" if it is in none.
func (n *nesting) ruleSet(document string) string {
	for i, key := range n.keys {
		if key != "ruleSets" || i == 0 {
			continue
		}
		if document != "" {
			return document + "/" + n.keys[i-1]
		}
		return n.keys[i-1]
	}
	return ""
}

// in returns what the keys at the cursor belong to, by the names of the JSON schema: rule,
// version, conversion... It is "" if the names are free.
func (n *nesting) in(kind string) string {
	at := func(i int) string {
		if i < len(n.keys) {
			return n.keys[i]
		}
		return ""
	}
	switch {
	case at(0) == "rules" || at(1) == "ruleSets":
		return "rule"
	case at(0) == "versions":
		return "version"
	case at(0) == "spec" && len(n.keys) == 1:
		return "spec"
	case len(n.keys) == 0 && kind != "":
		return kind
	}
	return ""
}
