package crdschema_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crdconvert/webhookd/internal/schema/crdschema"
	"github.com/crdconvert/webhookd/test/helpers/crdschematest"
)

func TestKinds(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		schema string
		want   crdschema.Kind
		text   string
	}{
		{"{type: object}", crdschema.Object, "an object"},
		{"{type: object, properties: {a: {type: string}}}", crdschema.Object, "an object"},
		{"{type: object, additionalProperties: false}", crdschema.Object, "an object"},
		{"{type: object, x-kubernetes-preserve-unknown-fields: true}", crdschema.Object, "an object"},
		{"{type: object, additionalProperties: true}", crdschema.Map, "a map"},
		{"{type: object, additionalProperties: {type: string}}", crdschema.Map, "a map"},
		{"{type: array, items: {type: string}}", crdschema.Array, "a list"},
		{"{type: string}", crdschema.String, "a string"},
		{"{type: integer}", crdschema.Integer, "an integer"},
		{"{type: number}", crdschema.Number, "a number"},
		{"{type: boolean}", crdschema.Boolean, "a boolean"},
		{"{x-kubernetes-int-or-string: true}", crdschema.IntOrString, "an integer or string"},
		{"{x-kubernetes-int-or-string: true, anyOf: [{type: integer}, {type: string}]}", crdschema.IntOrString, "an integer or string"},
		{"{x-kubernetes-preserve-unknown-fields: true}", crdschema.Any, "any value"},
	} {
		t.Run(test.schema, func(t *testing.T) {
			t.Parallel()
			n := crdschematest.Version(t, "a: "+test.schema).Root.Property("a")
			if n.Kind() != test.want || n.Kind().String() != test.text {
				t.Errorf("kind %d %q, want %d %q", n.Kind(), n.Kind(), test.want, test.text)
			}
		})
	}
}

func TestPrunes(t *testing.T) {
	t.Parallel()
	for schema, want := range map[string]bool{
		"{type: string}": false,
		"{type: object}": true,
		"{type: object, properties: {a: {type: string}}}":                                             true,
		"{x-kubernetes-preserve-unknown-fields: true}":                                                false,
		"{type: array, items: {type: string}}":                                                        false,
		"{type: array, items: {type: object}}":                                                        true,
		"{type: object, additionalProperties: true}":                                                  false,
		"{type: object, additionalProperties: {type: string}}":                                        false,
		"{type: object, additionalProperties: {type: array, items: {type: object}}}":                  true,
		"{type: object, x-kubernetes-preserve-unknown-fields: true, properties: {a: {type: string}}}": false,
		"{type: object, x-kubernetes-preserve-unknown-fields: true, properties: {a: {type: object}}}": true,
	} {
		if got := crdschematest.Version(t, "a: "+schema).Root.Property("a").Prunes(); got != want {
			t.Errorf("%s prunes %t, want %t", schema, got, want)
		}
	}
}

