package lsp

import (
	"regexp"
	"slices"
	"strings"
)

// A nesting is where a cursor is in the keys around it. It comes from the lines, as a cursor does.
type nesting struct {
	keys  []string // of the mappings around the cursor, the innermost first
	item  string   // the text of the list item around it, a rule for example
	key   string   // whose value the cursor is in, "" at a key
	typed string   // of the key or the value, up to the cursor
	flow  bool     // in braces
}

var (
	lineKey  = regexp.MustCompile(`^[\s-]*["']?([\w./-]+)["']?\s*:(?:\s|$)`)
	dash     = regexp.MustCompile(`^(\s*)-(?:\s|$)`)
	keyTyped = regexp.MustCompile(`(?:^[\s-]*|[{,]\s*)(\w*)$`)
	valTyped = regexp.MustCompile(`(?:^[\s-]*|[{,]\s*)["']?([^\s:{},"']+)["']?\s*:\s+["']?([^\s,"'{}\[\]]*)$`)
	flowKey  = regexp.MustCompile(`["']?([\w.-]+)["']?\s*:\s*$`)
)

// nestingAt returns the nesting of a byte of a line. It is false where nothing can be completed,
// in a comment for example.
func nestingAt(text []string, line, at int) (nesting, bool) {
	var n nesting
	if line < 0 || line >= len(text) {
		return n, false
	}
	first, last := itemAt(text, line)
	n.item = strings.Join(text[first:last], "\n")
	before := strings.Join(append(slices.Clone(text[first:line]), text[line][:at]), "\n")
	open, ok := openFlows(before)
	if !ok {
		return n, false
	}
	n.flow = len(open) > 0
	n.keys = slices.DeleteFunc(open, func(k string) bool { return k == "" })
	slices.Reverse(n.keys)
	from := line
	if n.flow {
		from = first
	}
	n.keys = append(n.keys, keysAbove(text, from)...)
	if m := valTyped.FindStringSubmatch(text[line][:at]); m != nil {
		n.key, n.typed = m[1], m[2]
		return n, true
	}
	m := keyTyped.FindStringSubmatch(text[line][:at])
	if m != nil {
		n.typed = m[1]
	}
	return n, m != nil
}

// itemAt returns the lines of the list item around a line, or that line alone.
func itemAt(text []string, line int) (first, last int) {
	within := len(text[line])
	if own := strings.TrimSpace(text[line]); own != "" {
		within = len(text[line]) - len(strings.TrimLeft(text[line], " "))
	}
	for first = line; first >= 0; first-- {
		of := text[first]
		if strings.TrimSpace(of) == "" {
			continue
		}
		margin := len(of) - len(strings.TrimLeft(of, " "))
		if m := dash.FindStringSubmatch(of); m != nil && (first == line || margin < within) {
			break
		}
		if within = min(within, margin); within == 0 {
			return line, line + 1
		}
	}
	if first < 0 {
		return line, line + 1
	}
	margin := len(dash.FindStringSubmatch(text[first])[1])
	for last = first + 1; last < len(text); last++ {
		of := text[last]
		if last > line && strings.TrimSpace(of) != "" && len(of)-len(strings.TrimLeft(of, " ")) <= margin {
			break
		}
	}
	return first, max(last, line+1)
}

// openFlows returns the key before each brace and bracket that is open at the end of a text, ""
// without one. It is false in a comment.
func openFlows(text string) (open []string, ok bool) {
	quote := rune(0)
	comment := false
	for i, r := range text {
		switch {
		case comment:
			comment = r != '\n'
		case quote != 0:
			if r == quote {
				quote = 0
			}
		case (r == '"' || r == '\'') && (i == 0 || strings.ContainsRune(" {[,:\n", rune(text[i-1]))):
			quote = r
		case r == '#' && (i == 0 || text[i-1] == ' ' || text[i-1] == '\n'):
			comment = true
		case r == '{' || r == '[':
			key := ""
			if m := flowKey.FindStringSubmatch(text[:i]); m != nil {
				key = m[1]
			}
			open = append(open, key)
		case (r == '}' || r == ']') && len(open) > 0:
			open = open[:len(open)-1]
		}
	}
	return open, !comment
}

// keysAbove returns the keys whose values a line of block style is in, the innermost first.
func keysAbove(text []string, line int) (keys []string) {
	within := indent(text[line])
	for i := line - 1; i >= 0 && within > 0 && !strings.HasPrefix(text[i], "---"); i-- {
		of := strings.TrimSpace(text[i])
		if of == "" || strings.HasPrefix(of, "#") || indent(text[i]) >= within {
			continue
		}
		within = indent(text[i])
		if m := lineKey.FindStringSubmatch(text[i]); m != nil {
			keys = append(keys, m[1])
		}
	}
	return keys
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
