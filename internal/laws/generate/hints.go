package generate

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/laws/tree"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// Hints are values that a generator should try at a place of a version, in addition to those that
// it makes: JSON texts by path, as conversion rules write paths. Examples are a rule's enum values
// of either side, strings with a template's separators and strings that nearly match: whatever the
// schema does not say. Values that do not fit the schema of the place are ignored, and so are
// places that it does not have. [name=x] is also a hint for name.
type Hints = map[string][]string

// readHints sorts hints by node.
func (g *Generator) readHints(hints Hints) error {
	g.hints, g.names = map[*crdschema.Node][]any{}, map[*crdschema.Node]map[string][]any{}
	var problems []error
	for _, path := range slices.Sorted(maps.Keys(hints)) {
		p, err := tree.ParsePath(path)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		var values []any
		for _, text := range hints[path] {
			value, err := jsondoc.Decode([]byte(text), false)
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
	n, name := nodeAt(g.version.Root, path)
	if name == "" {
		values = slices.DeleteFunc(values, func(v any) bool { return n == nil || !g.fits(n, v) })
		g.hints[n] = append(g.hints[n], values...)
		return
	}
	if g.names[n] == nil {
		g.names[n] = map[string][]any{}
	}
	below := n.Values()
	values = slices.DeleteFunc(values, func(v any) bool { return below != nil && !g.fits(below, v) })
	g.names[n][name] = append(g.names[n][name], values...)
}

// fits reports whether a value has the types of a place, and of its enum, pattern and length.
func (g *Generator) fits(n *crdschema.Node, value any) bool {
	text := tree.Encode(value)
	if enum := n.Enum(); value != nil && enum != nil {
		return slices.Contains(enum, string(text))
	}
	return crdschema.Fit{Lenient: true, Demands: func(at *crdschema.Node) bool { return at == n }, Meets: func(*crdschema.Node, []byte) bool {
		l := limitsOf(Random(0, 0), n, nil)
		s, is := value.(string)
		return !is || g.takes(&l, s)
	}}.Value(n, text)
}

// nodeAt returns the place of a path in a schema, nil if there is none. Names below a map, and
// names that an object does not know but keeps, lead to no node: then it returns the map or object,
// and the name.
func nodeAt(n *crdschema.Node, path []syntax.Segment) (*crdschema.Node, string) {
	for i, s := range path {
		next := n.Items()
		switch s.Kind {
		case syntax.Field:
			next = n.Property(s.Name)
			if next == nil && i == len(path)-1 && (n.Values() != nil || n.PreservesUnknown()) {
				return n, s.Name
			}
			if next == nil {
				next = n.Values()
			}
		case syntax.Values, syntax.KeyedValues:
			next = n.Values()
		case syntax.Elements, syntax.KeyedElements, syntax.Pick, syntax.First:
		}
		n = next
	}
	return n, ""
}
