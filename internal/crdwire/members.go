package crdwire

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strconv"
	"strings"
)

// A member is one of an object whose members have an order. Its value is a string, an int, a list of strings, bytes, which
// are written in base64, or members.
type member struct {
	name  string
	value any
}

// tree returns the members as encoding/json decodes them.
func tree(v any) any {
	switch v := v.(type) {
	case []member:
		object := make(map[string]any, len(v))
		for _, m := range v {
			object[m.name] = tree(m.value)
		}
		return object
	case []string:
		list := make([]any, len(v))
		for i, s := range v {
			list[i] = s
		}
		return list
	case []byte:
		return base64.StdEncoding.EncodeToString(v)
	case int:
		return json.Number(strconv.Itoa(v))
	}
	return v
}

// asJSON returns the members as JSON in one line.
func asJSON(v any) []byte {
	var out bytes.Buffer
	writeJSON(&out, v)
	return out.Bytes()
}

func writeJSON(out *bytes.Buffer, v any) {
	members, ok := v.([]member)
	if !ok {
		text, _ := json.Marshal(tree(v)) // strings and numbers can always be encoded
		out.Write(text)
		return
	}
	out.WriteByte('{')
	for i, m := range members {
		if i > 0 {
			out.WriteByte(',')
		}
		out.WriteString(strconv.Quote(m.name) + ":")
		writeJSON(out, m.value)
	}
	out.WriteByte('}')
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
	list, ok := v.([]string)
	if !ok {
		return scalar(v)
	}
	items := make([]string, len(list))
	for i, item := range list {
		items[i] = scalar(item)
	}
	return "[" + strings.Join(items, ", ") + "]"
}

// isPlain reports whether a string needs no quotes in YAML, whoever reads it: YAML 1.1 takes more for something else.
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

func scalar(v any) string {
	switch v := v.(type) {
	case int:
		return strconv.Itoa(v)
	case []byte:
		return base64.StdEncoding.EncodeToString(v)
	case string:
		if isPlain(v) {
			return v
		}
		return string(asJSON(v))
	}
	return ""
}
