package binding_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/converters/rules"
	"github.com/crdconvert/webhookd/internal/converters/rules/binding"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// editsEach is the number of edits of random objects for each rule file of the table, in each
// direction.
const editsEach = 150

// TestEditsStayInTheirUnits checks the purpose of units: an edit of a place changes, at the other
// version, only places of its own units or copies of it.
func TestEditsStayInTheirUnits(t *testing.T) {
	t.Parallel()
	for _, tt := range unitsTests() {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			crd, text := tt.files(t)
			set, findings := rules.Load(t.Context(), []rules.Source{{Name: "rules.yaml", Text: text}}, []*crdschema.CRD{crd}, rules.Options{})
			if len(findings) > 0 {
				t.Fatal(findings)
			}
			e := editor{
				Rand: rand.New(rand.NewPCG(1, 2)), kind: set.Kinds()[0], root: tt.bind(t), //nolint:gosec // a seed
				versions: [2]*crdschema.Version{crd.Version("v1beta1"), crd.Version("v1")},
			}
			changed := 0
			for range editsEach {
				for side := binding.OfSpoke; side <= binding.OfHub; side++ {
					changed += e.edit(t, side)
				}
			}
			if changed < editsEach/10 {
				t.Errorf("%d places changed, want %d at least", changed, editsEach/10)
			}
		})
	}
}

type editor struct {
	*rand.Rand

	kind     converters.Kind
	root     *binding.Binding
	versions [2]*crdschema.Version
}

// edit edits a random object of a side, and returns the number of places that change on the other
// one.
func (e *editor) edit(t *testing.T, from binding.Side) int {
	t.Helper()
	object := map[string]any{"apiVersion": "example.com/" + e.versions[from].Name, "kind": "Thing"}
	object["metadata"] = map[string]any{"name": "n", "labels": e.value(e.versions[from].Root.Property("metadata").Property("labels"))}
	for _, name := range []string{"spec", "status"} {
		if n := e.versions[from].Root.Property(name); n != nil {
			object[name] = e.value(n)
		}
	}
	before := e.convert(t, object, from)
	at := e.change(object, e.versions[from].Root, nil)
	if at == nil {
		return 0
	}
	after := e.convert(t, object, from)
	changed := 0
	for path := range changes(before, after, nil) {
		changed++
		if !e.follows(from, at, path) {
			t.Errorf("an edit of %s %v changes %v, which is in no unit with it", e.versions[from].Name, text(at), text(path))
		}
	}
	return changed
}

// follows reports whether the units allow a place to change with one of the other version.
func (e *editor) follows(from binding.Side, edited, changed []syntax.Segment) bool {
	if len(changed) > 0 && changed[0].Name == "status" || edited[0].Name == "status" {
		if changed[0].Name != edited[0].Name {
			return true // reads across do not count
		}
	}
	for _, r := range e.root.Rules {
		if r.Below != nil && below(changed, r.Ends[from.Other()][0].Segments) {
			return true // the rule set's units say it
		}
	}
	for _, list := range e.root.Elements {
		if below(changed, list.Ends[from.Other()].Segments) {
			return true // those of the elements
		}
	}
	units := e.root.UnitsAt(from.Other(), changed)
	for _, u := range units {
		for _, p := range slices.Concat(u.Places[from], u.Outside[from]) {
			n := min(len(p.Path), len(edited))
			if near(p.Path[:n], edited[:n]) {
				return true
			}
		}
	}
	return len(units) == 0 && below(changed, edited) || len(units) == 0 && below(edited, changed)
}

func below(path, above []syntax.Segment) bool {
	return len(path) >= len(above) && slices.EqualFunc(path[:len(above)], above, syntax.Segment.Equal)
}

// near reports whether two paths are the same, if all elements count as one.
func near(a, b []syntax.Segment) bool {
	return slices.EqualFunc(a, b, func(a, b syntax.Segment) bool {
		return a.Equal(b) || a.Kind != syntax.Field && b.Kind != syntax.Field || binding.IsMap(a) || binding.IsMap(b)
	})
}

func text(path []syntax.Segment) string { return syntax.Path{Segments: path}.String() }

