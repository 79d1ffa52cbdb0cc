package offline

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crdconvert/webhookd/internal/cli/voice"
	"github.com/crdconvert/webhookd/internal/converters/keep/annotation"
	"github.com/crdconvert/webhookd/internal/converters/rules/check"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/schema/manifest"
)

// MaxAnnotations is what the API server allows for all annotations of an object
// (k8s.io/apimachinery/pkg/api/validation.TotalAnnotationSizeLimitB).
const MaxAnnotations = 256 << 10

// Kept returns the values that the conversion has kept in annotations: their places with the
// version first, and a line for each that quotes it. Values that were kept before are left out.
func (i *Item) Kept() (places, lines []string) {
	was := AnnotationsOf(i.Before)
	for name, text := range AnnotationsOf(i.After) {
		if old, passed := was[name]; !annotation.IsOwn(name) || passed && old == text {
			continue
		}
		kept := annotation.Describe(name, text)
		for _, value := range kept.Values {
			places = append(places, kept.Version+" "+value.Path)
			lines = append(lines, "kept from "+kept.Version+": "+value.Line)
		}
		if len(kept.Values) == 0 {
			places = append(places, name)
		}
	}
	slices.Sort(lines)
	return places, lines
}

// Report says which values the conversion of a document has kept in annotations, and which ones
// rules drop, a line each.
func (c *Converter) Report(ctx context.Context, items []Item, to string) (lines []string, err error) {
	for i := range items {
		item := &items[i]
		if item.After == nil || item.Type.Version == to {
			continue
		}
		_, said := item.Kept()
		if len(said) == 0 {
			from := item.Type.GroupVersion()
			said = []string{fmt.Sprintf("%s -> %s: nothing had to be kept", from, schema.GroupVersion{Group: from.Group, Version: to})}
		}
		dropped, err := c.Dropped(ctx, item.Before, to)
		if err != nil {
			return nil, fmt.Errorf("cannot list what was dropped: %s%w", item.At, err)
		}
		for _, line := range append(said, dropped...) {
			lines = append(lines, item.At+line)
		}
	}
	return lines, nil
}

// AnnotationsOf returns the annotations of an object. It has none if they cannot be read: webhookd
// has not written those.
func AnnotationsOf(object []byte) map[string]string {
	var of struct {
		Metadata struct {
			Annotations map[string]string `json:"annotations"`
		} `json:"metadata"`
	}
	if json.Unmarshal(object, &of) != nil {
		return nil
	}
	return of.Metadata.Annotations
}

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
			if a.Class != check.Dropped || outer != "" && syntax.Within(a.Path, outer) {
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

// places counts the places in value that match a path of the rules.
func places(value any, path []syntax.Segment) int {
	if len(path) == 0 {
		return 1
	}
	members, _ := value.(map[string]any)
	elements, _ := value.([]any)
	var below []any
	switch segment := path[0]; segment.Kind {
	case syntax.Field:
		if member, ok := members[segment.Name]; ok {
			below = []any{member}
		}
	case syntax.Values, syntax.KeyedValues:
		below = slices.Collect(maps.Values(members))
	case syntax.Elements, syntax.KeyedElements:
		below = elements
	case syntax.Pick:
		below = slices.DeleteFunc(slices.Clone(elements), func(element any) bool {
			fields, _ := element.(map[string]any)
			return fields[segment.Name] != any(segment.Value)
		})
	case syntax.First:
		below = elements[:min(1, len(elements))]
	}
	n := 0
	for _, value := range below {
		n += places(value, path[1:])
	}
	return n
}

// Strip removes the annotations and labels in which webhookd keeps values from an object, or from
// each item of a List or of the list of any kind. It also returns what it has removed, in words.
func Strip(text []byte) (stripped []byte, removed []string, err error) {
	stripped, err = edit(text, func(at string, object *jsondoc.Node) error {
		return stripObject(object, func(key string) { removed = append(removed, at+"removed "+key) })
	})
	return stripped, removed, err
}

// StripServerSet removes status and the metadata that the API server sets, with which an object
// cannot be applied or created again.
func StripServerSet(text []byte) ([]byte, error) {
	return edit(text, func(_ string, object *jsondoc.Node) error {
		metadata, err := object.Member("metadata")
		for _, name := range []string{
			"creationTimestamp", "deletionGracePeriodSeconds", "deletionTimestamp", "generation", "managedFields", "resourceVersion", "selfLink", "uid",
		} {
			err = cmp.Or(err, metadata.RemoveMember(name))
		}
		return cmp.Or(err, object.RemoveMember("status"))
	})
}

// edit changes an object, or a List or the list of any kind and each of its items. The function
// also gets where the object is.
func edit(text []byte, change func(at string, object *jsondoc.Node) error) ([]byte, error) {
	object, gvk, err := manifest.ParseObject(text)
	if err != nil {
		return nil, err
	}
	if err := change("", object.Node); err != nil || !strings.HasSuffix(gvk.Kind, "List") {
		return object.Text(), err
	}
	items, err := object.Get("items")
	if err != nil || items.Kind() != jsondoc.Array {
		return object.Text(), err
	}
	var problems []error
	err = items.Each(func(_ string, item *jsondoc.Node) bool {
		problems = append(problems, change(fmt.Sprintf("items[%d]: ", len(problems)), item))
		return true
	})
	return object.Text(), errors.Join(append(problems, err)...)
}

// stripObject strips the metadata of an object, and removes annotations and labels that become
// empty.
func stripObject(object *jsondoc.Node, removed func(key string)) error {
	metadata, err := object.Member("metadata")
	if err != nil {
		return err
	}
	for _, name := range []string{"annotations", "labels"} {
		keys, err := metadata.Member(name)
		if err != nil {
			return err
		}
		if keys.Kind() != jsondoc.Map {
			continue
		}
		left, found := 0, false
		err = keys.Filter(func(key []byte, _ jsondoc.Member) bool {
			if annotation.IsOwn(key) {
				found = true
				removed(string(key))
				return false
			}
			left++
			return true
		})
		if err == nil && found && left == 0 {
			err = metadata.RemoveMember(name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
