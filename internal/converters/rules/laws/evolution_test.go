package laws_test

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/converters/rules"
	"github.com/crdconvert/webhookd/internal/converters/rules/check"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/laws/generate"
	"github.com/crdconvert/webhookd/internal/laws/hold"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
	"github.com/crdconvert/webhookd/test/helpers/exampletest"
)

// Without one of its rules, an example keeps the field because it is unmapped. What was kept then
// is not lost once the rule is there: L11. Neither is it if the CRD did not have the field before.
func TestGrowthOfExamples(t *testing.T) {
	t.Parallel()
	grown := 0
	for _, e := range findExamples(t) {
		most := grown + int(*exampleObjects/10)
		for v, version := range e.c.Versions {
			if version.SameAs != nil {
				continue // its rules are those of another version
			}
			for i, rule := range version.Rules {
				if !e.isNew(version.Name, rule) {
					continue
				}
				for _, without := range []string{"", rule.Spoke.Paths[0].Path.Text} {
					before := e.before(t, v, i, without)
					if before == nil || grown == most {
						continue
					}
					grown++
					t.Run(fmt.Sprintf("%s %s %s %s", e.name, version.Name, rule, without), func(t *testing.T) {
						t.Parallel()
						holdGrowth(t, before.suite(t), e.suite(t), *exampleObjects/6+1)
					})
				}
			}
		}
	}
	if grown < 15 {
		t.Errorf("only %d rules were added", grown)
	}
}

// isNew is true of a rule of two places that the other version does not have: without it, nothing
// is copied.
func (e *example) isNew(version string, rule *syntax.Rule) bool {
	if rule.Spoke == nil || rule.Hub == nil || len(rule.Spoke.Paths) != 1 || len(rule.Hub.Paths) != 1 || rule.Use != nil {
		return false
	}
	field, hub := names(rule.Spoke.Paths[0].Path.Text), names(rule.Hub.Paths[0].Path.Text)
	return field != nil && hub != nil && nodeOf(e.crd.Version(version), hub) == nil && nodeOf(e.crd.Version(e.c.Hub), field) == nil
}

// names returns the names of a path below the spec that is made of them alone.
func names(path string) []string {
	if !strings.HasPrefix(path, ".spec.") || strings.ContainsAny(path, "[{") {
		return nil
	}
	return strings.Split(path[1:], ".")
}

func nodeOf(v *crdschema.Version, path []string) *crdschema.Node {
	n := v.Root
	for _, name := range path {
		n = n.Property(name)
	}
	return n
}

// before returns the example without a rule, and without its field if that is wanted. It returns
// nil if that does not load.
func (e *example) before(t *testing.T, version, rule int, field string) *example {
	t.Helper()
	b := &example{name: e.name, crd: e.crd}
	doc := parseYAML(t, e.sources[0].Text)
	v := at(t, doc, "spec", "versions", version)
	list := at(t, v, "rules")
	list.Content = slices.Delete(list.Content, rule, rule+1)
	remove(v, "unmapped")
	add(t, v, "unmapped: Preserve")
	b.sources = append([]rules.Source{{Name: e.sources[0].Name, Text: textOf(t, doc)}}, e.sources[1:]...)
	if path := names(field); path != nil {
		n := e.crd.Version(e.c.Versions[version].Name).Root
		for _, name := range path {
			if n = n.Property(name); n == nil {
				return nil // a schema does not name it
			}
		}
		crd := parseYAML(t, e.crdText)
		remove(e.properties(t, crd, e.c.Versions[version].Name, path[:len(path)-1]...), path[len(path)-1])
		b.crd = parseCRD(t, textOf(t, crd))
	}
	set, more := rules.Load(t.Context(), b.sources, []*crdschema.CRD{b.crd}, rules.Options{Go: exampletest.Functions()})
	checked, _ := check.Check(t.Context(), set.Bound())
	if len(more) > 0 || len(checked) > 0 {
		return nil
	}
	b.c = set.Conversions()[0]
	return b
}

