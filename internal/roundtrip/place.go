package roundtrip

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/crdconvert/webhookd/internal/crdschema"
)

// A place is a path through a schema, in the spelling of conversion rules: .a.b, ["x/y"], and any of [], [name], [name=x],
// [0] for the elements of a list, {} and {name} for the values of a map.
type place []step

type step struct {
	kind stepKind
	// name is the field, or what [name=value] compares.
	name, value string
}

type stepKind int

const (
	fieldStep stepKind = iota
	elementStep
	valueStep
)

// parsePlace reads a path.
func parsePlace(text string) (place, error) {
	var p place
	rest := text
	for rest != "" {
		s, n, err := parseStep(rest)
		if err != nil {
			return nil, fmt.Errorf("%w, at byte %d: %s", err, len(text)-len(rest), text)
		}
		p, rest = append(p, s), rest[n:]
	}
	return p, nil
}

// parseStep reads the first step of a path, and says how long it is.
func parseStep(text string) (s step, n int, err error) {
	switch text[0] {
	case '.':
		n = strings.IndexAny(text[1:], ".[{") + 1
		if n == 0 {
			n = len(text)
		}
		if n == 1 {
			return step{}, 0, fmt.Errorf("path with a field that has no name")
		}
		return step{kind: fieldStep, name: text[1:n]}, n, nil
	case '[':
		if quoted, err := strconv.QuotedPrefix(text[1:]); err == nil && strings.HasPrefix(text[1+len(quoted):], "]") {
			name, err := strconv.Unquote(quoted)
			return step{kind: fieldStep, name: name}, len(quoted) + 2, err
		}
		n = strings.IndexByte(text, ']') + 1
		s.kind = elementStep
	case '{':
		n = strings.IndexByte(text, '}') + 1
		s.kind = valueStep
	}
	if n == 0 {
		return step{}, 0, fmt.Errorf("path that cannot be read, write fields as .name or [\"name\"]")
	}
	s.name, s.value, _ = strings.Cut(text[1:n-1], "=")
	return s, n, nil
}

// remove removes the place from an object, wherever it is in lists and maps.
func (p place) remove(v any) {
	if len(p) == 0 {
		return
	}
	switch v := v.(type) {
	case map[string]any:
		switch {
		case p[0].kind == fieldStep && len(p) == 1:
			delete(v, p[0].name)
		case p[0].kind == fieldStep:
			p[1:].remove(v[p[0].name])
		case p[0].kind == valueStep && len(p) == 1:
			clear(v)
		case p[0].kind == valueStep:
			for _, value := range v {
				p[1:].remove(value)
			}
		}
	case []any:
		if p[0].kind != elementStep {
			return
		}
		for i, item := range v {
			if len(p) > 1 {
				p[1:].remove(item)
			} else {
				v[i] = nil
			}
		}
	}
}

// node returns the place in a schema. Names below a map, and names that an object does not know but keeps, lead to no node:
// then it returns the map or object, the name, and the node of what is below the name.
func (p place) node(root *crdschema.Node) (at *crdschema.Node, name string, below *crdschema.Node) {
	at = root
	for i, s := range p {
		var next *crdschema.Node
		switch s.kind {
		case fieldStep:
			next = at.Property(s.name)
			if values := at.Values(); next == nil {
				if i == len(p)-1 && (values != nil || at.PreservesUnknown()) {
					return at, s.name, values
				}
				next = values
			}
		case elementStep:
			next = at.Items()
		case valueStep:
			next = at.Values()
		}
		if next == nil {
			return nil, "", nil
		}
		at = next
	}
	return at, "", nil
}
