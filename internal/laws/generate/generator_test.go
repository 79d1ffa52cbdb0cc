package generate_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/internal/laws/generate"
	"github.com/crdconvert/webhookd/internal/laws/tree"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
	"github.com/crdconvert/webhookd/test/helpers/crdschematest"
)

// thing returns a version with these properties, in YAML's flow style.
func thing(t *testing.T, properties string) *crdschema.Version {
	t.Helper()
	return crdschematest.Kind(t, 1, "properties: {"+properties+"}").Versions[0]
}

func newGenerator(t *testing.T, v *crdschema.Version, hints generate.Hints) *generate.Generator {
	t.Helper()
	g, err := generate.NewGenerator(v, hints)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// made returns count objects of a version.
func made(t *testing.T, v *crdschema.Version, hints generate.Hints, count int) []map[string]any {
	t.Helper()
	g := newGenerator(t, v, hints)
	objects := make([]map[string]any, 0, count)
	for index := uint64(0); len(objects) < count; index++ {
		obj, _ := tree.Literal(g.Object(1, index)).(map[string]any)
		objects = append(objects, obj)
	}
	return objects
}

// rich has what schemas of real CRDs have.
const rich = `spec: {type: object, required: [size, ports, source], properties: {
	size: {type: integer, format: int32, minimum: 1, maximum: 9, default: 3},
	step: {type: integer, multipleOf: 5, minimum: 3, exclusiveMinimum: true, maximum: 52},
	ratio: {type: number, minimum: 0, maximum: 1, exclusiveMaximum: true},
	factor: {type: number, multipleOf: 0.25},
	mode: {type: string, enum: [A, B, ""]},
	level: {type: integer, enum: [1, 5]},
	maybe: {type: string, nullable: true},
	short: {type: string, minLength: 2, maxLength: 4},
	label: {type: string, maxLength: 63, pattern: '^[a-z]([-a-z0-9]*[a-z0-9])?$'},
	cpu: {x-kubernetes-int-or-string: true, anyOf: [{type: integer}, {type: string}],
		pattern: '^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$'},
	when: {type: string, format: date-time}, day: {type: string, format: date}, wait: {type: string, format: duration},
	data: {type: string, format: byte}, id: {type: string, format: uuid}, ip: {type: string, format: ipv4},
	ip6: {type: string, format: ipv6}, net: {type: string, format: cidr}, mac: {type: string, format: mac}, link: {type: string, format: uri},
	mail: {type: string, format: email}, host: {type: string, format: hostname}, color: {type: string, format: hexcolor},
	pass: {type: string, format: password}, own: {type: string, format: my-own}, id3: {type: string, format: uuid3}, id5: {type: string, format: uuid5},
	rgb: {type: string, format: rgbcolor}, oid: {type: string, format: bsonobjectid}, book: {type: string, format: isbn}, card: {type: string, format: creditcard},
	ssn: {type: string, format: ssn}, b10: {type: string, format: isbn10}, b13: {type: string, format: isbn13},
	s: {type: string, format: k8s-short-name}, l: {type: string, format: k8s-long-name},
	tags: {type: array, x-kubernetes-list-type: set, minItems: 1, maxItems: 5, items: {type: string, maxLength: 9}},
	ports: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [port, protocol], items: {type: object, required: [port], properties: {
		port: {type: integer, minimum: 1, maximum: 3}, protocol: {type: string, default: TCP, enum: [TCP, UDP]}, name: {type: string}}}},
	labels: {type: object, minProperties: 1, maxProperties: 3, additionalProperties: {type: string, maxLength: 5}},
	any: {type: object, additionalProperties: true},
	open: {type: object, x-kubernetes-preserve-unknown-fields: true, properties: {known: {type: boolean}}},
	raw: {x-kubernetes-preserve-unknown-fields: true},
	template: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true},
	source: {type: object, properties: {git: {type: string}, http: {type: string}, s3: {type: string}}, oneOf: [{required: [git]}, {required: [http]}, {required: [s3]}]},
	either: {type: object, properties: {a: {type: string}, b: {type: string}}, anyOf: [{required: [a]}, {required: [b]}], not: {required: [c]}},
	union: {type: object, required: [type], properties: {type: {type: string}, x: {type: string}},
		anyOf: [{properties: {type: {enum: [X]}}, required: [x]}, {properties: {type: {enum: [Y]}}}]},
	all: {type: array, items: {type: object, properties: {num: {type: integer}}}, allOf: [{minItems: 1, items: {properties: {num: {minimum: 7}}}}]},
	low: {type: integer, minimum: 0, maximum: 100}, high: {type: integer, minimum: 0, maximum: 100}},
	x-kubernetes-validations: [{rule: '!has(self.low) || !has(self.high) || self.low <= self.high'}]},
status: {type: object, properties: {ready: {type: boolean}}}`

func TestObjectsAreValid(t *testing.T) {
	t.Parallel()
	v := thing(t, rich)
	g := newGenerator(t, v, nil)
	fields, present := map[string]int{}, 0
	for index := range uint64(400) {
		text := g.Object(1, index)
		var obj map[string]any
		if err := json.Unmarshal(text, &obj); err != nil {
			t.Fatal(err)
		}
		if obj["apiVersion"] != "g/v1" || obj["kind"] != "K" {
			t.Fatalf("another kind: %s", text)
		}
		spec, found := obj["spec"].(map[string]any)
		if found {
			present++
		}
		for name := range spec {
			fields[name]++
		}
	}
	if dropped := g.Dropped(); dropped > 40 {
		t.Errorf("%d objects dropped for 400 that are valid", dropped)
	}
	for _, name := range v.Root.Property("spec").Properties() {
		if fields[name] < present/20 || fields[name] == present && !v.Root.Property("spec").IsRequired(name) {
			t.Errorf("%s is in %d of %d objects", name, fields[name], present)
		}
	}
}

func TestObjectsAreRepeatable(t *testing.T) {
	t.Parallel()
	v := thing(t, rich)
	g, again := newGenerator(t, v, nil), newGenerator(t, v, nil)
	different := map[string]bool{}
	for i := range uint64(200) {
		object := g.Object(1, i)
		if !bytes.Equal(object, again.Object(1, i)) {
			t.Fatalf("object %d is not the same again", i)
		}
		different[string(object)], different[string(g.Object(2, i))] = true, true
	}
	if len(different) < 350 {
		t.Errorf("%d different objects of 400", len(different))
	}
}

func TestKindsOfObjects(t *testing.T) {
	t.Parallel()
	v := thing(t, `spec: {type: object, properties: {a: {type: string}, b: {type: integer}, c: {type: boolean}, d: {type: array, items: {type: string}},
		e: {type: object, additionalProperties: {type: string}}, f: {type: string, nullable: true}, g: {x-kubernetes-int-or-string: true},
		h: {type: array, nullable: true, items: {type: string, nullable: true}}}}`)
	seen := map[string]int{}
	for _, obj := range made(t, v, nil, 2000) {
		spec, found := obj["spec"].(map[string]any)
		if !found {
			seen["no spec"]++
		}
		if found && len(spec) == 0 {
			seen["empty spec"]++
		}
		if len(spec) == 8 {
			seen["full"]++
		}
		if spec["a"] == "" && spec["b"] == json.Number("0") && spec["c"] == false {
			seen["zero values"]++
		}
		if list, ok := spec["d"].([]any); ok && len(list) > 20 {
			seen["long list"]++
		}
		if list, ok := spec["d"].([]any); ok && len(list) == 0 {
			seen["empty list"]++
		}
		if list, ok := spec["h"].([]any); ok && slices.Contains(list, nil) {
			seen["null in a list"]++
		}
		if value, found := spec["f"]; found && value == nil {
			seen["null"]++
		}
		if s, ok := spec["a"].(string); ok && len(s) > 100 {
			seen["long string"]++
		}
		seen[fmt.Sprintf("%T", spec["g"])]++
		if spec["b"] == json.Number("9007199254740993") {
			seen["integer beyond a float"]++
		}
		if _, found := obj["metadata"].(map[string]any)["managedFields"]; found {
			seen["managed fields"]++
		}
	}
	for _, kind := range []string{
		"no spec", "empty spec", "full", "zero values", "long list", "empty list", "null in a list", "null", "long string", "string", "json.Number",
		"integer beyond a float", "managed fields",
	} {
		if seen[kind] < 5 {
			t.Errorf("%s: in %d of 2000 objects", kind, seen[kind])
		}
	}
}

func TestHints(t *testing.T) {
	t.Parallel()
	v := thing(t, `spec: {type: object, properties: {
		a: {type: string}, "x/y": {type: integer}, mode: {type: string, enum: [A, B]}, short: {type: string, maxLength: 3}, p: {type: string, pattern: ^b},
		list: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name], items: {type: object, required: [name], properties: {name: {type: string}, value: {type: string}}}},
		nums: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [num], items: {type: object, required: [num], properties: {num: {type: integer}}}},
		m: {type: object, additionalProperties: {type: string}}, open: {type: object, x-kubernetes-preserve-unknown-fields: true}}}`)
	hints := generate.Hints{
		".spec.a":                                {`"from the hint"`, "7", "null"},
		`.spec["x/y"]`:                           {"424242"},
		".spec.mode":                             {`"C"`, `"B"`},
		".spec.short":                            {`"too long"`, `"abc"`},
		".spec.p":                                {`"no"`, `"by hint"`},
		".spec.list[name=key].value":             {`"of key"`},
		".spec.nums[num=8]":                      {},
		".spec.nums[num=x]":                      {},
		".spec.m.special":                        {`"in the map"`},
		".spec.m{}":                              {`"any value"`},
		".spec.open.field":                       {`{"deep":true}`},
		`.metadata.annotations["example.com/a"]`: {`"annotated"`},
		".spec.nothing.here":                     {`1`},
		".spec.list[].name":                      {`"n"`},
	}
	var all strings.Builder
	for _, obj := range made(t, v, hints, 300) {
		text, err := json.Marshal(obj)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	for _, want := range []string{
		`"a":"from the hint"`, `"x/y":424242`, `"mode":"B"`, `"short":"abc"`, `"p":"by hint"`, `"name":"key"`, `"value":"of key"`, `"num":8`,
		`"special":"in the map"`, `:"any value"`, `"field":{"deep":true}`, `"example.com/a":"annotated"`, `"name":"n"`,
	} {
		if !strings.Contains(all.String(), want) {
			t.Errorf("nowhere: %s", want)
		}
	}
	for _, unfit := range []string{`"mode":"C"`, `"short":"too long"`, `"p":"no"`, `"nothing"`} {
		if strings.Contains(all.String(), unfit) {
			t.Errorf("used what does not fit: %s", unfit)
		}
	}
}

func TestBadHints(t *testing.T) {
	t.Parallel()
	for path, text := range map[string]string{
		"spec": "1", ".spec..a": "1", ".spec[": "1", `.spec["a`: "1", ".a{": "1", ".": "1", ".spec": "{",
	} {
		if _, err := generate.NewGenerator(thing(t, "spec: {type: object}"), generate.Hints{path: {text}}); err == nil {
			t.Errorf("no error for %s: %s", path, text)
		}
	}
}
