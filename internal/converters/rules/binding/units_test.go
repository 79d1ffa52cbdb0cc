package binding_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crdconvert/webhookd/internal/converters/rules/binding"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/converters/rules/transform"
	"github.com/crdconvert/webhookd/internal/schema/apiserver"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// A unitsTest has the properties of the objects of v1beta1 and of the hub, the rules, and the units
// of more than one place: the places of the version, a bar, those of the hub, and in parentheses
// the reads outside.
type unitsTest struct {
	name       string
	field, hub string
	rules      string
	want       string
}

// unitsTests have the same object on both sides unless they give the hub's.
func unitsTests() []unitsTest {
	const abc = "spec: {type: object, properties: {a: {type: string}, b: {type: string}, c: {type: string}, d: {type: string}}}"
	const uvw = "spec: {type: object, properties: {u: {type: string}, v: {type: string}, w: {type: string}, d: {type: string}}}"
	const lists = "spec: {type: object, properties: {mode: {type: string}, first: {type: string}, l: {type: array, items: {type: object, " +
		"properties: {name: {type: string}, a: {type: string}, b: {type: string}, kind: {type: string}}}}, " +
		"m: {type: object, additionalProperties: {type: object, properties: {a: {type: string}, b: {type: string}}}}}}"
	const deep = "spec: {type: object, properties: {p: {type: object, properties: {q: {type: object, properties: {r: {type: string}, " +
		"s: {type: string}}}}}, a: {type: string}, type: {type: string}}}"
	const deeper = "spec: {type: object, properties: {o: {type: object, properties: {q: {type: object, properties: {r: {type: string}, " +
		"s: {type: string}}}}}, u: {type: string}, type: {type: string}}}"
	const status = "spec: {type: object, properties: {a: {type: string}, b: {type: string}}}\n" +
		"status: {type: object, properties: {a: {type: string}, b: {type: string}, c: {type: string}}}"
	return []unitsTest{
		{
			name: "a rule of one place each, and a place that is copied", field: abc, hub: uvw,
			rules: "- {spoke: .spec.a, hub: .spec.u}\n- {spoke: .spec.b}\n- {hub: .spec.v}",
		},
		{
			name: "a text of parts", field: abc, hub: uvw,
			rules: `- {spoke: .spec.a, hub: {h: .spec.u, p: .spec.v}, template: "{h}:{p}"}`,
			want:  ".spec.a | .spec.u .spec.v",
		},
		{
			name: "a union whose discriminator is computed", field: abc, hub: uvw,
			rules: "- {spoke: .spec.a, hub: .spec.u, whenToHub: self.endsWith('.git'), whenToSpoke: object.spec.w == 'Git'}\n" +
				"- {spoke: .spec.a, hub: .spec.v, whenToHub: '!self.endsWith(\".git\")', whenToSpoke: object.spec.w == 'HTTP'}\n" +
				"- {hub: .spec.w, toHub: 'object.spec.a.endsWith(\".git\") ? \"Git\" : \"HTTP\"'}",
			want: ".spec.a | .spec.u .spec.v .spec.w",
		},
		{
			name: "rules that read one copied place", field: abc, hub: uvw,
			rules: "- {spoke: .spec.a, hub: .spec.u, whenToHub: object.spec.d == 'a'}\n- {spoke: .spec.b, hub: .spec.v, whenToHub: object.spec.d == 'b'}",
			want:  ".spec.a .spec.b .spec.d | .spec.d .spec.u .spec.v",
		},
		{
			name: "a rule that reads what another one names, at either end", field: abc, hub: uvw,
			rules: "- {spoke: .spec.a, hub: .spec.u, whenToHub: object.spec.b == ''}\n- {spoke: .spec.b, hub: .spec.v}\n" +
				"- {spoke: .spec.c, hub: .spec.w, whenToSpoke: object.spec.v == ''}",
			want: ".spec.a .spec.b .spec.c | .spec.u .spec.v .spec.w",
		},
		{
			name: "presence joins nothing", field: abc, hub: uvw,
			rules: "- {spoke: .spec.a, hub: .spec.u, whenToHub: has(object.spec.b)}\n- {spoke: .spec.b, hub: .spec.v}\n" +
				"- {spoke: .spec.c, hub: .spec.w, whenToHub: has(object.spec.b) && has(object.spec.d)}",
			want: ".spec.a has(.spec.b) | .spec.u has(.spec.v)\n.spec.c has(.spec.b) has(.spec.d) | .spec.w has(.spec.d) has(.spec.v)",
		},
		{
			name: "presence of its own place", field: abc, hub: uvw,
			rules: "- {spoke: .spec.a, hub: .spec.u, whenToHub: has(object.spec.a)}",
		},
		{
			name: "a whole read", field: abc, hub: uvw,
			rules: "- {spoke: .spec.a, hub: .spec.u, toHub: 'object.spec == object.spec ? self : \"\"', toSpoke: self}\n- {spoke: .spec.b, hub: .spec.v}",
			want:  ".spec .spec.a .spec.b | .spec .spec.u .spec.v",
		},
		{
			name: "a part of what a plain pair hands on", field: deep, hub: deeper,
			rules: "- {spoke: .spec.p, hub: .spec.o}\n- {spoke: .spec.a, hub: .spec.u, whenToHub: object.spec.p.q.r == ''}",
			want:  ".spec.a .spec.p.q.r | .spec.o.q.r .spec.u",
		},
		{
			name: "two parts of one object", field: deep, hub: deeper,
			rules: "- {spoke: .spec.p, hub: .spec.o}\n- {spoke: .spec.a, hub: .spec.u, whenToHub: object.spec.p.q.r == ''}\n" +
				"- {spoke: .spec.type, hub: .spec.type, whenToHub: object.spec.p.q == object.spec.p.q}",
			want: ".spec.a .spec.p.q .spec.p.q.r .spec.type | .spec.o.q .spec.o.q.r .spec.type .spec.u",
		},
		{
			name: "a part of what a rule converts", field: deep, hub: uvw,
			rules: "- {spoke: .spec.p, hub: .spec.u, codec: JSON}\n- {spoke: .spec.a, hub: .spec.v, whenToHub: object.spec.p.q.r == ''}",
			want:  ".spec.a .spec.p | .spec.u .spec.v",
		},
		{
			name: "what cannot be edited", field: abc, hub: uvw,
			rules: "- {spoke: .spec.a, hub: .spec.u, whenToHub: metadata.name == 'a' && object.kind == 'b' && metadata.generation > 1}",
		},
		{
			name: "labels", field: abc, hub: uvw,
			rules: "- {spoke: .spec.a, hub: .spec.u, whenToHub: '\"l\" in metadata.labels'}\n- {spoke: .spec.b, hub: '.metadata.labels.l'}\n" +
				"- {spoke: .spec.c, hub: .spec.w, toHub: 'metadata == metadata ? self : \"\"', toSpoke: self}",
			want: ".spec.a has(.metadata.labels.l) | .spec.u\n" +
				".metadata.annotations .metadata.labels .spec.c | .metadata.annotations .metadata.labels .spec.w",
		},
		{
			name: "all of the object", field: status, hub: status,
			rules: "- {spoke: .spec.a, hub: .spec.a, whenToHub: object == object}\n- {spoke: .status.b, hub: .status.b, whenToHub: object == object}",
			want: ".metadata.annotations .metadata.labels .spec .spec.a | .metadata.annotations .metadata.labels .spec .spec.a\n" +
				".status .status.b | .status .status.b",
		},
		{
			name: "spec and status are never joined", field: status, hub: status,
			rules: "- {spoke: .status.a, hub: .status.b, whenToHub: object.spec.a == '' && object.status.c == ''}\n" +
				"- {spoke: .spec.a, hub: .spec.b, whenToHub: has(object.status.a)}\n- {spoke: .spec.b, hub: .spec.a, whenToSpoke: object.spec.b == ''}",
			want: ".status.a .status.c | .status.b .status.c\n.spec.a .spec.b | .spec.a .spec.b",
		},
		{
			name: "a rule between spec and status", field: status, hub: status,
			rules: "- {spoke: {s: .spec.a, t: .status.a}, hub: {s: .status.b, t: .spec.b}}\n- {spoke: .spec.b, hub: .spec.a, whenToHub: object.spec.a == ''}",
			want:  ".spec.a .spec.b | .spec.a .spec.b",
		},
		{
			name: "elements have units of their own", field: lists,
			rules: "- {spoke: '.spec.l[].a', hub: '.spec.l[].b'}\n- {spoke: {k: '.spec.l[].b', n: '.spec.l[].kind'}, hub: '.spec.l[].a', template: '{k}:{n}'}\n" +
				"- {spoke: '.spec.m{}.a', hub: '.spec.m{}.a', whenToHub: self == ''}",
			want: "in .spec.l[]: .b .kind | .a",
		},
		{
			name: "elements that read outside", field: lists,
			rules: "- {spoke: '.spec.l[name].a', hub: '.spec.l[name].b', whenToHub: 'object.spec.mode == \"x\" && object.spec.l.exists(e, e.kind == \"y\")'}\n" +
				"- {spoke: .spec.first, hub: .spec.mode}",
			want: "in .spec.l[name]: .a | .b (.spec.l[].kind .spec.mode | .spec.l[].kind)",
		},
		{
			name: "rules that read elements", field: lists,
			rules: "- {spoke: .spec.first, hub: .spec.first, whenToHub: 'object.spec.l.exists(e, e.a == self)', whenToSpoke: '\"k\" in object.spec.m'}\n" +
				"- {spoke: '.spec.l[].a', hub: '.spec.l[].b'}",
			want: ".spec.first .spec.l[].a has(.spec.m.k) | .spec.first .spec.l[].b has(.spec.m.k)",
		},
		{
			name: "picked elements", field: lists,
			rules: "- {spoke: .spec.first, hub: '.spec.l[name=one].a'}\n- {spoke: .spec.mode, hub: '.spec.l[name=two].a'}\n- {hub: '.spec.l[]'}\n" +
				"- {hub: '.spec.l[name=three].b'}\n- {spoke: '.spec.m{}.a', drop: no}\n- {spoke: .spec.l, drop: no}",
		},
		{
			name: "picked elements that an expression goes through", field: lists,
			rules: "- {spoke: .spec.first, hub: '.spec.l[name=one].a'}\n- {spoke: .spec.mode, hub: '.spec.mode', whenToSpoke: 'object.spec.l.exists(e, e.a == \"\")'}",
			want:  ".spec.first .spec.l[].a .spec.mode | .spec.l[].a .spec.l[name=one].a .spec.mode",
		},
		{
			name: "a rule set", field: deep, hub: deeper,
			rules: "- {spoke: .spec.p, hub: .spec.o, use: Set}\n- {spoke: .spec.a, hub: .spec.u, whenToHub: object.spec.p.q.r == '' && has(object.spec.p.q.s)}",
			want: ".spec.a .spec.p.q.r has(.spec.p.q.s) | .spec.o.q.s .spec.u has(.spec.o.q.r)\n" +
				"in .spec.p: .q.r .q.s | .q.r .q.s (.spec.type | .spec.type)",
		},
		{
			name:  "a rule set that is used twice below one place without a schema",
			field: "spec: {type: object, properties: {p: {x-kubernetes-preserve-unknown-fields: true}, type: {type: string}}}",
			rules: "- {spoke: .spec.p.a, hub: .spec.p.a, use: Set}\n- {spoke: .spec.p.b, hub: .spec.p.b, use: Set}",
			want:  "in .spec.p.a: .q.r | .q.s (.spec.p.q.s .spec.type | .spec.p.q.s .spec.type)",
		},
	}
}

