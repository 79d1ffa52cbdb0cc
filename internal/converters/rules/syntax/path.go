package syntax

import (
	"strconv"
	"strings"
	"unicode/utf8"
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

// Within reports whether the text of a path, of rules or of an object, is that of another one or of
// a place below it.
func Within(path, outer string) bool {
	rest, ok := strings.CutPrefix(path, outer)
	return ok && (rest == "" || strings.ContainsAny(rest[:1], ".[{"))
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

// A pathParser reads the segments of a path from left to right.
type pathParser struct {
	text string
	at   int
}

func (p *pathParser) fail(from, to int, problem, hint string) error {
	return &PathError{Offset: from, End: max(from, min(to, len(p.text))), Problem: problem, Hint: hint}
}

// charEnd returns where the character at a byte ends.
func (p *pathParser) charEnd(at int) int {
	_, size := utf8.DecodeRuneInString(p.text[at:])
	return at + size
}

func (p *pathParser) segment() (Segment, error) {
	switch p.text[p.at] {
	case '.':
		return p.field()
	case '[':
		return p.brackets()
	case '{':
		return p.braces()
	case '*':
		return Segment{}, p.fail(p.at, p.at+1, "* is not a segment", "write [] for each element, {} for each value of a map")
	}
	if p.at == 0 {
		end := nameEnd(p.text)
		return Segment{}, p.fail(0, max(end, p.charEnd(0)), "a path starts with a dot", "write "+hintPath("."+p.text))
	}
	problem := "a segment starts with a dot, [ or {"
	return Segment{}, p.fail(p.at, p.charEnd(p.at), problem, `write a key with other characters than letters, digits, _ and - as ["key"]`)
}

// hintPath proposes a path, unless it would fill the screen.
func hintPath(text string) string {
	const most = 80
	if len(text) > most {
		return ".name"
	}
	return text
}

func (p *pathParser) field() (Segment, error) {
	start := p.at
	size := nameEnd(p.text[start+1:])
	if size > 0 {
		p.at += 1 + size
		return Segment{Kind: Field, Name: p.text[start+1 : p.at], Offset: start, End: p.at}, nil
	}
	rest := p.text[start+1:]
	switch {
	case rest == "":
		return Segment{}, p.fail(start, start+1, "the path ends in a dot", "write the name of a field after it")
	case rest[0] == '.':
		return Segment{}, p.fail(start, start+2, ".. is not a segment", "write every field on the way")
	case rest[0] == '[' || rest[0] == '{':
		return Segment{}, p.fail(start, start+1, "no dot belongs before "+rest[:1], "leave it out")
	case rest[0] == '*':
		return Segment{}, p.fail(start+1, start+2, "* is not a segment", "write [] for each element, {} for each value of a map")
	}
	end := start + 1 + strings.IndexAny(rest+".", ".[{")
	return Segment{}, p.fail(start+1, end, "not a name that can follow a dot", "write it as "+hintKey(p.text[start+1:end]))
}

func hintKey(key string) string {
	const most = 60
	if len(key) > most {
		key = "key"
	}
	return "[" + quoteKey(key) + "]"
}

// brackets reads ["key"], [], [name], [name=x] and [0].
func (p *pathParser) brackets() (Segment, error) {
	start := p.at
	rest := p.text[start+1:]
	switch {
	case strings.HasPrefix(rest, "]"):
		return p.close(Segment{Kind: Elements}, start, start+2)
	case strings.HasPrefix(rest, `"`):
		key, end, err := p.quoted(start + 1)
		if err != nil {
			return Segment{}, err
		}
		return p.closing(Segment{Kind: Field, Name: key}, start, end, ']')
	case strings.HasPrefix(rest, "'"):
		return Segment{}, p.fail(start+1, start+2, "a key needs double quotes", `write ["key"]`)
	}
	if size := nameEnd(rest); size > 0 {
		name, end := rest[:size], start+1+size
		if strings.HasPrefix(p.text[end:], "=") {
			return p.pick(name, start, end+1)
		}
		return p.closing(Segment{Kind: KeyedElements, Name: name}, start, end, ']')
	}
	return p.index(start)
}

// index reads [0], and reports what is wrong with anything else.
func (p *pathParser) index(start int) (Segment, error) {
	inner, _, closed := strings.Cut(p.text[start+1:], "]")
	end := start + 1 + len(inner)
	switch {
	case !closed:
		return Segment{}, p.fail(start, len(p.text), "[ is not closed", "write ] after it")
	case inner == "0":
		return p.close(Segment{Kind: First}, start, end+1)
	case inner == "*":
		return Segment{}, p.fail(start, end+1, "[*] is not a segment", "write [] for each element")
	case strings.Trim(inner, "-0123456789") == "":
		hint := "pick an element by its key as [name=x], or take each of them with []"
		return Segment{}, p.fail(start, end+1, "only the first element, [0], can be named by its index", hint)
	}
	return Segment{}, p.fail(start, end+1, "not a segment", `write [], [name], [name=x], [0] or ["key"]`)
}

// pick reads the value of [name=x], which starts at byte at.
func (p *pathParser) pick(name string, start, at int) (Segment, error) {
	if strings.HasPrefix(p.text[at:], `"`) {
		value, end, err := p.quoted(at)
		if err != nil {
			return Segment{}, err
		}
		return p.closing(Segment{Kind: Pick, Name: name, Value: value}, start, end, ']')
	}
	value, _, closed := strings.Cut(p.text[at:], "]")
	switch {
	case !closed:
		return Segment{}, p.fail(start, len(p.text), "[ is not closed", "write ] after the value")
	case value == "":
		return Segment{}, p.fail(start, at, "no value follows =", `write [`+name+`=x], or [`+name+`=""] for an empty value`)
	case strings.ContainsAny(value, "\"\\ \t\n"):
		return Segment{}, p.fail(at, at+len(value), "the value needs quotes", "write ["+name+"="+quoteKey("x")+"]")
	}
	return p.close(Segment{Kind: Pick, Name: name, Value: value}, start, at+len(value)+1)
}

// braces reads {} and {name}.
func (p *pathParser) braces() (Segment, error) {
	start := p.at
	rest := p.text[start+1:]
	if strings.HasPrefix(rest, "}") {
		return p.close(Segment{Kind: Values}, start, start+2)
	}
	if size := nameEnd(rest); size > 0 {
		return p.closing(Segment{Kind: KeyedValues, Name: rest[:size]}, start, start+1+size, '}')
	}
	inner, _, closed := strings.Cut(rest, "}")
	if !closed {
		return Segment{}, p.fail(start, len(p.text), "{ is not closed", "write } after it")
	}
	end := start + 1 + len(inner) + 1
	return Segment{}, p.fail(start, end, "not a segment", "write {} or {name}, or one entry of a map as [\"key\"]")
}

// quoted reads a text in double quotes, in which a backslash escapes quotes and backslashes.
func (p *pathParser) quoted(at int) (text string, end int, err error) {
	var b strings.Builder
	for i := at + 1; i < len(p.text); i++ {
		switch c := p.text[i]; c {
		case '"':
			return b.String(), i + 1, nil
		case '\\':
			i++
			if i == len(p.text) || p.text[i] != '"' && p.text[i] != '\\' {
				return "", 0, p.fail(i-1, i+1, `only \" and \\ are escapes`, `write \\ for a backslash`)
			}
			b.WriteByte(p.text[i])
		default:
			b.WriteByte(c)
		}
	}
	return "", 0, p.fail(at, len(p.text), "the quotes are not closed", `write " after the key`)
}

// closing ends a segment whose inner part ended at a byte where bracket must follow.
func (p *pathParser) closing(s Segment, start, at int, bracket byte) (Segment, error) {
	if at < len(p.text) && p.text[at] == bracket {
		return p.close(s, start, at+1)
	}
	open := p.text[start : start+1]
	if strings.IndexByte(p.text[at:], bracket) < 0 {
		return Segment{}, p.fail(start, len(p.text), open+" is not closed", "write "+string(bracket)+" after it")
	}
	hint := `write a key with other characters than letters, digits, _ and - as ["key"]`
	return Segment{}, p.fail(at, p.charEnd(at), "does not belong between "+open+" and "+string(bracket), hint)
}

func (p *pathParser) close(s Segment, start, end int) (Segment, error) {
	s.Offset, s.End = start, end
	p.at = end
	return s, nil
}
