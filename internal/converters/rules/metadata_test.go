package rules_test

import (
	"testing"
)

// Expressions see the same metadata whatever is kept, and whether or not the object was converted
// before.
func TestExpressionsSeeMetadataWithoutKeptValues(t *testing.T) {
	t.Parallel()
	kind := pair{
		beta: "{spec: {seen: string, keep: string}}", v1: "{spec: {seen: string}}",
		rules: `- spoke: .spec.seen
  hub: .spec.seen
  toHub: 'self.split(":")[0] + ":" + metadata.?name.orValue("none") + string(has(metadata.annotations)) + string(has(metadata.labels))'
  toSpoke: 'self.split(":")[0] + ":" + metadata.?name.orValue("none") + string(has(metadata.annotations)) + string(has(metadata.labels))'`,
	}.kind(t)
	for metadata, want := range map[string]string{
		`{}`:                              "x:nonefalsefalse",
		`{"name":"n","labels":{}}`:        "x:nfalsefalse",
		`{"name":"n","annotations":null}`: "x:nfalsefalse",
		`{"annotations":{"a":"b"}}`:       "x:nonetruefalse",
		`{"labels":{"a":"b"},"name":"n"}`: "x:nfalsetrue",
		`{"annotations":{"conversion.webhookd.io/v1.spec.other":"{\"value\":1}"},"name":"n"}`: "x:nfalsefalse",
	} {
		object := `{"apiVersion":"example.com/v1beta1","kind":"Thing","metadata":` + metadata + `,"spec":{"seen":"x","keep":"k"}}`
		there := convert(t, kind, object, "v1beta1", "v1")
		if got := specOf(t, there); got["seen"] != want {
			t.Errorf("%s: got %v, want %s", metadata, got["seen"], want)
		}
	}
}

// Expressions do not see the annotations of kept values in object, either.
func TestExpressionsDoNotSeeKeptValues(t *testing.T) {
	t.Parallel()
	const expression = `'self.split(":")[0] + ":" + (has(object.metadata.annotations) ? object.metadata.annotations.map(k, k).join(",") : "none")'`
	kind := pair{
		beta: "{spec: {seen: string}}", v1: "{spec: {seen: string}}",
		rules: "- spoke: .spec.seen\n  hub: .spec.seen\n  toHub: " + expression + "\n  toSpoke: " + expression,
	}.kind(t)
	for metadata, want := range map[string]string{
		`{"name":"x","annotations":{"a":"b","conversion.webhookd.io/v1.spec.other":"{}"}}`:            "x:a",
		`{"annotations":{"conversion.webhookd.io/v1.spec.other":"{}"}}`:                               "x:none",
		`{"annotations":{"a":"b","status.conversion.webhookd.io/v1.status.b":"{}"}}`:                  "x:a",
		`{"annotations":{"conv\u0065rsion.webhookd.io/v1.spec.other":"{}"}}`:                          "x:none",
		`{"annotations":{"conversion.webhookd.io/v0.spec.other":"{}","conversion.webhookd.io/x":""}}`: "x:none",
		`{"annotations":{}}`:   "x:none",
		`{"annotations":null}`: "x:none",
	} {
		object := `{"apiVersion":"example.com/v1beta1","kind":"Thing","metadata":` + metadata + `,"spec":{"seen":"x"}}`
		if got := specOf(t, convert(t, kind, object, "v1beta1", "v1")); got["seen"] != want {
			t.Errorf("%s: got %v, want %s", metadata, got["seen"], want)
		}
	}
}
