package reference

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"
)

// The kinds of steps of a path.
const (
	field = 'f' // .a or ["x/y"]
	items = 'l' // [] or [name]
	each  = 'm' // {} or {name}
	pick  = 'p' // [name=x]
	first = 'i' // [0]
)

type step struct {
	kind  byte
	name  string // of the field, or of the key
	value any    // of pick
}

type path []step

func (s step) String() string {
	switch s.kind {
	case items:
		return "[]"
	case each:
		return "{}"
	case pick:
		return fmt.Sprintf("[%s=%v]", s.name, s.value)
	case first:
		return "[0]"
	}
	return "." + s.name
}

func (p path) String() string {
	var b strings.Builder
	for _, s := range p {
		b.WriteString(s.String())
	}
	return b.String()
}

func (p path) with(s ...step) path { return append(slices.Clip(p), s...) }

// scope returns how many steps lead to the innermost element around the place, or to itself.
func (p path) scope() int {
	for i := len(p); i > 0; i-- {
		if k := p[i-1].kind; k == items || k == each {
			return i
		}
	}
	return 0
}

// scopes returns the number of elements around the place.
func (p path) scopes() int {
	n := 0
	for _, s := range p {
		if s.kind == items || s.kind == each {
			n++
		}
	}
	return n
}

// scopeOf returns how many steps lead to the nth element around the place.
func (p path) scopeOf(n int) int {
	for i := range p {
		if p[:i+1].scopes() == n {
			return i + 1
		}
	}
	return len(p)
}

// below reports whether a pattern is that of a place or of one below.
func below(p, place string) bool {
	return strings.HasPrefix(p, place) && (len(p) == len(place) || strings.ContainsRune(".[{", rune(p[len(place)])))
}

func parsePath(text string) (path, error) {
	var p path
	for rest := text; rest != ""; {
		var s step
		switch rest[0] {
		case '.':
			end := 1 + strings.IndexAny(rest[1:]+".", ".[{")
			s, rest = step{kind: field, name: rest[1:end]}, rest[end:]
		case '{':
			end := strings.IndexByte(rest, '}')
			if end < 0 {
				return nil, fmt.Errorf("path %s", text)
			}
			s, rest = step{kind: each, name: rest[1:end]}, rest[end+1:]
		case '[':
			if strings.HasPrefix(rest, `["`) {
				end := strings.Index(rest, `"]`)
				s, rest = step{kind: field, name: rest[2:end]}, rest[end+2:]
				break
			}
			end := strings.IndexByte(rest, ']')
			if end < 0 {
				return nil, fmt.Errorf("path %s", text)
			}
			s, rest = bracket(rest[1:end]), rest[end+1:]
		default:
			return nil, fmt.Errorf("path %s", text)
		}
		p = append(p, s)
	}
	return p, nil
}

func bracket(in string) step {
	if _, err := strconv.Atoi(in); err == nil {
		return step{kind: first}
	}
	name, value, found := strings.Cut(in, "=")
	if !found {
		return step{kind: items, name: in}
	}
	var v any
	if err := yaml.Unmarshal([]byte(value), &v); err != nil {
		v = value
	}
	if f, ok := v.(float64); ok && f == float64(int64(f)) {
		v = int64(f)
	}
	return step{kind: pick, name: name, value: v}
}