func TestUnits(t *testing.T) {
	t.Parallel()
	for _, tt := range unitsTests() {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			root := tt.bind(t)
			if diff := cmp.Diff(tt.want, strings.TrimSuffix(unitsText(root), "\n")); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			checkUnits(t, root, true)
		})
	}
}

func (tt *unitsTest) bind(t *testing.T) *binding.Binding {
	t.Helper()
	crd, text := tt.files(t)
	file, findings := syntax.Parse("rules.yaml", text)
	linked, _ := syntax.Link([]*syntax.File{file})
	if len(findings)+len(linked) > 0 {
		t.Fatal(findings)
	}
	return bindAll(t, file.Conversions[0], crd, true)[0]
}

// files returns the CRD and the text of the rules.
func (tt *unitsTest) files(t *testing.T) (*crdschema.CRD, []byte) {
	t.Helper()
	hub := tt.hub
	if hub == "" {
		hub = tt.field
	}
	indented := func(text, by string) string { return by + strings.ReplaceAll(text, "\n", "\n"+by) }
	const properties = "\n    schema:\n      openAPIV3Schema:\n        type: object\n        properties:\n"
	crds, err := apiserver.Parse("crd.yaml", []byte(`apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: things, kind: Thing}
  versions:
  - name: v1beta1
    served: true
    storage: false`+properties+indented(tt.field, "          ")+`
  - name: v1
    served: true
    storage: true`+properties+indented(hub, "          ")))
	if err != nil {
		t.Fatal(err)
	}
	sets := ""
	if strings.Contains(tt.rules, "use: Set") {
		sets = "\n  ruleSets:\n    Set:" +
			"\n    - {spoke: .q.r, hub: .q.s, whenToHub: object.spec.type == '' && object.spec.p.q.s == ''}\n    - {spoke: .q.s, hub: .q.r}"
	}
	return crds[0], []byte(`apiVersion: conversion.webhookd.io/v1beta1
kind: Conversion
metadata: {name: things.example.com}
spec:
  hub: v1` + sets + `
  versions:
  - name: v1beta1
    rules:
` + indented(tt.rules, "    "))
}

