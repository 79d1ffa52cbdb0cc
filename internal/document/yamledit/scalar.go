package yamledit

import (
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// skipProperties returns the offset behind the anchor and the tag of a node.
func (b *builder) skipProperties(n *yaml.Node, at int) int {
	if n.Anchor == "" && n.Style&yaml.TaggedStyle == 0 {
		return at
	}
	for at < len(b.text) {
		switch b.text[at] {
		case '&', '!':
			for at < len(b.text) && !strings.ContainsRune(" \t\r\n", rune(b.text[at])) {
				at++
			}
		case ' ', '\t', '\r', '\n':
			at++
		case '#':
			at = lineEnd(b.text, at)
		default:
			return at
		}
	}
	return at
}

// scalarEnd returns the end of the text of a scalar or an alias. Indent is that of the
// collection around it.
func (b *builder) scalarEnd(n *yaml.Node, start, indent int) int {
	if n.Kind == yaml.AliasNode {
		return start + 1 + len(n.Value)
	}
	at := b.skipProperties(n, start)
	switch quoteOf(n) {
	case '"':
		for at++; at < len(b.text) && b.text[at] != '"'; at++ {
			if b.text[at] == '\\' {
				at++
			}
		}
		return min(at+1, len(b.text))
	case '\'':
		for at++; at < len(b.text); at++ {
			if b.text[at] != '\'' {
				continue
			}
			if at+1 == len(b.text) || b.text[at+1] != '\'' {
				break
			}
			at++
		}
		return min(at+1, len(b.text))
	case '|', '>':
		return b.blockEnd(at, indent)
	}
	return b.plainEnd(n.Value, at)
}

// plainEnd follows a plain scalar, whose text is its value but for line breaks.
func (b *builder) plainEnd(value string, at int) int {
	end := at
	for value != "" && at < len(b.text) {
		r, size := utf8.DecodeRuneInString(value)
		if r == ' ' || r == '\t' || r == '\n' {
			value = strings.TrimLeft(value, " \t\n")
			for at < len(b.text) && strings.IndexByte(" \t\r\n", b.text[at]) >= 0 {
				at++
			}
			continue
		}
		if !strings.HasPrefix(b.text[at:], value[:size]) {
			break // which the check at the end finds
		}
		value, at = value[size:], at+size
		end = at
	}
	return end
}

// blockEnd returns the end of a block scalar: its last line, without the line break.
func (b *builder) blockEnd(at, indent int) int {
	header := b.text[at:lineEnd(b.text, at)]
	if cut := strings.IndexAny(header, " \t"); cut >= 0 {
		header = header[:cut]
	}
	end, keep, content := at+len(header), strings.Contains(header, "+"), -1
	if digit := strings.IndexAny(header, "123456789"); digit >= 0 {
		content = max(indent, 0) + int(header[digit]-'0')
	}
	for line := nextLine(b.text, at); line < len(b.text); line = nextLine(b.text, line) {
		stop := lineEnd(b.text, line)
		text := b.text[line:stop]
		spaces := len(text) - len(strings.TrimLeft(text, " "))
		switch blank := spaces == len(text); {
		case indent < 0 && (strings.HasPrefix(text, "---") || strings.HasPrefix(text, "...")):
			return end
		case blank && (content < 0 || spaces <= content):
			if keep {
				end = stop
			}
		case content < 0 && spaces > indent, content >= 0 && spaces >= content:
			if content < 0 {
				content = spaces
			}
			end = stop
		default:
			return end
		}
		if stop == len(b.text) {
			break
		}
	}
	return end
}