func TestNode(t *testing.T) {
	t.Parallel()
	root := crdschematest.Version(t, `
spec:
  type: object
  required: [b, a, b]
  nullable: true
  x-kubernetes-preserve-unknown-fields: true
  properties:
    b: {type: string, enum: [z, "a<b", ""], pattern: ^.*$, format: hostname, default: "a<b"}
    a: {type: integer, enum: [9007199254740993, 1], default: 9007199254740993}
    c: {type: number, enum: [1.5], default: 1.5}
    l: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k], items: {type: object, required: [k], properties: {k: {type: string}}}}
    m: {type: object, additionalProperties: {type: boolean, nullable: true}}
    any: {type: object, additionalProperties: true}
    pod: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}
    obj: {type: object, default: {x: {q: [1]}}, properties: {x: {type: object, properties: {q: {type: array, items: {type: integer}}}}}}
`[1:]).Root
	spec := root.Property("spec")
	if !spec.Nullable() || !spec.PreservesUnknown() || spec.Embedded() || spec.ListType() != "" || spec.Structural().Type != "object" {
		t.Errorf("spec %+v", spec)
	}
	if diff := cmp.Diff([]string{"a", "any", "b", "c", "l", "m", "obj", "pod"}, spec.Properties()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"a", "b"}, spec.Required()); diff != "" || !spec.IsRequired("a") || spec.IsRequired("m") {
		t.Error(diff)
	}
	b := spec.Property("b")
	if diff := cmp.Diff([]string{`"z"`, `"a<b"`, `""`}, b.Enum()); diff != "" || b.Structural().ValueValidation.Pattern != "^.*$" || b.Format() != "hostname" {
		t.Errorf("b %+v: %s", b, diff)
	}
	for name, want := range map[string]string{"a": "9007199254740993", "b": `"a<b"`, "c": "1.5", "obj": `{"x":{"q":[1]}}`, "m": ""} {
		if text, has := spec.Property(name).Default(); text != want || has != (want != "") {
			t.Errorf("default of %s is %s, want %s", name, text, want)
		}
	}
	if diff := cmp.Diff([]string{"9007199254740993", "1"}, spec.Property("a").Enum()); diff != "" {
		t.Error(diff)
	}
	l := spec.Property("l")
	if l.ListType() != "map" || !slices.Equal(l.ListMapKeys(), []string{"k"}) || l.Items().Property("k").Kind() != crdschema.String || l.Values() != nil {
		t.Errorf("l %+v", l)
	}
	m := spec.Property("m")
	if m.Values().Kind() != crdschema.Boolean || !m.Values().Nullable() || m.Items() != nil || m.Property("x") != nil || m.Properties() != nil {
		t.Errorf("m %+v", m)
	}
	if v := spec.Property("any").Values(); v.Kind() != crdschema.Any || v.PreservesUnknown() {
		t.Errorf("any %+v", v)
	}
	pod := spec.Property("pod")
	if !pod.Embedded() || !slices.Equal(pod.Required(), []string{"apiVersion", "kind"}) || pod.Property("metadata").Property("labels").Kind() != crdschema.Map {
		t.Errorf("pod %+v", pod)
	}
	if spec.Property("b") != b {
		t.Error("two nodes for one place")
	}
}

func TestPropertyFromFindsAnyOrder(t *testing.T) {
	t.Parallel()
	n := crdschematest.Version(t, "o: {type: object, properties: {a: {type: string}, b: {type: string}, c: {type: string}, "+
		"d: {type: string}, e: {type: string}, f: {type: string}}}").Root.Property("o")
	for _, names := range []string{"abcdef", "fedcba", "af", "bxc", "faaf", "x", ""} {
		next := 0
		for _, name := range names {
			var p *crdschema.Node
			if p, next = n.PropertyFrom(next, []byte(string(name))); p != n.Property(string(name)) {
				t.Errorf("%s: wrong property %c", names, name)
			}
		}
	}
}

func TestRootHasWhatEveryObjectHas(t *testing.T) {
	t.Parallel()
	root := crdschematest.Version(t, "metadata: {type: object, properties: {name: {type: string, maxLength: 9}}}\nspec: {type: object}").Root
	if diff := cmp.Diff([]string{"apiVersion", "kind", "metadata", "spec"}, root.Properties()); diff != "" {
		t.Error(diff)
	}
	meta := root.Property("metadata")
	want := strings.Fields(`annotations creationTimestamp deletionGracePeriodSeconds deletionTimestamp finalizers generateName generation labels
		managedFields name namespace ownerReferences resourceVersion selfLink uid`)
	if diff := cmp.Diff(want, meta.Properties()); diff != "" {
		t.Error(diff)
	}
	if limit := meta.Property("name").Structural().ValueValidation; limit == nil || *limit.MaxLength != 9 {
		t.Error("lost what the CRD says of the name")
	}
	if meta.Property("annotations").Values().Kind() != crdschema.String {
		t.Error("annotations are not a map of strings")
	}
	if root.Property("apiVersion").Kind() != crdschema.String || root.Property("kind").Kind() != crdschema.String {
		t.Error("apiVersion and kind are not strings")
	}
}

