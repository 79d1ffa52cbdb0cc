package crdschema_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crdconvert/webhookd/internal/schema/apiserver"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
	"github.com/crdconvert/webhookd/test/helpers/crdschematest"
)

func TestWhatACRDSays(t *testing.T) {
	t.Parallel()
	text := "# comment\n---\n" + crdschematest.CRD("spec: {type: object}") + `  - name: v2
    served: false
    storage: false
    schema: {openAPIV3Schema: {type: object}}
`
	crds, err := apiserver.Parse("f.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	c := crds[0]
	if c.Name != "things.example.com" || c.Plural != "things" || !c.Namespaced || c.File != "f.yaml" || c.Line != 3 {
		t.Errorf("CRD %+v", c)
	}
	if c.GroupKind().String() != "Thing.example.com" {
		t.Errorf("group and kind %s", c.GroupKind())
	}
	v1, v2 := c.Version("v1"), c.Version("v2")
	if !v1.Served || !v1.Storage || v1.Line != 11 || v2.Served || v2.Storage || v2.Line != 19 {
		t.Errorf("v1 %+v, v2 %+v", v1, v2)
	}
	if got := v2.GroupVersionKind().String(); got != "example.com/v2, Kind=Thing" {
		t.Errorf("group, version and kind %s", got)
	}
	if c.Version("v3") != nil || (*crdschema.CRD)(nil).Version("v1") != nil {
		t.Error("found a version that is not there")
	}
}

func TestWhereCRDsAre(t *testing.T) {
	t.Parallel()
	one := crdschematest.CRD("spec: {type: object}")
	other := strings.ReplaceAll(one, "things", "others")
	indented := func(text string) string {
		return "- " + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n  ") + "\n"
	}
	for _, test := range []struct {
		name, text string
		want       []string
	}{
		{"nothing", "", nil},
		{"comments only", "# nothing here\n---\n---\n# nor here\n", nil},
		{"other kinds", "apiVersion: v1\nkind: ConfigMap\n---\njust text\n---\n- a list\n", nil},
		{"a kind of the same name in another group", "apiVersion: other.example.com/v1\nkind: CustomResourceDefinition\n", nil},
		{
			"a patch of a kustomization", "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: things.example.com}\n" +
				"spec: {conversion: {strategy: Webhook}}\n", nil,
		},
		{"documents", one + "---\nkind: Other\n---\n" + other, []string{"things.example.com", "others.example.com"}},
		{"a list", "apiVersion: v1\nkind: List\nitems:\n" + indented(one) + indented(other), []string{"things.example.com", "others.example.com"}},
		{"a typed list", "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinitionList\nitems:\n" + indented(one), []string{"things.example.com"}},
		{"an empty list", "apiVersion: v1\nkind: List\n", nil},
		{"JSON", `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"things.example.com"},
			"spec":{"group":"example.com","scope":"Cluster","names":{"plural":"things","kind":"Thing"},
			"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}}`, []string{"things.example.com"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			crds, err := apiserver.Parse("f.yaml", []byte(test.text))
			if err != nil {
				t.Fatal(err)
			}
			got := make([]string, 0, len(crds))
			for _, c := range crds {
				got = append(got, c.Name)
			}
			if !slices.Equal(test.want, got) {
				t.Errorf("CRDs %q, want %q", got, test.want)
			}
		})
	}
}

// kubectl sends 1 for each of these, whichever field it is.
func TestWholeNumbersMayBeSpeltAsFractions(t *testing.T) {
	t.Parallel()
	for _, one := range []string{"1", "1.0", "1e0", "+1", "0x1", "0b1"} {
		crds, err := apiserver.Parse("f.yaml", []byte(crdschematest.CRD("spec: {type: string, minLength: "+one+"}")))
		if err != nil || len(crds) != 1 {
			t.Errorf("minLength %s: %v", one, err)
		}
	}
}

func TestProblems(t *testing.T) {
	t.Parallel()
	good := crdschematest.CRD("spec: {type: object}")
	const v1schema = "spec.versions[0].schema.openAPIV3Schema"
	for _, test := range []struct {
		name, text string
		want       string
	}{
		{"no YAML", "a: 1\nb: c: d", `f.yaml:2: not YAML: mapping values are not allowed in this context`},
		{
			"v1beta1", strings.Replace(good, "apiextensions.k8s.io/v1", "apiextensions.k8s.io/v1beta1", 1),
			`f.yaml:1: apiVersion of a CustomResourceDefinition that no API server has served since Kubernetes 1.22, write it as apiextensions.k8s.io/v1: "apiextensions.k8s.io/v1beta1"`,
		},
		{
			"no group", strings.Replace(good, "apiextensions.k8s.io/v1", "v1", 1),
			`f.yaml:1: not the apiVersion of a CustomResourceDefinition, write apiextensions.k8s.io/v1: "v1"`,
		},
		{"a key twice", crdschematest.CRD("spec: {type: object}\nspec: {type: string}"), `f.yaml:17: duplicate key, remove one, the other is in line 16: spec`},
		{
			"deep nesting", crdschematest.CRD("spec: {type: object, default: {a: " + strings.Repeat("[", 300) + strings.Repeat("]", 300) + "}}"),
			`f.yaml:16: nested deeper than 300 levels, make it flatter`,
		},
		{
			"a mistyped field", crdschematest.CRD("spec: {typ: object}"),
			"f.yaml:16: not a CustomResourceDefinition: unknown field \"" + v1schema + ".properties.spec.typ\"\n" +
				"f.yaml:16: the API server refuses this schema: Required value: must not be empty for specified object fields: " + v1schema + ".properties[spec].type",
		},
		{
			"a field of another type", strings.Replace(good, "served: true", "served: 7", 1),
			`f.yaml:1: not a CustomResourceDefinition: json: cannot unmarshal number into Go struct field CustomResourceDefinitionVersion.spec.versions.served of type bool`,
		},
		{
			"nothing set", "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nspec:\n  scope: Cluster\n",
			strings.Join([]string{
				"f.yaml:1: field that must be set: metadata.name",
				"f.yaml:3: field that must be set: spec.group",
				"f.yaml:3: field that must be set: spec.names.kind",
				"f.yaml:3: field that must be set: spec.names.plural",
				"f.yaml:3: CustomResourceDefinition without versions, add them: spec.versions",
			}, "\n"),
		},
		{
			"another name", strings.Replace(good, "{name: things", "{name: thing", 1),
			"f.yaml:3: name that is not the plural and the group, write things.example.com: metadata.name",
		},
		{
			"preserveUnknownFields", strings.Replace(good, "  scope:", "  preserveUnknownFields: true\n  scope:", 1),
			"f.yaml:6: true is not allowed, set x-kubernetes-preserve-unknown-fields where it is needed: spec.preserveUnknownFields",
		},
		{"the same CRD twice", good + "---\n" + good, "f.yaml:18: CustomResourceDefinition that is here twice, remove one; the other is in line 1: things.example.com"},
		{
			"a version twice", good + "  - {name: v1, served: true, storage: false, schema: {openAPIV3Schema: {type: object}}}\n",
			"f.yaml:17: version appears twice, remove one: v1",
		},
		{
			"two storage versions", good + "  - {name: v2, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}\n",
			"f.yaml:8: 2 versions with storage: true, want exactly one: spec.versions",
		},
		{
			"no schema", good + "  - {name: v2, served: true, storage: false}\n",
			"f.yaml:17: version without a schema, the API server would prune all its fields: spec.versions[1].schema.openAPIV3Schema",
		},
		{
			"no name", good + "  - {served: true, storage: false, schema: {openAPIV3Schema: {type: object}}}\n",
			"f.yaml:17: version without a name, set it: spec.versions[1].name",
		},
		{"$ref", crdschematest.CRD("spec: {$ref: x}"), `f.yaml:13: OpenAPIV3Schema '$ref' is not supported: ` + v1schema},
		{
			"no type", crdschematest.CRD("a:\n  type: array\n  items: {}\nb: {}"),
			"f.yaml:18: the API server refuses this schema: Required value: must not be empty for specified array items: " + v1schema + ".properties[a].items.type\n" +
				"f.yaml:19: the API server refuses this schema: Required value: must not be empty for specified object fields: " + v1schema + ".properties[b].type",
		},
		{
			"a type in anyOf", crdschematest.CRD("a:\n  type: string\n  anyOf:\n  - {type: string}"),
			"f.yaml:19: the API server refuses this schema: Forbidden: must be empty to be structural: " + v1schema + ".properties[a].anyOf[0].type",
		},
		{
			"a type that is none", crdschematest.CRD("a: {type: text}"),
			`f.yaml:16: the API server refuses this schema: Unsupported value: "text": supported values: "array", "boolean", "integer", "number", "object", "string": ` + v1schema + ".properties[a].type",
		},
		{
			"a pattern that is none", crdschematest.CRD("a: {type: string, pattern: '('}"),
			"f.yaml:16: the API server refuses this schema: Invalid value: \"(\": must be a valid regular expression, but isn't: error parsing regexp: missing closing ): `(`: " + v1schema + ".properties[a].pattern",
		},
		{
			"properties and more", crdschematest.CRD("a: {type: object, properties: {b: {type: string}}, additionalProperties: {type: string}}"),
			"f.yaml:16: the API server refuses this schema: Forbidden: additionalProperties and properties are mutual exclusive: " + v1schema + ".properties[a].additionalProperties",
		},
		{
			"metadata", crdschematest.CRD("metadata:\n  type: object\n  properties: {labels: {type: object}}"),
			"f.yaml:16: the API server refuses this schema: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified: " + v1schema + ".properties[metadata]",
		},
		{
			"a default that is none", crdschematest.CRD("a:\n  type: string\n  default: 7"),
			`f.yaml:18: the API server refuses this schema: Invalid value: "integer":  in body must be of type string: "integer": ` + v1schema + ".properties[a].default",
		},
		{
			"a list type that is none", crdschematest.CRD("a: {type: array, items: {type: string}, x-kubernetes-list-type: bag}"),
			`f.yaml:16: the API server refuses this schema: Unsupported value: "bag": supported values: "atomic", "map", "set": ` + v1schema + ".properties[a].x-kubernetes-list-type",
		},
		{
			"a list type of no list", crdschematest.CRD("a: {type: string, x-kubernetes-list-type: set}"),
			`f.yaml:16: the API server refuses this schema: Invalid value: "string": must be array if x-kubernetes-list-type is specified: ` + v1schema + ".properties[a].type",
		},
		{
			"keys of no map list", crdschematest.CRD("a: {type: array, items: {type: object}, x-kubernetes-list-map-keys: [b]}"),
			`f.yaml:16: the API server refuses this schema: Required value: must be map if x-kubernetes-list-map-keys is non-empty: ` + v1schema + ".properties[a].x-kubernetes-list-type",
		},
		{
			"a map list without keys", crdschematest.CRD("a: {type: array, items: {type: object}, x-kubernetes-list-type: map}"),
			`f.yaml:16: the API server refuses this schema: Required value: must not be empty if x-kubernetes-list-type is map: ` + v1schema + ".properties[a].x-kubernetes-list-map-keys",
		},
		{
			"a map list of strings", crdschematest.CRD("a: {type: array, items: {type: string}, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [b]}"),
			`f.yaml:16: the API server refuses this schema: Invalid value: "": must be object if parent array's x-kubernetes-list-type is map: ` + v1schema + ".properties[a].items.type",
		},
		{
			"keys that may be absent, are not scalars, or do not exist",
			crdschematest.CRD("a:\n  type: array\n  x-kubernetes-list-type: map\n  x-kubernetes-list-map-keys: [b, c, d]\n  items: {type: object, properties: {b: {type: string}, c: {type: object}}}"),
			strings.Join([]string{
				"f.yaml:19: the API server refuses this schema: Invalid value: [\"b\",\"c\",\"d\"]: entries must all be names of item properties: " + v1schema + ".properties[a].x-kubernetes-list-map-keys",
				"f.yaml:20: the API server refuses this schema: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property: " + v1schema + ".properties[a].items.properties[b].default",
				`f.yaml:20: the API server refuses this schema: Invalid value: "object": must be a scalar type if parent array's x-kubernetes-list-type is map: ` + v1schema + ".properties[a].items.properties[c].type",
			}, "\n"),
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, err := apiserver.Parse("f.yaml", []byte(test.text))
			if err == nil {
				t.Fatal("no error")
			}
			if diff := cmp.Diff(test.want, err.Error()); diff != "" {
				t.Error(diff)
			}
			if first, ok := errors.AsType[*crdschema.ParseError](err); !ok || first.File != "f.yaml" || first.Line == 0 {
				t.Errorf("first problem %+v", first)
			}
		})
	}
}

func TestGoodCRDsComeWithTheProblemsOfOthers(t *testing.T) {
	t.Parallel()
	text := crdschematest.CRD("a: {}") + "---\n" + strings.ReplaceAll(crdschematest.CRD("a: {type: string}"), "things", "others") + "---\na: b: c\n"
	crds, err := apiserver.Parse("f.yaml", []byte(text))
	problems, ok := errors.AsType[crdschema.ParseErrors](err)
	if !ok || len(problems) != 2 {
		t.Errorf("error %v, want two problems", err)
	}
	if len(crds) != 1 || crds[0].Name != "others.example.com" {
		t.Errorf("CRDs %+v", crds)
	}
}

func TestProblemWithoutALine(t *testing.T) {
	t.Parallel()
	if got := (&crdschema.ParseError{File: "f.yaml", Text: "what"}).Error(); got != "f.yaml: what" {
		t.Error(got)
	}
}
