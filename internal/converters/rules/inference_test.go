package rules_test

import (
	"maps"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
)

// shorthand infers a schema, as schemaOf reads it, from an object of an example. After a value, the
// comment "one of A, B" makes it an enum, "any" a field that allows any value, and "the default" a
// string with that default. Metadata is left out.
func shorthand(n *yaml.Node) any {
	comment := strings.TrimSpace(strings.TrimPrefix(n.LineComment, "#"))
	if rest, found := strings.CutPrefix(comment, "one of "); found {
		return "enum " + strings.ReplaceAll(rest, ",", "")
	}
	if comment == "the default" {
		return "string = " + strconv.Quote(n.Value)
	}
	switch n.Kind {
	case yaml.MappingNode:
		object := map[string]any{}
		for i := 0; i < len(n.Content); i += 2 {
			if n.Content[i].Value != "metadata" {
				object[n.Content[i].Value] = shorthand(n.Content[i+1])
			}
		}
		return object
	case yaml.SequenceNode:
		var element any
		for _, c := range n.Content {
			element = merge(element, shorthand(c))
		}
		return []any{element}
	default:
		return map[string]any{"!!str": "string", "!!int": "integer", "!!float": "number", "!!bool": "boolean"}[n.Tag]
	}
}

// merge unites the schemas of two objects; nil is unknown.
func merge(a, b any) any {
	switch b := b.(type) {
	case nil:
		return a
	case map[string]any:
		if a, ok := a.(map[string]any); ok {
			all := maps.Clone(a)
			for name, of := range b {
				all[name] = merge(all[name], of)
			}
			return all
		}
	case []any:
		if a, ok := a.([]any); ok {
			return append([]any{merge(a[0], b[0])}, b[1:]...)
		}
	case string:
		if a, ok := a.(string); ok && strings.HasPrefix(a, "enum ") {
			return a
		}
	}
	return b
}

// shape turns objects and lists into maps and keyed lists where paths treat them as such.
func shape(schema any, place *syntax.Place) any {
	for _, p := range place.Paths {
		schema = shapePath(schema, p.Path.Segments)
	}
	return schema
}

func shapePath(schema any, segments []syntax.Segment) any {
	if len(segments) == 0 {
		return schema
	}
	segment, rest := segments[0], segments[1:]
	switch segment.Kind {
	case syntax.Field:
		object, ok := schema.(map[string]any)
		if !ok || object[segment.Name] == nil {
			return schema
		}
		object = maps.Clone(object)
		object[segment.Name] = shapePath(object[segment.Name], rest)
		return object
	case syntax.Values, syntax.KeyedValues:
		object, ok := schema.(map[string]any)
		if !ok {
			return schema
		}
		var value any
		for _, of := range object {
			value = merge(value, of)
		}
		return map[string]any{"*": shapePath(value, rest)}
	default:
		list, ok := schema.([]any)
		if !ok {
			return schema
		}
		list = append([]any{shapePath(list[0], rest)}, list[1:]...)
		if segment.Kind == syntax.KeyedElements || segment.Kind == syntax.Pick {
			return []any{list[0], segment.Name}
		}
		return list
	}
}
