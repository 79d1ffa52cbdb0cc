package crdwire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A member is a member of an object whose members have an order. Its value is a string, an int, a
// list of strings, bytes, which are written in base64, or members.
type member struct {
	name  string
	value any
}

// tree returns the value of a member as decodeJSON does.
func tree(v any) any { return decodeJSON(asJSON(v)) }

// asJSON returns the value of a member as JSON in one line.
func asJSON(v any) []byte {
	members, ok := v.([]member)
	if !ok {
		text, _ := json.Marshal(v) // strings and numbers can always be encoded
		return text
	}
	parts := make([][]byte, len(members))
	for i, m := range members {
		parts[i] = append([]byte(strconv.Quote(m.name)+":"), asJSON(m.value)...)
	}
	return slices.Concat([]byte("{"), bytes.Join(parts, []byte(",")), []byte("}"))
}

// asYAML returns NAME: VALUE in block style. The first line is not indented, the others by indent.
func asYAML(name string, v any, indent int, eol string) string {
	members, ok := v.([]member)
	if !ok {
		return name + ": " + scalarOrList(v)
	}
	var out strings.Builder
	out.WriteString(name + ":")
	for _, m := range members {
		out.WriteString(eol + strings.Repeat(" ", indent+2) + asYAML(m.name, m.value, indent+2, eol))
	}
	return out.String()
}

func scalarOrList(v any) string {
	if list, ok := v.([]string); ok {
		items := make([]string, len(list))
		for i, item := range list {
			items[i] = scalar(item)
		}
		return "[" + strings.Join(items, ", ") + "]"
	}
	return scalar(v)
}

// scalar writes a value that is neither a list nor members: numbers and plain strings without
// quotes.
func scalar(v any) string {
	value := tree(v)
	if s, ok := value.(string); ok && !isPlain(s) {
		return string(asJSON(s))
	}
	return fmt.Sprint(value)
}

// isPlain reports whether no reader of YAML needs quotes around a string: YAML 1.1 has more words
// and numbers than 1.2.
func isPlain(s string) bool {
	for i, c := range []byte(s) {
		letter := 'a' <= c|0x20 && c|0x20 <= 'z' || c == '/'
		switch {
		case letter:
		case i == 0:
			return false
		case c == ':':
			if !strings.HasPrefix(s[i:], "://") && (i+1 == len(s) || s[i+1] < '0' || s[i+1] > '9') {
				return false
			}
		case (c < '0' || c > '9') && !strings.ContainsRune("._+=-", rune(c)):
			return false
		}
	}
	switch strings.ToLower(s) {
	case "", "y", "n", "yes", "no", "on", "off", "true", "false", "null":
		return false
	}
	return true
}
