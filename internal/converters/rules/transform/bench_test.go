package transform_test

import (
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/internal/converters/rules/transform"
)

// object returns an object of about 3 KB, as the API server sends it: most of it is managedFields,
// and that comes before the spec.
func object() string {
	fields := strings.Repeat(`{"manager":"kubectl","operation":"Update","apiVersion":"example.com/v1","time":"2026-01-01T00:00:00Z",`+
		`"fieldsType":"FieldsV1","fieldsV1":{"f:spec":{".":{},"f:a":{},"f:remediation":{},"f:list":{".":{},"k:{\"name\":\"x\"}":{}}}}},`, 10)
	return `{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"n","namespace":"ns","labels":{"a":"b"},"managedFields":[` +
		strings.TrimSuffix(fields, ",") + `]},"spec":{"a":"80%","remediation":"x","list":["a","b","c"]},"status":{"n":1}}`
}

func BenchmarkExpression(b *testing.B) {
	env := newEnv(b, nil)
	read := source(object())
	b.Logf("object of %d bytes", len(read))
	for _, bb := range []struct{ name, expression, in string }{
		{"concatenate", `self + "%"`, `"80"`},
		{"parse", `string(int(self.replace("%", "")))`, `"80%"`},
		{"object", `object.spec.remediation`, `"80"`},
		{"metadata", `metadata.name`, `"80"`},
		{"condition", `has(object.spec.list) && size(object.spec.list) > 2 ? self : "none"`, `"80"`},
		{"loop", `object.spec.list.map(x, x + self).join(",")`, `"80"`},
	} {
		b.Run(bb.name, func(b *testing.B) {
			compiled := mustCompile(b, env, schemas{
				"a: {type: string}\nremediation: {type: string}\nlist: {type: array, items: {type: string}}", "b: {type: string}",
			}, "{spoke: .spec.a, hub: .spec.b, toHub: '"+bb.expression+"', toSpoke: self}")
			in, out := operands(b, bb.in), make([]transform.Operand, 1)
			b.ReportAllocs()
			for b.Loop() {
				call := transform.Call{Context: b.Context(), Source: read}
				if err := compiled[0].Run(&call, in, out); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkTransform(b *testing.B) {
	env := newEnv(b, nil)
	for _, bb := range []struct{ name, field, hub, rule, in string }{
		{"identity", "type: string", "type: string", "", `"x"`},
		{"values", "type: string, enum: [a, b]", "type: string, enum: [A, B]", ", values: {a: A, b: B}", `"a"`},
		{"String", "type: integer", "type: string", ", codec: String", `5`},
		{"DurationSeconds", "type: string", "type: integer", ", codec: DurationSeconds", `"1m30s"`},
		{"QuantityInt", "type: string", "type: integer", ", codec: QuantityInt", `"10Gi"`},
		{"JSON", "type: string", "type: object, x-kubernetes-preserve-unknown-fields: true", ", codec: JSON", `"{\"a\":[1,2],\"b\":\"c\"}"`},
		{"YAML", "type: string", "type: object, x-kubernetes-preserve-unknown-fields: true", ", codec: YAML", `"a: [1, 2]\nb: c\n"`},
	} {
		b.Run(bb.name, func(b *testing.B) {
			compiled := mustCompile(b, env, schemas{"a: {" + bb.field + "}", "b: {" + bb.hub + "}"},
				"{spoke: .spec.a, hub: .spec.b"+bb.rule+"}")
			in, out := operands(b, bb.in), make([]transform.Operand, 1)
			call := &transform.Call{Context: b.Context()}
			b.ReportAllocs()
			for b.Loop() {
				if err := compiled[0].Run(call, in, out); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkCompile(b *testing.B) {
	env := newEnv(b, nil)
	s := schemas{"a: {type: string}", "b: {type: string}"}
	field, hub := s.parse(b)
	for _, text := range []string{"values: {a: b}", "toHub: 'self + object.spec.a', toSpoke: self"} {
		b.Run(text[:5], func(b *testing.B) {
			rule := parseRule(b, "{spoke: .spec.a, hub: .spec.b, "+text+"}")
			b.ReportAllocs()
			for b.Loop() {
				compileRule(env, rule, field, hub)
			}
		})
	}
	b.Run("environment", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			newEnv(b, nil)
		}
	})
}