// When another version becomes the hub, fields of v1 that were kept in v1beta1 come back: L11.
func TestAnotherVersionBecomesTheHub(t *testing.T) {
	t.Parallel()
	const crd = `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: things.example.com}, spec: {
		group: example.com, scope: Namespaced, names: {plural: things, kind: Thing}, versions: [
		{name: v1beta1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {
			timeout: {type: string}, mode: {type: string, enum: [A, B, C]}, old: {type: integer}, l: {type: array, items: {type: string}}}}}}}},
		{name: v1, served: true, storage: false, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {
			timeoutSeconds: {type: integer}, mode: {type: string, enum: [A, B]}, new: {type: string}, l: {type: array, items: {type: string}}}}}}}}]}}`
	const head = "apiVersion: conversion.webhookd.io/v1beta1\nkind: Conversion\nmetadata: {name: things.example.com}\nspec:\n"
	load := func(text string) *example {
		file, findings := syntax.Parse("rules.yaml", []byte(head+text))
		if len(findings) > 0 {
			t.Fatal(findings)
		}
		return &example{
			sources: []rules.Source{{Name: "rules.yaml", Text: []byte(head + text)}}, crd: parseCRD(t, []byte(crd)), c: file.Conversions[0],
		}
	}
	s := load(`  hub: v1beta1
  versions:
  - name: v1
    unmapped: Preserve
    rules:
    - {spoke: .spec.timeoutSeconds, hub: .spec.timeout, codec: DurationSeconds}
    - {spoke: .spec.mode, hub: .spec.mode, values: {A: A, B: B}, hubValues: {C: B}}
`).suite(t)
	next := load(`  hub: v1
  versions:
  - name: v1beta1
    unmapped: Preserve
    rules:
    - {spoke: .spec.timeout, hub: .spec.timeoutSeconds, codec: DurationSeconds}
    - {spoke: .spec.mode, hub: .spec.mode, values: {A: A, B: B, C: B}}
`).suite(t)
	holdGrowth(t, s, next, *exampleObjects)
}

// holdGrowth holds objects to L11: what was kept by old rules comes back by the next ones, and so
// does what the next ones kept and a replica with the old ones has read and written since.
func holdGrowth(t *testing.T, old, next hold.Suite, count uint64) {
	t.Helper()
	eachWay(t, old, count, func(object []byte, from, to *crdschema.Version) {
		there := stored(t, old.Kind, object, from, to)
		want := convert(t, old.Kind, there, to.Name, from.Name)
		got := convert(t, next.Kind, there, to.Name, from.Name)
		if take(want); lost(want, got) {
			t.Errorf("%s -> %s: %s is lost by the next rules: %s", from.Name, to.Name, object, cmp.Diff(want, got))
		}
	})
	eachWay(t, next, count, func(object []byte, from, to *crdschema.Version) {
		there := stored(t, next.Kind, object, from, to)
		read := stored(t, old.Kind, there, to, from)
		want := convert(t, next.Kind, there, to.Name, from.Name)
		got := convert(t, next.Kind, stored(t, next.Kind, read, from, to), to.Name, from.Name)
		if take(want); lost(want, got) {
			t.Errorf("%s -> %s: %s, read as %s, is lost: %s", from.Name, to.Name, object, read, cmp.Diff(want, got))
		}
	})
}

// eachWay calls a function with random objects of each version, and each version to convert them
// to, until the test fails.
func eachWay(t *testing.T, s hold.Suite, count uint64, do func(object []byte, from, to *crdschema.Version)) {
	t.Helper()
	for _, from := range s.CRD.Versions {
		generator, err := generate.NewGenerator(from, s.Hints[from.Name])
		if err != nil {
			t.Fatal(err)
		}
		for index := range count {
			object := generator.Object(*lawsSeed, index)
			for _, to := range s.CRD.Versions {
				if object != nil && to != from && !t.Failed() {
					do(object, from, to)
				}
			}
		}
	}
}

// stored returns what the API server makes of a converted object.
func stored(t *testing.T, kind *converters.Kind, object []byte, from, to *crdschema.Version) []byte {
	t.Helper()
	converted := convert(t, kind, object, from.Name, to.Name)
	to.Prune(converted)
	to.Default(converted)
	return encode(t, converted)
}

// lost reports whether an object lacks something that it had.
func lost(was, is any) bool {
	x, okX := was.(map[string]any)
	y, okY := is.(map[string]any)
	if list, ok := was.([]any); ok {
		now, _ := is.([]any)
		for i := range list {
			if len(now) != len(list) || lost(list[i], now[i]) {
				return true
			}
		}
	}
	if _, isList := was.([]any); !isList && (!okX || !okY) {
		return !reflect.DeepEqual(was, is)
	}
	for name := range x {
		if lost(x[name], y[name]) {
			return true
		}
	}
	return false
}

