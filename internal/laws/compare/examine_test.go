package compare_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/laws/compare"
	"github.com/crdconvert/webhookd/internal/laws/generate"
	"github.com/crdconvert/webhookd/internal/schema/apiserver"
)

// examined returns what is found about an object of v1, whose conversion to v1beta1 is to.
func examined(t *testing.T, object string, to, back func(o *jsondoc.Object) error) *compare.Examination {
	t.Helper()
	const crd = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"things.example.com"},
		"spec":{"group":"example.com","scope":"Namespaced","names":{"plural":"things","singular":"thing","kind":"Thing","listKind":"ThingList"},"versions":[
		{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{
			"list":{"type":"array","items":{"type":"object","properties":{"a":{"type":"integer"}}}},
			"map":{"type":"object","additionalProperties":{"type":"string"}}}}}},
		{"name":"v1beta1","served":true,"storage":false,"schema":{"openAPIV3Schema":{"type":"object","properties":{
			"list":{"type":"array","maxItems":2,"items":{"type":"object","properties":{"a":{"type":"integer"}}}},
			"map":{"type":"object","additionalProperties":{"type":"string","maxLength":3}}}}}},
		{"name":"v1alpha1","served":false,"storage":false,"schema":{"openAPIV3Schema":{"type":"object"}}}]}}`
	crds, err := apiserver.Parse("crd.json", []byte(crd))
	if err != nil {
		t.Fatal(err)
	}
	kind := thingsBy(to, back)
	e, err := compare.NewExaminer(kind, crds[0], nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	found, err := e.Examine(t.Context(), []byte(object))
	if err != nil {
		t.Fatal(err)
	}
	if len(found.Outcomes) != 1 || found.Outcomes[0].To != "v1beta1" {
		t.Fatalf("a version that is not served is examined: %+v", found)
	}
	return found
}

// The laws see what one conversion and its way back do not show.
func TestExamineHoldsLaws(t *testing.T) {
	t.Parallel()
	const object = `{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"a"},"list":[{"a":1}]}`
	same := func(*jsondoc.Object) error { return nil }
	if broken := examined(t, object, same, same).Broken; broken != nil {
		t.Errorf("copies break %v", broken)
	}
	calls := int64(0)
	counts := func(o *jsondoc.Object) error {
		calls++
		return o.Set(jsondoc.IntValue(calls), "metadata", "annotations", "calls")
	}
	forgets := func(o *jsondoc.Object) error { return o.Remove("metadata", "annotations") }
	if broken := examined(t, object, counts, forgets).Broken; broken == nil || broken.Law != "L8 deterministic" {
		t.Errorf("a count of the calls breaks %v", broken)
	}
	if broken := examined(t, object, same, func(o *jsondoc.Object) error { return o.Remove("list") }).Broken; broken != nil {
		t.Errorf("a difference is said twice: %v", broken)
	}
}

func thingsBy(to, back func(o *jsondoc.Object) error) *converters.Kind {
	convert := func(_ context.Context, o *jsondoc.Object, _, target string) error {
		if target == "v1" {
			return back(o)
		}
		return to(o)
	}
	return &converters.Kind{
		GroupKind: schema.GroupKind{Group: "example.com", Kind: "Thing"}, Hub: "v1",
		Versions: []string{"v1alpha1", "v1beta1", "v1"}, Converter: converters.Func(convert),
	}
}

func TestExamine(t *testing.T) {
	t.Parallel()
	const head = `{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"a","labels":{"x":"y"}}`
	same := func(*jsondoc.Object) error { return nil }
	sets := func(text string, path ...string) func(*jsondoc.Object) error {
		return func(o *jsondoc.Object) error {
			v, err := jsondoc.RawValue([]byte(text))
			if err != nil {
				return err
			}
			return o.Set(v, path...)
		}
	}
	fails := func(*jsondoc.Object) error { return errors.New("no") }
	for name, tt := range map[string]struct {
		object   string
		to, back func(*jsondoc.Object) error
		want     compare.Outcome
		err      string
	}{
		"nothing": {`,"list":[{"a":1}]}`, same, same, compare.Outcome{}, ""},
		"elements that come back different": {
			`,"list":[{"a":1},{"a":2}]}`, same, sets(`[{"a":1},{"a":3}]`, "list"),
			compare.Outcome{Differs: []compare.Difference{{".list[].a", "2", "3"}}},
			"",
		},
		"another length": {`,"list":[{"a":1}]}`, same, sets(`[]`, "list"), compare.Outcome{Differs: []compare.Difference{{".list", `[{"a":1}]`, "[]"}}}, ""},
		"a key that does not come back": {
			`,"map":{"k":"v"}}`, sets(`{}`, "map"), same, compare.Outcome{Differs: []compare.Difference{{".map{}", `"v"`, ""}}}, "",
		},
		"a label that does not come back": {
			`}`, sets(`{}`, "metadata", "labels"), same,
			compare.Outcome{Differs: []compare.Difference{{".metadata.labels", `{"x":"y"}`, ""}}},
			"",
		},
		"a field that is pruned": {
			`}`, sets(`1`, "unknown"), same, compare.Outcome{Pruned: []compare.Difference{{".unknown", "1", ""}}}, "",
		},
		"values that are refused": {
			`,"list":[{},{},{}],"map":{"k":"long"}}`, same, same,
			compare.Outcome{Refused: []generate.Refusal{
				{Path: ".list", Reason: "must have at most 2 items", Objects: 1}, {Path: ".map{}", Reason: "may not be more than 3 chars", Objects: 1},
			}},
			"",
		},
		"no conversion":    {`}`, fails, same, compare.Outcome{}, "no"},
		"no way back":      {`}`, same, fails, compare.Outcome{Back: true}, "no"},
		"another name":     {`}`, sets(`"b"`, "metadata", "name"), same, compare.Outcome{}, "a converter may change only labels and annotations in metadata: .metadata.name"},
		"another uid back": {`}`, same, sets(`"b"`, "metadata", "uid"), compare.Outcome{Back: true}, "a converter may change only labels and annotations in metadata: .metadata.uid"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := examined(t, head+tt.object, tt.to, tt.back).Outcomes[0]
			if err := got.Err; (err != nil) != (tt.err != "") || err != nil && err.Error() != tt.err {
				t.Errorf("error %v, want %s", err, tt.err)
			}
			tt.want.To, got.Err = "v1beta1", nil
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
