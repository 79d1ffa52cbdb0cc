package rules_test

import (
	"testing"
)

// Expressions see the same metadata whatever is kept there, and whether or not the object was converted before.
func TestExpressionsSeeMetadataWithoutWhatIsKept(t *testing.T) {
	t.Parallel()
	kind := pair{
		beta: "{spec: {seen: string, keep: string}}", v1: "{spec: {seen: string}}",
		rules: `- field: .spec.seen
  hub: .spec.seen
  toHub: 'self.split(":")[0] + ":" + metadata.?name.orValue("none") + string(has(metadata.annotations)) + string(has(metadata.labels))'
  fromHub: 'self.split(":")[0] + ":" + metadata.?name.orValue("none") + string(has(metadata.annotations)) + string(has(metadata.labels))'`,
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
