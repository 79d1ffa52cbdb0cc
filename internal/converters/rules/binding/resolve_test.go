package binding_test

import (
	"testing"

	"github.com/crdconvert/webhookd/internal/converters/rules/binding"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/crdschema"
)

const crd = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, kind: Widget}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              text: {type: string}
              list: {type: array, items: {type: object, properties: {name: {type: string}, port: {type: integer}}}}
              words: {type: array, items: {type: string}}
              map: {type: object, additionalProperties: {type: boolean}}
              any: {x-kubernetes-preserve-unknown-fields: true}
              open: {type: object, x-kubernetes-preserve-unknown-fields: true, properties: {known: {type: number}}}
              elements: {type: array, items: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`

func root(t *testing.T) *crdschema.Node {
	t.Helper()
	crds, err := crdschema.Parse("crd.yaml", []byte(crd))
	if err != nil {
		t.Fatal(err)
	}
	return crds[0].Version("v1").Root
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
		nodes, problem := binding.Resolve(base, "v1", path)
		if problem != nil {
			t.Errorf("%s: %+v", text, problem)
			continue
		}
		if len(nodes) != len(path.Segments) || nodes[len(nodes)-1].Kind() != want {
			t.Errorf("%s: %d places, the last is %s, want %s", text, len(nodes), nodes[len(nodes)-1].Kind(), want)
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
		nodes, problem := binding.Resolve(base, "v1", path)
		if problem == nil || problem.Segment != want.segment || problem.Code != want.code || problem.Missing != want.missing {
			t.Errorf("%s: %+v, want %+v", text, problem, want)
		}
		if problem != nil && (problem.Hint == "" || len(nodes) != want.segment) {
			t.Errorf("%s: %d places, hint %q", text, len(nodes), problem.Hint)
		}
	}
}

func TestRuleSetsEndWithTheirTypes(t *testing.T) {
	t.Parallel()
	base := root(t)
	place := func(paths ...string) *syntax.Place {
		p := &syntax.Place{}
		for _, text := range paths {
			path, err := syntax.ParsePath(text)
			if err != nil {
				t.Fatal(err)
			}
			p.Paths = append(p.Paths, syntax.NamedPath{Path: path})
		}
		return p
	}
	s := binding.Side{What: "field", Version: "v1", Base: base.Property("spec")}
	for name, c := range map[string]struct {
		place *syntax.Place
		want  bool
	}{
		"no place":          {nil, true},
		"a field":           {place(".text"), false},
		"no such field":     {place(".children[]"), true},
		"further down":      {place(".list[].colour"), false},
		"one of two is not": {place(".text", ".children"), false},
	} {
		if got := s.Lacks(c.place); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