// bindAll returns the bindings of all versions that the CRD has.
func bindAll(t *testing.T, c *syntax.Conversion, crd *crdschema.CRD, strict bool) []*binding.Binding {
	t.Helper()
	swap := func(_ context.Context, in []json.RawMessage) ([]json.RawMessage, error) { return in, nil }
	env, err := transform.NewEnv(map[string]transform.GoFunc{"example.com/window": {ToHub: swap, ToSpoke: swap}})
	if err != nil {
		t.Fatal(err)
	}
	set := binding.Bind(t.Context(), []*syntax.Conversion{c}, []*crdschema.CRD{crd}, binding.Options{Env: env})
	if strict && len(set.Findings) > 0 {
		t.Fatal(set.Findings)
	}
	var roots []*binding.Binding
	for _, k := range set.Kinds {
		for _, s := range k.Spokes {
			if s.Version != nil {
				roots = append(roots, s.Root)
			}
		}
	}
	return roots
}

// TestUnitsOfAllRules checks properties of all units for the rules of all examples and of the
// checker's folders, including broken ones.
func TestUnitsOfAllRules(t *testing.T) {
	t.Parallel()
	tried := 0
	for _, pattern := range []string{"../../../../examples/*", "../check/testdata/*"} {
		folders, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, folder := range folders {
			texts := [2][]byte{}
			for i, name := range [2]string{"crd.yaml", "rules.yaml"} {
				if texts[i], err = os.ReadFile(filepath.Join(folder, name)); err != nil {
					break
				}
			}
			crds, err := apiserver.Parse("crd.yaml", texts[0])
			file, _ := syntax.Parse("rules.yaml", texts[1])
			syntax.Link([]*syntax.File{file})
			if err != nil || len(crds) == 0 {
				continue
			}
			for _, c := range file.Conversions {
				for _, root := range bindAll(t, c, crds[0], false) {
					tried++
					checkUnits(t, root, strings.Contains(pattern, "examples") || strings.HasPrefix(filepath.Base(folder), "clean"))
				}
			}
		}
	}
	if tried < 60 {
		t.Errorf("%d versions, want 60 at least", tried)
	}
}

