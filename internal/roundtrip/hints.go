package roundtrip

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/crdschema"
)

// Hints are values that a generator should try at a place of a version, in addition to those that it makes: JSON texts by path,
// as conversion rules write paths. Examples are a rule's enum values of either side, strings with a template's separators and
// strings that nearly match: whatever the schema does not say. Values that do not fit the schema of the place are ignored, and
// so are places that it does not have. [name=x] is also a hint for name.
type Hints = map[string][]string

// readHints sorts hints by node.
func (g *Generator) readHints(hints Hints) error {
	g.hints, g.names = map[*crdschema.Node][]any{}, map[*crdschema.Node]map[string][]any{}
	var problems []error
	for _, path := range slices.Sorted(maps.Keys(hints)) {
		p, err := parsePath(path)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		var values []any
		for _, text := range hints[path] {
			value, err := decode([]byte(text), false)
			if err != nil {
				problems = append(problems, fmt.Errorf("hint that is not JSON: %s: %w", path, err))
				continue
			}
			values = append(values, value)
		}
		g.addKeyHints(p)
		g.addHint(p, values...)
	}
	return errors.Join(problems...)
}

// addKeyHints makes a hint of each [name=x].
func (g *Generator) addKeyHints(path []syntax.Segment) {
	for i, s := range path {
		if s.Kind != syntax.Pick {
			continue
		}
		key := append(slices.Clone(path[:i+1]), syntax.Segment{Name: s.Name})
		g.addHint(key, s.Value)
		if number, err := strconv.ParseInt(s.Value, 10, 64); err == nil {
			g.addHint(key, number)
		}
	}
}

func (g *Generator) addHint(path []syntax.Segment, values ...any) {
	n, name, below := nodeAt(g.version.Root, path)
	if name != "" && g.names[n] == nil {
		g.names[n] = map[string][]any{}
	}
	if name != "" {
		g.names[n][name] = append(g.names[n][name], slices.DeleteFunc(values, func(v any) bool { return below != nil && !g.fits(below, v) })...)
	} else if n != nil {
		g.hints[n] = append(g.hints[n], slices.DeleteFunc(values, func(v any) bool { return !g.fits(n, v) })...)
	}
}

// fits reports whether a value is of the kind of a place, and of its enum, pattern and length.
func (g *Generator) fits(n *crdschema.Node, value any) bool {
	if value == nil {
		return n.Nullable()
	}
	if enum := n.Enum(); enum != nil && !slices.Contains(enum, string(encode(value))) {
		return false
	}
	kinds := []crdschema.Kind{crdschema.Any}
	switch v := value.(type) {
	case string:
		if own := n.Structural().ValueValidation; own != nil && !g.takes(&limits{all: []*schema.ValueValidation{own}}, v) {
			return false
		}
		kinds = append(kinds, crdschema.String, crdschema.IntOrString)
	case int64:
		kinds = append(kinds, crdschema.Integer, crdschema.Number, crdschema.IntOrString)
	case float64:
		kinds = append(kinds, crdschema.Number)
	case bool:
		kinds = append(kinds, crdschema.Boolean)
	case []any:
		kinds = append(kinds, crdschema.Array)
	default:
		kinds = append(kinds, crdschema.Object, crdschema.Map)
	}
	return slices.Contains(kinds, n.Kind())
}

// parsePath reads a path of conversion rules.
func parsePath(text string) ([]syntax.Segment, error) {
	p, err := syntax.ParsePath(text)
	if err != nil {
		err = fmt.Errorf("path that cannot be read: %w: %s", err, text)
	}
	return p.Segments, err
}

// nodeAt returns the place of a path in a schema. Names below a map, and names that an object does not know but keeps, lead to
// no node: then it returns the map or object, the name, and the node of what is below the name.
func nodeAt(root *crdschema.Node, path []syntax.Segment) (n *crdschema.Node, name string, below *crdschema.Node) {
	n = root
	for i, s := range path {
		var next *crdschema.Node
		switch s.Kind {
		case syntax.Field:
			next = n.Property(s.Name)
			if values := n.Values(); next == nil {
				if i == len(path)-1 && (values != nil || n.PreservesUnknown()) {
					return n, s.Name, values
				}
				next = values
			}
		case syntax.Values, syntax.KeyedValues:
			next = n.Values()
		case syntax.Elements, syntax.KeyedElements, syntax.Pick, syntax.First:
			next = n.Items()
		}
		if n = next; n == nil {
			break
		}
	}
	return n, "", nil
}

// removeAll removes what a path leads to from an object, wherever it is in lists and maps.
func removeAll(v any, path []syntax.Segment) {
	if len(path) == 0 {
		return
	}
	s, rest := path[0], path[1:]
	ofMap := s.Kind == syntax.Values || s.Kind == syntax.KeyedValues
	switch v := v.(type) {
	case map[string]any:
		for name, value := range v {
			switch {
			case !ofMap && (s.Kind != syntax.Field || s.Name != name):
			case len(rest) == 0:
				delete(v, name)
			default:
				removeAll(value, rest)
			}
		}
	case []any:
		for i, value := range v {
			switch {
			case ofMap || s.Kind == syntax.Field:
			case len(rest) == 0:
				v[i] = nil
			default:
				removeAll(value, rest)
			}
		}
	}
}
