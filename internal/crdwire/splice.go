package crdwire

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// An edit replaces text[from:to].
type edit struct {
	from, to int
	text     string
}

// A splicer changes members of objects in a YAML text, and no other byte.
type splicer struct {
	*source

	edits []edit
}

func (s *splicer) replace(from, to int, text string) {
	s.edits = append(s.edits, edit{from, to, text})
}

// result returns the text with all edits. Those at the same place keep their order.
func (s *splicer) result() []byte {
	slices.SortStableFunc(s.edits, func(a, b edit) int { return cmp.Compare(a.from, b.from) })
	var out bytes.Buffer
	at := 0
	for _, e := range s.edits {
		out.Write(s.text[at:max(at, e.from)])
		out.WriteString(e.text)
		at = max(at, e.to)
	}
	out.Write(s.text[at:])
	return out.Bytes()
}

// find returns a member of a mapping.
func find(mapping *yaml.Node, name string) (key, value *yaml.Node) {
	if mapping == nil || mapping.Kind != yaml.MappingNode {
		return nil, nil
	}
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == name {
			return mapping.Content[i], mapping.Content[i+1]
		}
	}
	return nil, nil
}

func isBlock(n *yaml.Node) bool { return n.Style&yaml.FlowStyle == 0 }

// setFirst sets a member of an object, which is the value of key. A new member becomes the first.
func (s *splicer) setFirst(key, object *yaml.Node, m member) {
	at, _ := find(object, m.name)
	switch {
	case at != nil:
		s.set(object, m)
	case isBlock(object):
		indent := object.Content[0].Column - 1
		end := s.end(key.Line)
		s.replace(end, end, s.eol()+strings.Repeat(" ", indent)+asYAML(m.name, m.value, indent, s.eol()))
	default:
		open := s.offset(object.Line, object.Column) + 1
		space := len(s.text[open:]) - len(bytes.TrimLeft(s.text[open:], " \t\r\n"))
		from := open + space
		s.replace(from, from, string(asJSON(m.name))+": "+s.flow(m.value, s.text[open:from], key)+","+string(s.text[open:from]))
	}
}

// set changes an existing member.
func (s *splicer) set(object *yaml.Node, m member) {
	key, value := find(object, m.name)
	if holds(value, m.value) {
		return
	}
	if !isBlock(object) {
		from := s.offset(value.Line, value.Column)
		to := s.tokenEnd(from)
		if to < 0 { // a word or a number
			to = from + len(value.Value)
		}
		before := s.text[:s.offset(key.Line, key.Column)]
		s.replace(from, to, s.flow(m.value, before[len(bytes.TrimRight(before, " \t\r\n")):], nil))
		return
	}
	members, isObject := m.value.([]member)
	switch {
	case isObject && value.Kind == yaml.MappingNode && isBlock(value) && value.Anchor == "" && s.merge(value, members):
	case !isObject && value.Kind == yaml.ScalarNode && s.setScalar(value, scalarOrList(m.value)):
	default:
		from := s.offset(key.Line, key.Column)
		s.replace(from, s.end(s.lastLine(key, value)), asYAML(m.name, m.value, key.Column-1, s.eol()))
	}
}

// flow returns a value in JSON: over several lines if the space before the member has a line end.
// parent is the key of the object that has the member, if it shows the width of an indentation.
func (s *splicer) flow(v any, space []byte, parent *yaml.Node) string {
	text := asJSON(v)
	line := bytes.LastIndexByte(space, '\n')
	if line < 0 {
		return string(text)
	}
	prefix := string(space[line+1:])
	step := "  "
	if parent != nil {
		outer := s.line(parent.Line)
		if width := len(prefix) - (len(outer) - len(bytes.TrimLeft(outer, " \t"))); width > 0 {
			step = prefix[:width]
		}
	} else if len(prefix)%4 == 0 {
		step = "    "
	}
	var out bytes.Buffer
	_ = json.Indent(&out, text, prefix, step) // it is JSON
	return out.String()
}

// merge gives a mapping in block style these members and no others. It changes nothing and returns
// false if the mapping has none of them.
func (s *splicer) merge(object *yaml.Node, members []member) bool {
	var last, lastValue *yaml.Node
	var gone [][2]*yaml.Node
	for i := 0; i+1 < len(object.Content); i += 2 {
		key, value := object.Content[i], object.Content[i+1]
		if !slices.ContainsFunc(members, func(m member) bool { return m.name == key.Value }) {
			gone = append(gone, [2]*yaml.Node{key, value})
			continue
		}
		last, lastValue = key, value
	}
	if last == nil {
		return false
	}
	for _, pair := range gone {
		end := s.lastLine(pair[0], pair[1])
		s.replace(s.start[pair[0].Line-1], s.start[end], "")
	}
	var missing []member
	for _, m := range members {
		if key, _ := find(object, m.name); key != nil {
			s.set(object, m)
		} else {
			missing = append(missing, m)
		}
	}
	indent := last.Column - 1
	end := s.end(s.lastLine(last, lastValue))
	for _, m := range missing {
		s.replace(end, end, s.eol()+strings.Repeat(" ", indent)+asYAML(m.name, m.value, indent, s.eol()))
	}
	return true
}

// setScalar replaces a scalar in one line, and returns false for any other.
func (s *splicer) setScalar(value *yaml.Node, text string) bool {
	from := s.offset(value.Line, value.Column)
	rest := s.text[from:s.end(value.Line)]
	to := -1
	switch {
	case value.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0 && len(rest) > 0 && (rest[0] == '"' || rest[0] == '\''):
		to = s.quoteEnd(from)
	case value.Style == 0 && value.Value != "" && bytes.HasPrefix(rest, []byte(value.Value)):
		to = from + len(value.Value)
	}
	if to < 0 || to > s.end(value.Line) {
		return false
	}
	s.replace(from, to, text)
	return true
}

// lastLine returns the last line of a member of a mapping in block style, which has all lines that
// are indented deeper than its key, without comments and empty lines after it.
func (s *splicer) lastLine(key, value *yaml.Node) int {
	indent, last := key.Column-1, key.Line
	dashes := value.Kind == yaml.SequenceNode && isBlock(value)
	for n := key.Line + 1; n <= s.lines(); n++ {
		line := s.line(n)
		text := bytes.TrimLeft(line, " ")
		deeper := len(line)-len(text) > indent || dashes && len(line)-len(text) == indent && bytes.HasPrefix(text, []byte("-"))
		switch {
		case len(bytes.TrimSpace(text)) == 0:
		case deeper:
			last = n
		case text[0] != '#':
			return last
		}
	}
	return last
}

// holds reports whether a node already has this value.
func holds(n *yaml.Node, v any) bool {
	switch v := v.(type) {
	case []member:
		if n.Kind != yaml.MappingNode || len(n.Content) != 2*len(v) {
			return false
		}
		return !slices.ContainsFunc(v, func(m member) bool {
			_, value := find(n, m.name)
			return value == nil || !holds(value, m.value)
		})
	case []string:
		return n.Kind == yaml.SequenceNode && slices.EqualFunc(n.Content, v, func(item *yaml.Node, s string) bool { return holds(item, s) })
	case int:
		return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!int" && n.Value == scalar(v)
	case []byte:
		return n.Kind == yaml.ScalarNode && n.Value == scalar(v)
	case string:
		return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!str" && n.Value == v
	}
	return false
}