// convert converts an object from a side to the other one, and returns it without webhookd's
// annotations.
func (e *editor) convert(t *testing.T, object map[string]any, from binding.Side) map[string]any {
	t.Helper()
	source, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	obj, err := jsondoc.ParseObject(source)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.kind.Converter.Convert(t.Context(), obj, e.versions[from].Name, e.versions[from.Other()].Name); err != nil {
		t.Fatal(err)
	}
	var converted map[string]any
	if err := json.Unmarshal(obj.Text(), &converted); err != nil {
		t.Fatal(err)
	}
	metadata := converted["metadata"].(map[string]any)
	delete(metadata, "annotations")
	if labels, ok := metadata["labels"].(map[string]any); ok && len(labels) == 0 {
		delete(metadata, "labels")
	}
	delete(converted, "apiVersion")
	return converted
}

func (e *editor) pick(list ...string) string { return list[e.IntN(len(list))] }

func (e *editor) value(n *crdschema.Node) any {
	switch n.Kind() {
	case crdschema.Object:
		object := map[string]any{}
		for _, name := range n.Properties() {
			if e.IntN(5) > 0 {
				object[name] = e.value(n.Property(name))
			}
		}
		return object
	case crdschema.Map:
		object := map[string]any{}
		for range e.IntN(3) {
			object[e.pick("k", "l")] = e.value(n.Values())
		}
		return object
	case crdschema.Array:
		elements := []any{}
		for i := range e.IntN(3) {
			element := e.value(n.Items())
			if object, ok := element.(map[string]any); ok {
				object["name"] = [...]string{"one", "two", "three"}[i]
			}
			elements = append(elements, element)
		}
		return elements
	case crdschema.String:
		return e.pick("", "x", "y", "Git", "HTTP", "a.git", "a", "b", "x:y", `{"q":{"r":""}}`)
	default:
		return map[string]any{"a": map[string]any{"q": map[string]any{"r": e.pick("x", "y")}}, "b": map[string]any{}}
	}
}

// change changes or removes a text, and returns its path.
func (e *editor) change(object map[string]any, n *crdschema.Node, at []syntax.Segment) []syntax.Segment {
	names := slices.Sorted(maps.Keys(object))
	e.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	for _, name := range names {
		if slices.Contains([]string{"apiVersion", "kind", "name"}, name) {
			continue
		}
		below := n.Property(name)
		if n.Kind() == crdschema.Map {
			below = n.Values()
		}
		path := append(slices.Clip(at), syntax.Segment{Kind: syntax.Field, Name: name})
		switch v := object[name].(type) {
		case map[string]any:
			if done := e.change(v, below, path); done != nil {
				return done
			}
		case []any:
			if len(v) == 0 {
				continue
			}
			element, ok := v[e.IntN(len(v))].(map[string]any)
			if done := e.change(element, below.Items(), append(path, syntax.Segment{Kind: syntax.Elements})); ok && done != nil {
				return done
			}
		case string:
			if e.IntN(4) == 0 {
				delete(object, name)
			} else {
				object[name] = e.pick("", "x", "y", "Git", "HTTP", "b.git", "x:z", fmt.Sprint(v, "1"))
			}
			return path
		}
	}
	return nil
}

// changes returns the places of texts that differ in two values.
func changes(a, b any, at []syntax.Segment) func(func([]syntax.Segment) bool) {
	return func(yield func([]syntax.Segment) bool) {
		if x, y := elements(a), elements(b); len(x) == len(y) && len(x) > 0 {
			for i := range x {
				for path := range changes(x[i], y[i], append(slices.Clip(at), syntax.Segment{Kind: syntax.Elements})) {
					if !yield(path) {
						return
					}
				}
			}
			return
		}
		x, isX := a.(map[string]any)
		y, isY := b.(map[string]any)
		if !isX && !isY || a == nil && len(y) == 0 || b == nil && len(x) == 0 {
			if !reflect.DeepEqual(a, b) {
				yield(at)
			}
			return
		}
		names := slices.Concat(slices.Collect(maps.Keys(x)), slices.Collect(maps.Keys(y)))
		slices.Sort(names)
		for _, name := range slices.Compact(names) {
			for path := range changes(x[name], y[name], append(slices.Clip(at), syntax.Segment{Kind: syntax.Field, Name: name})) {
				if !yield(path) {
					return
				}
			}
		}
	}
}

func elements(v any) []any {
	list, _ := v.([]any)
	return list
}
