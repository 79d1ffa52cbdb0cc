package binding

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/converters/rules/transform"
	"github.com/crdconvert/webhookd/internal/document/didyoumean"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// A Problem is a segment of a path that the schema does not have.
type Problem struct {
	Segment int // the index of the segment
	Code    string
	Text    string
	Hint    string
	Missing bool // there is no such field; otherwise the segment does not fit the schema
}

// Find returns the place at a path, or the problem if the schema does not have the path. Anything
// exists below a place that allows any value. Version names the schema in messages. Find does not
// judge paths into the object's own metadata: see reserved.
func (s Place) Find(version string, path []syntax.Segment) (Place, *Problem) {
	for i, by := range path {
		if problem := judge(s.Node, version, by); problem != nil {
			problem.Segment = i
			if problem.Missing {
				problem.Hint = fieldHint(s.Node, path[:i], by, problem.Hint)
			}
			return Place{}, problem
		}
		s = s.Step(by)
	}
	return s, nil
}

// judge returns why a segment cannot follow a node, or nil.
func judge(at *crdschema.Node, version string, s syntax.Segment) *Problem {
	if free(at) {
		return nil
	}
	kind := at.Kind()
	switch s.Kind {
	case syntax.Field:
		switch {
		case kind == crdschema.Map:
		case kind != crdschema.Object && kind != crdschema.Any:
			return misfit(at, s, "fields")
		case at.Property(s.Name) == nil && !at.PreservesUnknown():
			return &Problem{Code: "no-such-field", Text: "no such field in " + version, Missing: true}
		}
	case syntax.Values, syntax.KeyedValues:
		if kind != crdschema.Map {
			return misfit(at, s, "entries of a map")
		}
	case syntax.Elements, syntax.First, syntax.KeyedElements, syntax.Pick:
		if kind != crdschema.Array {
			return misfit(at, s, "elements")
		}
		if s.Kind == syntax.KeyedElements || s.Kind == syntax.Pick {
			return keyField(at.Items(), version, s)
		}
	}
	return nil
}

// misfit reports that a node has no such part, and what to write instead.
func misfit(at *crdschema.Node, s syntax.Segment, part string) *Problem {
	p := &Problem{Code: "segment-does-not-fit", Text: fmt.Sprintf("%s has no %s", at.Kind(), part)}
	switch at.Kind() {
	case crdschema.Array:
		p.Hint = "write [] for each element, [name=x] for one, or [0] for the first, before " + s.String()
	case crdschema.Map:
		p.Hint = `write {} for each value of the map, {name} to pair it with a list, or ["key"] for one`
	case crdschema.Object:
		p.Hint = "write the name of a field"
	case crdschema.None, crdschema.String, crdschema.Integer, crdschema.Number, crdschema.Boolean, crdschema.IntOrString, crdschema.Any:
		p.Hint = "leave " + s.String() + " and what follows it out; a part of a value is taken with template, or with toHub and toSpoke"
	}
	return p
}

// keyField judges the key field of [name] and [name=x].
func keyField(items *crdschema.Node, version string, s syntax.Segment) *Problem {
	if free(items) {
		return nil
	}
	if k := items.Kind(); k != crdschema.Object && k != crdschema.Any {
		return &Problem{
			Code: "no-such-key", Text: fmt.Sprintf("each element is %s and has no field %s", k, s.Name),
			Hint: "write [] for each element, or [0] for the first",
		}
	}
	key := items.Property(s.Name)
	if key == nil {
		if items.PreservesUnknown() {
			return nil
		}
		p := &Problem{Code: "no-such-key", Text: fmt.Sprintf("the elements have no field %s in %s", s.Name, version)}
		p.Hint = didyoumean.Hint(s.Name, items.Properties(), "they have "+transform.List(items.Properties()))
		return p
	}
	switch key.Kind() {
	case crdschema.String:
		return enumHas(key, s)
	case crdschema.Integer:
		return isInteger(s)
	case crdschema.IntOrString, crdschema.Any:
		return nil
	case crdschema.None, crdschema.Object, crdschema.Map, crdschema.Array, crdschema.Number, crdschema.Boolean:
	}
	return &Problem{
		Code: "key-not-a-string", Text: fmt.Sprintf("elements cannot be told apart by %s, which is %s", s.Name, key.Kind()),
		Hint: "choose a field that is a string or an integer",
	}
}

// enumHas judges the x of [name=x].
func enumHas(key *crdschema.Node, s syntax.Segment) *Problem {
	if s.Kind != syntax.Pick || len(key.Enum()) == 0 {
		return nil
	}
	if transform.AdmitsString(key, s.Value) {
		return nil
	}
	values := make([]string, 0, len(key.Enum()))
	for _, text := range key.Enum() {
		values = append(values, strings.Trim(text, `"`))
	}
	return &Problem{
		Code: "no-such-element", Text: fmt.Sprintf("%s is never %s", s.Name, s.Value),
		Hint: didyoumean.Hint(s.Value, values, "it is one of "+transform.List(values)),
	}
}

// isInteger judges the x of [port=x], which must be spelt as the API server spells an integer.
func isInteger(s syntax.Segment) *Problem {
	i, err := strconv.ParseInt(s.Value, 10, 64)
	if s.Kind != syntax.Pick || err == nil && strconv.FormatInt(i, 10) == s.Value {
		return nil
	}
	return &Problem{
		Code: "no-such-element", Text: fmt.Sprintf("%s is an integer, and never written as %s", s.Name, s.Value),
		Hint: "write it in decimal digits, without a fraction or leading zeros",
	}
}

// fieldHint proposes the nearest field, or lists the fields.
func fieldHint(at *crdschema.Node, before []syntax.Segment, s syntax.Segment, hint string) string {
	const pruned = " (the API server would prune it silently)"
	prefix := syntax.Path{Segments: before}.String()
	if near, ok := didyoumean.Nearest(s.Name, at.Properties()); ok {
		found := syntax.Segment{Kind: syntax.Field, Name: near}
		return fmt.Sprintf("did you mean %s%s?%s", prefix, found, pruned)
	}
	if names := at.Properties(); len(names) > 0 {
		return fmt.Sprintf("%s has %s%s", cmp.Or(prefix, "it"), transform.List(names), pruned)
	}
	return hint
}
