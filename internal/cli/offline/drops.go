package offline

import (
	"context"
	"encoding/json"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crdconvert/webhookd/internal/cli/voice"
	"github.com/crdconvert/webhookd/internal/converters/rules/check"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/schema/manifest"
)

// Dropped returns a line for each value that rules drop when an object is converted to a version:
// the path and the rule's reason, never the value. Compiled-in converters do not declare what they
// drop.
func (c *Converter) Dropped(ctx context.Context, object []byte, to string) ([]string, error) {
	_, gvk, err := manifest.ParseObject(object)
	kind, directions := c.Registry.Lookup(gvk.GroupKind()), c.directions(gvk.GroupKind())
	if err != nil || kind == nil || len(directions) == 0 {
		return nil, err
	}
	var lines []string
	for _, version := range []string{kind.Hub, to} { // from spoke to spoke by way of the hub
		if version == gvk.Version {
			continue
		}
		lost, err := dropsOf(directions, object, gvk.Version, version)
		if err != nil {
			return nil, err
		}
		for _, line := range lost {
			lines = append(lines, gvk.Version+" -> "+version+": dropped "+line)
		}
		if version == to {
			break
		}
		if object, err = c.Convert(ctx, object, version); err != nil {
			return nil, err
		}
		gvk.Version = version
	}
	return lines, nil
}

// directions returns what happens to each field of a kind that has rules.
func (c *Converter) directions(gk schema.GroupKind) []check.Direction {
	if _, known := c.explained[gk]; !known {
		if k := c.Set.BoundKind(gk); k != nil {
			c.explained[gk] = check.Explain(k)
		}
	}
	return c.explained[gk]
}

// dropsOf returns a line for each path that the object has and a conversion drops.
func dropsOf(directions []check.Direction, object []byte, from, to string) ([]string, error) {
	var value any
	if err := json.Unmarshal(object, &value); err != nil {
		return nil, err
	}
	var lines []string
	for _, d := range directions {
		if d.From != from || d.To != to {
			continue
		}
		outer := "" // the last dropped path, which includes those below it
		for _, a := range d.Atoms {
			if a.Class != check.Dropped || outer != "" && isBelow(a.Path, outer) {
				continue
			}
			outer = a.Path
			path, err := syntax.ParsePath(a.Path)
			if err != nil {
				continue // inside a text with a codec, so not a path of the object
			}
			line := a.Path
			switch n := places(value, path.Segments); {
			case n == 0:
				continue
			case n > 1:
				line += " in " + voice.Count(n, "place")
			}
			lines = append(lines, line+": "+strings.Join(strings.Fields(a.Reason), " "))
		}
	}
	return lines, nil
}

// isBelow reports whether path is outer or below it.
func isBelow(path, outer string) bool {
	rest, ok := strings.CutPrefix(path, outer)
	return ok && (rest == "" || strings.ContainsAny(rest[:1], ".[{"))
}

// places counts the places in value that match a path of the rules.
func places(value any, path []syntax.Segment) int {
	if len(path) == 0 {
		return 1
	}
	segment, n := path[0], 0
	members, _ := value.(map[string]any)
	elements, _ := value.([]any)
	switch segment.Kind {
	case syntax.Field:
		if member, ok := members[segment.Name]; ok {
			n = places(member, path[1:])
		}
	case syntax.Values, syntax.KeyedValues:
		for _, member := range members {
			n += places(member, path[1:])
		}
	case syntax.Elements, syntax.KeyedElements:
		for _, element := range elements {
			n += places(element, path[1:])
		}
	case syntax.Pick:
		for _, element := range elements {
			if fields, ok := element.(map[string]any); ok && fields[segment.Name] == any(segment.Value) {
				n += places(element, path[1:])
			}
		}
	case syntax.First:
		if len(elements) > 0 {
			n = places(elements[0], path[1:])
		}
	}
	return n
}
