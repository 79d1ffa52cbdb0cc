package binding

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/converters/rules/transform"
	"github.com/crdconvert/webhookd/internal/crdschema"
	"github.com/crdconvert/webhookd/internal/didyoumean"
	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// A Problem says which segment of a path the schema does not have.
type Problem struct {
	Segment int // the index of the segment
	Code    string
	Text    string
	Hint    string
	Missing bool // there is no such field; otherwise the segment does not fit what is there
}

// Find goes on by a path, and says why the schema does not have it, if so. Below a place where the schema admits whatever there
// is (an unknown field of an object that preserves those, or any value) everything is. The version names the schema in messages.
// Segments of the object's own metadata are not judged: see reserved.
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

// judge says why a place cannot be gone on from by a segment; nil if it can.
func judge(at *crdschema.Node, version string, s syntax.Segment) *Problem {
	if Free(at) {
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

// Free reports whether a place admits any value, with anything below it: nil does, and one without a type that preserves
// unknown fields. The latter may have properties all the same, which its objects keep to.
func Free(n *crdschema.Node) bool {
	return n == nil || n.Kind() == crdschema.Any && n.PreservesUnknown()
}

// misfit says that a place has no such part, and what to write instead.
func misfit(at *crdschema.Node, s syntax.Segment, part string) *Problem {
	p := &Problem{Code: "segment-does-not-fit", Text: fmt.Sprintf("%s has no %s", kindText(at), part)}
	switch at.Kind() {
	case crdschema.Array:
		p.Hint = "write [] for each element, [name=x] for one, or [0] for the first, before " + s.String()
	case crdschema.Map:
		p.Hint = `write {} for each value of the map, {name} to pair it with a list, or ["key"] for one`
	case crdschema.Object:
		p.Hint = "write the name of a field"
	case crdschema.None, crdschema.String, crdschema.Integer, crdschema.Number, crdschema.Boolean, crdschema.IntOrString, crdschema.Any:
		p.Hint = "leave " + s.String() + " and what follows it out; a part of a value is taken with template, or with toHub and fromHub"
	}
	return p
}

func kindText(n *crdschema.Node) string { return n.Kind().String() }

// keyField judges the field that [name] and [name=x] know elements by.
func keyField(items *crdschema.Node, version string, s syntax.Segment) *Problem {
	if Free(items) {
		return nil
	}
	if k := items.Kind(); k != crdschema.Object && k != crdschema.Any {
		return &Problem{
			Code: "no-such-key", Text: fmt.Sprintf("each element is %s and has no field %s", kindText(items), s.Name),
			Hint: "write [] for each element, or [0] for the first",
		}
	}
	key := items.Property(s.Name)
	if key == nil {
		if items.PreservesUnknown() {
			return nil
		}
		p := &Problem{Code: "no-such-key", Text: fmt.Sprintf("the elements have no field %s in %s", s.Name, version)}
		p.Hint = didyoumean.Hint(s.Name, items.Properties(), "they have "+few(items.Properties()))
		return p
	}
	switch k := key.Kind(); k {
	case crdschema.String:
		return enumHas(key, s)
	case crdschema.Integer:
		return isInteger(s)
	case crdschema.IntOrString, crdschema.Any:
		return nil
	case crdschema.None, crdschema.Object, crdschema.Map, crdschema.Array, crdschema.Number, crdschema.Boolean:
	}
	return &Problem{
		Code: "key-not-a-string", Text: fmt.Sprintf("elements cannot be told apart by %s, which is %s", s.Name, kindText(key)),
		Hint: "choose a field that is a string or an integer",
	}
}

// enumHas judges x of [name=x].
func enumHas(key *crdschema.Node, s syntax.Segment) *Problem {
	if s.Kind != syntax.Pick || len(key.Enum()) == 0 {
		return nil
	}
	if transform.Admits(key, jsondoc.StringValue(s.Value).Text()) {
		return nil
	}
	values := make([]string, 0, len(key.Enum()))
	for _, text := range key.Enum() {
		values = append(values, strings.Trim(text, `"`))
	}
	return &Problem{
		Code: "no-such-element", Text: fmt.Sprintf("%s is never %s", s.Name, s.Value),
		Hint: didyoumean.Hint(s.Value, values, "it is one of "+few(values)),
	}
}

// isInteger judges x of [port=x]: it is what the API server writes for an integer.
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

// fieldHint proposes the nearest field, or says where there is one of that name.
func fieldHint(at *crdschema.Node, before []syntax.Segment, s syntax.Segment, hint string) string {
	const pruned = "  (the API server would prune it silently)"
	prefix := syntax.Path{Segments: before}.String()
	if near, ok := didyoumean.Nearest(s.Name, at.Properties()); ok {
		found := syntax.Segment{Kind: syntax.Field, Name: near}
		return fmt.Sprintf("did you mean %s%s?%s", prefix, found, pruned)
	}
	if names := at.Properties(); len(names) > 0 {
		where := prefix
		if where == "" {
			where = "it"
		}
		return fmt.Sprintf("%s has %s%s", where, few(names), pruned)
	}
	return hint
}

// few names some of a list.
func few(names []string) string {
	const most = 12
	if len(names) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ")
}