// A field that the API server knows in one version, and webhookd's copy of the CRD in none, is not
// lost: L12.
func TestSkewOfExamples(t *testing.T) {
	t.Parallel()
	for _, e := range findExamples(t) {
		for _, version := range e.crd.Versions {
			t.Run(e.name+" "+version.Name, func(t *testing.T) {
				t.Parallel()
				skewed(t, e, e.suite(t), version.Name)
			})
		}
	}
}

// Kinds in Go do not lose such a field either.
func TestSkewOfCompiledInKinds(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(*examplesFolder, "crds", "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	held := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		e := &example{crdText: text, crd: parseCRD(t, text)}
		for _, kind := range exampletest.Kinds() {
			if kind.GroupKind != e.crd.GroupKind() || kind.Schemas[kind.Hub].PreservesUnknown() {
				continue // or it leaves all fields that it does not know to the CRD
			}
			held++
			for _, version := range kind.Versions {
				t.Run(kind.Name()+" "+version, func(t *testing.T) {
					t.Parallel()
					skewed(t, e, hold.Suite{Kind: &kind}, version)
				})
			}
		}
	}
	if held < 1 {
		t.Errorf("only %d kinds", held)
	}
}

func skewed(t *testing.T, e *example, s hold.Suite, version string) {
	t.Helper()
	const gained = "gained: {type: object, properties: {a: {type: string}, l: {type: array, items: {type: integer}}}}"
	crd := parseYAML(t, e.crdText)
	add(t, e.properties(t, crd, version), gained)
	add(t, e.properties(t, crd, version, "spec"), gained)
	s.CRD = parseCRD(t, textOf(t, crd))
	said := 0
	eachWay(t, s, *exampleObjects/4+1, func(object []byte, from, to *crdschema.Version) {
		was := decode(t, object)
		fields := [][]string{{"gained"}, {"spec", "gained"}}
		for _, via := range s.CRD.Versions {
			there := stored(t, s.Kind, object, from, to)
			if via != to {
				there = stored(t, s.Kind, stored(t, s.Kind, there, to, via), via, to)
			}
			is := convert(t, s.Kind, there, to.Name, from.Name)
			for _, path := range fields {
				want, found, _ := unstructured.NestedFieldNoCopy(was, path...)
				if got, _, _ := unstructured.NestedFieldNoCopy(is, path...); found && !reflect.DeepEqual(want, got) {
					t.Errorf("%s -> %s, rewritten at %s: %v of %s is %v", from.Name, to.Name, via.Name, path, object, got)
				} else if found {
					said++
				}
			}
		}
	})
	if said == 0 {
		t.Error("no object has the field")
	}
}

// properties are those of an object of a version's schema, in the text of the CRD.
func (e *example) properties(t *testing.T, crd *yaml.Node, version string, path ...string) *yaml.Node {
	t.Helper()
	i := slices.IndexFunc(e.crd.Versions, func(v *crdschema.Version) bool { return v.Name == version })
	n := at(t, crd, "spec", "versions", i, "schema", "openAPIV3Schema", "properties")
	for _, name := range path {
		n = at(t, n, name, "properties")
	}
	return n
}

// at returns the node that names and indexes lead to.
func at(t *testing.T, n *yaml.Node, steps ...any) *yaml.Node {
	t.Helper()
	for _, step := range steps {
		i, ok := step.(int)
		if name, isName := step.(string); isName {
			i = keyOf(n, name) + 1
			ok = i > 0
		}
		if !ok || i >= len(n.Content) {
			t.Fatalf("nothing at %v of %v", step, steps)
		}
		n = n.Content[i]
	}
	return n
}

// keyOf returns the index of a name in a mapping, or -1.
func keyOf(n *yaml.Node, name string) int {
	for i := 0; i < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			return i
		}
	}
	return -1
}

func remove(n *yaml.Node, name string) {
	if i := keyOf(n, name); i >= 0 {
		n.Content = slices.Delete(n.Content, i, i+2)
	}
}

func add(t *testing.T, n *yaml.Node, text string) {
	t.Helper()
	n.Content = append(n.Content, parseYAML(t, []byte(text)).Content...)
}

func parseYAML(t *testing.T, text []byte) *yaml.Node {
	t.Helper()
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	return doc.Content[0]
}

func textOf(t *testing.T, n *yaml.Node) []byte {
	t.Helper()
	text, err := yaml.Marshal(n)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