func TestNoPlace(t *testing.T) {
	t.Parallel()
	var n *crdschema.Node
	if n.Kind() != crdschema.None || n.Kind().String() != "nothing" || n.Property("a") != nil || n.Properties() != nil || n.Values() != nil ||
		n.Items() != nil || n.Required() != nil || n.IsRequired("a") || n.Nullable() || n.Enum() != nil || n.Format() != "" ||
		n.PreservesUnknown() || n.Embedded() || n.ListType() != "" || n.ListMapKeys() != nil || n.Structural() != nil {
		t.Error("no place has something")
	}
	if _, has := n.Default(); has {
		t.Error("no place has a default")
	}
	bare := crdschematest.Version(t, "a: {type: object, additionalProperties: true}").Root.Property("a").Values()
	if bare.Format() != "" {
		t.Error("a place without validations has some")
	}
}

func TestSame(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, a, b string
		want       bool
	}{
		{"descriptions", "{type: string, description: x, title: x}", "{type: string}", true},
		{"examples", "{type: string, example: x}", "{type: string, externalDocs: {url: u}}", true},
		{"rules in CEL", "{type: string, x-kubernetes-validations: [{rule: 'self != \"\"'}]}", "{type: string}", true},
		{"the order of enum", "{type: string, enum: [a, b]}", "{type: string, enum: [b, a]}", true},
		{"the order of required", "{type: object, required: [a, b]}", "{type: object, required: [b, a, a]}", true},
		{"the order of keys", "{type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [j, k], items: {type: object, required: [j, k], properties: {j: {type: string}, k: {type: string}}}}", "{type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k, j], items: {type: object, required: [j, k], properties: {j: {type: string}, k: {type: string}}}}", true},
		{"no validations and empty ones", "{type: object, additionalProperties: true}", "{type: object, additionalProperties: true}", true},
		{"types", "{type: string}", "{type: integer}", false},
		{"enum", "{type: string, enum: [a, b]}", "{type: string, enum: [a]}", false},
		{"required", "{type: object, required: [a]}", "{type: object}", false},
		{"nullable", "{type: string, nullable: true}", "{type: string}", false},
		{"defaults", "{type: string, default: a}", "{type: string, default: b}", false},
		{"bounds", "{type: integer, minimum: 1}", "{type: integer, minimum: 2}", false},
		{"bounds and none", "{type: string, maxLength: 1}", "{type: string}", false},
		{"formats", "{type: string, format: date}", "{type: string}", false},
		{"patterns", "{type: string, pattern: a}", "{type: string, pattern: b}", false},
		{"anyOf", "{type: string, anyOf: [{pattern: a}]}", "{type: string, anyOf: [{pattern: b}]}", false},
		{"unknown fields", "{type: object, x-kubernetes-preserve-unknown-fields: true}", "{type: object}", false},
		{"list types", "{type: array, items: {type: string}, x-kubernetes-list-type: set}", "{type: array, items: {type: string}}", false},
		{"elements", "{type: array, items: {type: string}}", "{type: array, items: {type: integer}}", false},
		{"values of maps", "{type: object, additionalProperties: {type: string}}", "{type: object, additionalProperties: {type: integer}}", false},
		{"a property more", "{type: object, properties: {a: {type: string}, b: {type: string}}}", "{type: object, properties: {a: {type: string}}}", false},
		{"a property of another type", "{type: object, properties: {a: {type: string}}}", "{type: object, properties: {a: {type: integer}}}", false},
		{"embedded", "{type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}", "{type: object, x-kubernetes-preserve-unknown-fields: true}", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			root := crdschematest.Version(t, "a: "+test.a+"\nb: "+test.b).Root
			a, b := root.Property("a"), root.Property("b")
			if a.Same(b) != test.want || b.Same(a) != test.want || !a.Same(a) {
				t.Errorf("same is %t, want %t", a.Same(b), test.want)
			}
		})
	}
	n := crdschematest.Version(t, "a: {type: string}").Root
	if n.Same(nil) || (*crdschema.Node)(nil).Same(n) || !(*crdschema.Node)(nil).Same(nil) {
		t.Error("a place is the same as none")
	}
}