// checkUnits checks the units of a binding and of those below it. Sound rules have no findings.
func checkUnits(t *testing.T, root *binding.Binding, sound bool) {
	t.Helper()
	each(root, func(r *binding.Binding, _ string) {
		for _, rule := range r.Rules {
			if n := len(r.UnitsOf(rule)); n == 0 || n > 2 {
				t.Errorf("%s is in %d units", rule.Syntax, n)
			}
		}
		for _, u := range r.Units {
			for side, places := range u.Places {
				for _, p := range places {
					first := r == root && len(p.Path) > 0 && p.Path[0].Name == "status"
					other := r == root && slices.ContainsFunc(places, func(q transform.Read) bool {
						return first != (len(q.Path) > 0 && q.Path[0].Name == "status")
					})
					if other {
						t.Errorf("a unit has places in .status and others: %s", placesText(places))
					}
					if p.Presence {
						continue
					}
					if at := r.UnitsAt(binding.Side(side), p.Path); sound && !slices.Equal(at, []*binding.Unit{u}) {
						t.Errorf("%s is in %d units", p, len(at))
					}
				}
			}
		}
	})
}

// each calls f with a binding and each one below it, and with its position.
func each(root *binding.Binding, f func(r *binding.Binding, at string)) {
	seen := map[*binding.Binding]bool{}
	var visit func(r *binding.Binding, at string)
	visit = func(r *binding.Binding, at string) {
		if seen[r] {
			return
		}
		seen[r] = true
		f(r, at)
		for _, rule := range r.Rules {
			if rule.Below != nil {
				visit(rule.Below, at+"in "+(syntax.Path{Segments: rule.Ends[binding.OfSpoke][0].Segments}).String()+": ")
			}
		}
		for _, e := range r.Elements {
			if e.Paired() {
				visit(e.Binding, at+"in "+(syntax.Path{Segments: e.Whole(binding.OfSpoke)}).String()+": ")
			}
		}
	}
	visit(root, "")
}

// unitsText returns the units of more than one place, of a binding and of those below it.
func unitsText(root *binding.Binding) string {
	var text strings.Builder
	each(root, func(r *binding.Binding, at string) {
		for _, u := range r.Units {
			if u.Single() {
				continue
			}
			fmt.Fprintf(&text, "%s%s | %s", at, placesText(u.Places[binding.OfSpoke]), placesText(u.Places[binding.OfHub]))
			if len(u.Outside[binding.OfSpoke])+len(u.Outside[binding.OfHub]) > 0 {
				fmt.Fprintf(&text, " (%s | %s)", placesText(u.Outside[binding.OfSpoke]), placesText(u.Outside[binding.OfHub]))
			}
			text.WriteByte('\n')
		}
	})
	return text.String()
}

func placesText(places []transform.Read) string {
	texts := make([]string, 0, len(places))
	for _, p := range places {
		texts = append(texts, p.String())
	}
	return strings.Join(texts, " ")
}
