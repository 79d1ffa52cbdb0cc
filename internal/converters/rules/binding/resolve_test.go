package binding_test

import (
	"testing"

	"github.com/crdconvert/webhookd/internal/converters/rules/binding"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
	"github.com/crdconvert/webhookd/test/helpers/crdschematest"
)

const spec = `
text: {type: string}
list: {type: array, items: {type: object, properties: {name: {type: string}, port: {type: integer}}}}
words: {type: array, items: {type: string}}
map: {type: object, additionalProperties: {type: boolean}}
any: {x-kubernetes-preserve-unknown-fields: true}
open: {type: object, x-kubernetes-preserve-unknown-fields: true, properties: {known: {type: number}}}
elements: {type: array, items: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`

func root(t *testing.T) binding.Place {
	t.Helper()
	return binding.Place{Node: crdschematest.Roots(t, spec)[0], Known: true}
}

func TestPathsFindTheirPlaces(t *testing.T) {
	t.Parallel()
	base := root(t)
	for text, want := range map[string]crdschema.Kind{
		".spec":                          crdschema.Object,
		".spec.text":                     crdschema.String,
		".spec.list":                     crdschema.Array,
		".spec.list[].port":              crdschema.Integer,
		".spec.list[name].port":          crdschema.Integer,
		".spec.list[name=x].port":        crdschema.Integer,
		".spec.list[port=80].name":       crdschema.String,
		".spec.list[0].name":             crdschema.String,
		".spec.words[]":                  crdschema.String,
		".spec.map{}":                    crdschema.Boolean,
		".spec.map{name}":                crdschema.Boolean,
		`.spec.map["x/y"]`:               crdschema.Boolean,
		".spec.any":                      crdschema.Any,
		".spec.any.a[].b{k}":             crdschema.None,
		".spec.open.known":               crdschema.Number,
		".spec.open.unknown.below":       crdschema.None,
		".spec.elements[name=x].a":       crdschema.None,
		`.metadata.labels["x"]`:          crdschema.String,
		`.metadata.annotations["a/b"]`:   crdschema.String,
		`.metadata.ownerReferences[uid]`: crdschema.Object,
	} {
		path, err := syntax.ParsePath(text)
		if err != nil {
			t.Fatal(err)
		}
		place, problem := base.Find("v1", path.Segments)
		if problem != nil {
			t.Errorf("%s: %+v", text, problem)
			continue
		}
		if !place.Known || place.Node.Kind() != want {
			t.Errorf("%s is %s, want %s", text, place.Node.Kind(), want)
		}
	}
}

func TestProblemsNameTheSegment(t *testing.T) {
	t.Parallel()
	base := root(t)
	for text, want := range map[string]struct {
		segment int
		code    string
		missing bool
	}{
		".spec.txet":            {1, "no-such-field", true},
		".spce.text":            {0, "no-such-field", true},
		".spec.text.x":          {2, "segment-does-not-fit", false},
		".spec.list.name":       {2, "segment-does-not-fit", false},
		".spec.list{}":          {2, "segment-does-not-fit", false},
		".spec.map[]":           {2, "segment-does-not-fit", false},
		".spec{}":               {1, "segment-does-not-fit", false},
		".spec.list[id=x]":      {2, "no-such-key", false},
		".spec.words[name=x]":   {2, "no-such-key", false},
		".spec.list[port=01]":   {2, "no-such-element", false},
		".spec.list[port=80.0]": {2, "no-such-element", false},
		".spec.list[port=http]": {2, "no-such-element", false},
		".spec.list[].colour":   {3, "no-such-field", true},
		".spec.list[name].prot": {3, "no-such-field", true},
	} {
		path, err := syntax.ParsePath(text)
		if err != nil {
			t.Fatal(err)
		}
		_, problem := base.Find("v1", path.Segments)
		if problem == nil || problem.Segment != want.segment || problem.Code != want.code || problem.Missing != want.missing {
			t.Errorf("%s: %+v, want %+v", text, problem, want)
		}
		if problem != nil && problem.Hint == "" {
			t.Errorf("%s: no hint", text)
		}
	}
}
