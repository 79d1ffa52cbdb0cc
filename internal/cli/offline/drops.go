package offline

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crdconvert/webhookd/internal/cli/voice"
	"github.com/crdconvert/webhookd/internal/converters/rules/check"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/schema/manifest"
	"github.com/crdconvert/webhookd/internal/serve/ruleset"
)

// A DropReporter reports what rules drop from objects. Compiled-in converters do not declare what
// they drop.
type DropReporter struct {
	Set       *ruleset.Set
	Converter *Converter
	known     map[schema.GroupKind][]check.Direction
}

// report prints the path and the rule's reason for each value that the conversion of an object
// drops, never the value.
func (t *DropReporter) report(ctx context.Context, p *voice.Program, name string, before []byte, to string) error {
	_, gvk, err := manifest.ParseObject(before)
	if err != nil {
		return err
	}
	kind := t.Converter.Registry.Lookup(gvk.GroupKind())
	directions := t.directions(gvk.GroupKind())
	if kind == nil || len(directions) == 0 {
		return nil
	}
	for _, version := range []string{kind.Hub, to} { // from spoke to spoke by way of the hub
		if version == gvk.Version {
			continue
		}
		lost, err := dropsOf(directions, before, gvk.Version, version)
		if err != nil {
			return err
		}
		for _, line := range lost {
			p.Note("%s: %s -> %s: dropped %s", name, gvk.Version, version, line)
		}
		if version == to {
			break
		}
		there := *t.Converter
		there.Group, there.Version, there.LeftOut = "", version, nil
		if before, err = there.Object(ctx, before, gvk); err != nil {
			return err
		}
		gvk.Version = version
	}
	return nil
}

// directions returns what happens to each field of a kind that has rules.
func (t *DropReporter) directions(gk schema.GroupKind) []check.Direction {
	if known, ok := t.known[gk]; ok {
		return known
	}
	var directions []check.Direction
	if k := t.Set.BoundKind(gk); k != nil {
		directions = check.Explain(k)
	}
	if t.known == nil {
		t.known = make(map[schema.GroupKind][]check.Direction)
	}
	t.known[gk] = directions
	return directions
}

// dropsOf returns a line for each path that the object has and the step drops.
func dropsOf(directions []check.Direction, object []byte, from, to string) ([]string, error) {
	decoder := json.NewDecoder(bytes.NewReader(object))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
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
