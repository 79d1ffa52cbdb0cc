package apiserver_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crdconvert/webhookd/internal/schema/apiserver"
	"github.com/crdconvert/webhookd/test/helpers/crdschematest"
)

// The reasons are the API server's own words, without the path and the value.
func TestRefusals(t *testing.T) {
	t.Parallel()
	reason := func(text string) []apiserver.Refusal { return []apiserver.Refusal{{Reason: text}} }
	for name, c := range map[string]struct {
		schema, value string
		want          []apiserver.Refusal
	}{
		"a value that fits":       {"{type: string, pattern: '^a$'}", `"a"`, nil},
		"pattern":                 {"{type: string, pattern: '^a in body b$'}", `"b"`, reason("should match '^a in body b$'")},
		"too short":               {"{type: string, minLength: 3}", `"a"`, reason("should be at least 3 chars long")},
		"too long":                {"{type: string, maxLength: 3}", `"abcd"`, reason("may not be more than 3 chars")},
		"format":                  {"{type: string, format: uuid}", `"a"`, reason("must be of type uuid")},
		"format of new clusters":  {"{type: string, format: k8s-short-name}", `"A"`, reason("must be of type k8s-short-name")},
		"format that is a remark": {"{type: string, format: colour}", `"a"`, nil},
		"enum":                    {"{type: string, enum: [a, b]}", `"c"`, reason(`should be one of "a", "b"`)},
		"int32":                   {"{type: integer, format: int32}", "99999999999", reason("must be of type integer with format int32")},
		"too small":               {"{type: integer, minimum: 3}", "1", reason("should be greater than or equal to 3")},
		"too large":               {"{type: number, maximum: 3, exclusiveMaximum: true}", "3", reason("should be less than 3")},
		"no multiple":             {"{type: integer, multipleOf: 5}", "4", reason("should be a multiple of 5")},
		"null":                    {"{type: string, nullable: true, pattern: a}", "null", nil},
		"int or string":           {"{x-kubernetes-int-or-string: true, pattern: '^[0-9]+%$'}", `"a"`, reason("should match '^[0-9]+%$'")},
		"several": {
			"{type: string, minLength: 3, pattern: b}", `"a"`, reason("should be at least 3 chars long"),
		},
		"all of": {
			"{type: string, allOf: [{pattern: a}, {pattern: b}]}", `"c"`,
			[]apiserver.Refusal{{Reason: "should match 'a'"}, {Reason: "should match 'b'"}},
		},
		"one of, and none": {
			"{type: object, properties: {a: {type: string}, b: {type: string}}, oneOf: [{required: [a]}, {required: [b]}]}", "{}",
			reason("must validate one and only one schema (oneOf), found none valid"),
		},
		"not": {
			"{type: object, properties: {a: {type: string}}, not: {required: [a]}}", `{"a":"x"}`,
			reason("must not validate the schema (not)"),
		},
		"too few elements": {
			"{type: array, minItems: 2, items: {type: string}}", `["a"]`,
			[]apiserver.Refusal{{Size: true, Reason: "should have at least 2 items"}},
		},
		"too many elements": {
			"{type: array, maxItems: 1, items: {type: string}}", `["a","b"]`,
			[]apiserver.Refusal{{Size: true, Reason: "must have at most 1 item"}},
		},
		"too few fields": {
			"{type: object, minProperties: 1, properties: {a: {type: string}}}", "{}",
			[]apiserver.Refusal{{Size: true, Reason: "should have at least 1 properties"}},
		},
		"a duplicate in a set": {
			"{type: array, x-kubernetes-list-type: set, items: {type: string}}", `["a","a"]`,
			[]apiserver.Refusal{{Path: "[1]", Reason: "should not occur twice"}},
		},
		"an object without a kind": {
			"{type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}", `{"apiVersion":"v1"}`,
			[]apiserver.Refusal{{Path: ".kind", Lacks: true, Reason: "is required"}},
		},
		"parts": {
			"{type: object, properties: {a: {type: array, items: {type: object, required: [b], properties: " +
				"{b: {type: string}, c: {type: string, pattern: x}}}}, d: {type: integer, format: int32}," +
				"e: {type: object, properties: {f: {type: string}}, not: {required: [f]}}}}",
			`{"a":[{"b":"x"},{"c":"a"}],"d":99999999999,"e":{"f":"x"}}`,
			[]apiserver.Refusal{
				{Path: ".a[1].b", Lacks: true, Reason: "is required"},
				{Path: ".a[1].c", Reason: "should match 'x'"},
				{Path: ".d", Reason: "must be of type integer with format int32"},
				{Path: ".e", Reason: "must not validate the schema (not)"},
			},
		},
		"a required field with a default": {
			`{type: object, required: [a], properties: {a: {type: string, default: x}}}`, "{}", nil,
		},
	} {
		judge, err := apiserver.NewJudge(crdschematest.Version(t, "a: "+c.schema).Root.Property("a"))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, judge.Refusals([]byte(c.value))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestAPlaceThatDoesNotExistRefusesNothing(t *testing.T) {
	t.Parallel()
	judge, err := apiserver.NewJudge(nil)
	if err != nil {
		t.Fatal(err)
	}
	if found := judge.Refusals([]byte(`"a"`)); found != nil {
		t.Error(found)
	}
}
