package syntax

import (
	"strconv"
	"strings"
)

// A SegmentKind says what a segment of a path selects.
type SegmentKind int

// The kinds of segments.
const (
	Field         SegmentKind = iota // .name or ["name"]: a field, or an entry of a map
	Elements                         // []: each element, by index
	Values                           // {}: each value of a map, by key
	KeyedElements                    // [name]: each element, by the value of its field name
	KeyedValues                      // {name}: each value of a map, its key bound to name
	Pick                             // [name=x]: the element whose field name is x
	First                            // [0]: the first element
)

// A Segment is one step of a path.
type Segment struct {
	Kind   SegmentKind
	Name   string // of the field; of the key field of [name] and [name=x]; the variable of {name}
	Value  string // x of [name=x]
	Offset int    // the byte of the path's text at which the segment starts
	End    int    // the byte behind it
}

// Iterates reports whether the segment selects any number of places.
func (s Segment) Iterates() bool {
	switch s.Kind {
	case Elements, Values, KeyedElements, KeyedValues:
		return true
	case Field, Pick, First:
	}
	return false
}

// Equal reports whether two segments select the same, wherever they were written.
func (s Segment) Equal(t Segment) bool {
	return s.Kind == t.Kind && s.Name == t.Name && s.Value == t.Value
}

// String writes the segment as in a path, quoted only if it must be.
func (s Segment) String() string {
	switch s.Kind {
	case Field:
		if nameEnd(s.Name) == len(s.Name) && s.Name != "" {
			return "." + s.Name
		}
		return "[" + quoteKey(s.Name) + "]"
	case Elements:
		return "[]"
	case Values:
		return "{}"
	case KeyedElements:
		return "[" + s.Name + "]"
	case KeyedValues:
		return "{" + s.Name + "}"
	case Pick:
		if s.Value == "" || strings.ContainsAny(s.Value, "]\"\\ \t") {
			return "[" + s.Name + "=" + quoteKey(s.Value) + "]"
		}
		return "[" + s.Name + "=" + s.Value + "]"
	case First:
		return "[0]"
	}
	return "?"
}

// A Path names a place below an object, or with iterating segments any number of them. It has at
// least one segment, unless it is the zero Path.
type Path struct {
	Segments []Segment
	Text     string // as it was written
}

// String writes the path in its shortest spelling.
func (p Path) String() string {
	var b strings.Builder
	for _, s := range p.Segments {
		b.WriteString(s.String())
	}
	return b.String()
}

// A PathError says what is wrong with the text of a path.
type PathError struct {
	Offset, End int // the first byte of the wrong part, and the byte behind it
	Problem     string
	Hint        string
}

// Error implements error.
func (e *PathError) Error() string {
	text := e.Problem + " (byte " + strconv.Itoa(e.Offset) + ")"
	if e.Hint != "" {
		text += ": " + e.Hint
	}
	return text
}

// ParsePath reads a path. An error is a [PathError].
func ParsePath(text string) (Path, error) {
	p := pathParser{text: text}
	switch {
	case text == "":
		return Path{}, p.fail(0, 0, "the path is empty", "write a field as .name")
	case text == ".":
		return Path{}, p.fail(0, 1, "a path names a field, not the whole object", "write a field as .name")
	case inBraces(text) != "":
		return Path{}, p.fail(0, len(text), "it is in braces", "drop the braces: write "+hintPath(inBraces(text)))
	case strings.HasPrefix(text, "$"):
		return Path{}, p.fail(0, 1, "a path starts with a dot", "leave the $ out")
	}
	path := Path{Text: text}
	for p.at < len(text) {
		s, err := p.segment()
		if err != nil {
			return Path{}, err
		}
		path.Segments = append(path.Segments, s)
	}
	return path, nil
}

// inBraces returns the path of a text such as {.spec.x} or ${.spec.x}, as other tools write it, or
// nothing.
func inBraces(text string) string {
	path := strings.TrimPrefix(text, "$")
	for strings.HasPrefix(path, "{") && strings.HasSuffix(path, "}") {
		path = path[1 : len(path)-1]
	}
	if strings.HasPrefix(path, ".") && strings.HasSuffix(text, "}") && text[0] != '.' {
		return path
	}
	return ""
}

// quoteKey quotes a key, with a backslash before quotes and backslashes.
func quoteKey(key string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(key) + `"`
}

// Quoted puts a path into quotes if it needs them in a flow mapping of YAML.
func Quoted(path string) string {
	if strings.ContainsAny(path, `[]{}"`) {
		return "'" + strings.ReplaceAll(path, "'", "''") + "'"
	}
	return path
}

// nameEnd returns the length in bytes of the name without quotes that text starts with.
func nameEnd(text string) int {
	for i := range len(text) {
		c := text[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '$'
		if !letter && (i == 0 || c != '-' && (c < '0' || c > '9')) {
			return i
		}
	}
	return len(text)
}
