package hold_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/laws/generate"
	"github.com/crdconvert/webhookd/internal/laws/hold"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
	"github.com/crdconvert/webhookd/test/helpers/crdschematest"
)

// twin is a CRD of kind with the versions v1 and v2, whose specs have these schemas.
func twin(t *testing.T, v1, v2 string) *crdschema.CRD {
	t.Helper()
	return crdschematest.Kind(t, 2, "required: [spec], properties: {spec: "+v1+"}", "required: [spec], properties: {spec: "+v2+"}")
}

// fuzzed returns what Fuzz counts on a converter that changes nothing.
func fuzzed(t *testing.T, crd *crdschema.CRD, count uint64) hold.Stats {
	t.Helper()
	same := kind(func(*jsondoc.Object, string, string) error { return nil })
	stats, err := hold.Suite{Kind: same, CRD: crd, Seed: 1, Outcomes: true}.Fuzz(t.Context(), count)
	if err != nil {
		t.Fatal(err)
	}
	return stats
}

func TestShortfallsNameTheirCauses(t *testing.T) {
	t.Parallel()
	const plain = `{type: object, properties: {size: {type: integer}}}`
	for _, test := range []struct {
		name, spec string
		want       generate.Shortfall
	}{
		{
			name: "a required field whose pattern no value matches",
			spec: `{type: object, required: [id], properties: {size: {type: integer}, id: {type: string, pattern: '^a\bb$'}}}`,
			want: generate.Shortfall{
				Missed: 20, Causes: []generate.Refusal{{Path: ".spec.id", Reason: `should match '^a\bb$'`}},
				Never: []generate.Refusal{{Path: ".spec.id", Reason: `should match '^a\bb$'`}},
			},
		},
		{
			name: "an optional field in a list whose pattern no value matches",
			spec: `{type: object, properties: {size: {type: integer}, l: {type: array, items: {type: object, properties: {
				id: {type: string, pattern: '^a\bb$'}, num: {type: integer}}}}}}`,
			want: generate.Shortfall{Never: []generate.Refusal{{Path: ".spec.l[].id", Reason: `should match '^a\bb$'`}}},
		},
		{
			name: "a validation rule of the whole spec",
			spec: `{type: object, properties: {size: {type: integer}, num: {type: integer}}, x-kubernetes-validations: [
				{rule: 'has(self.size) && self.size == 4711', message: size is 4711}]}`,
			want: generate.Shortfall{
				Missed: 20, Causes: []generate.Refusal{{Path: ".spec", Reason: "validation rule: size is 4711"}},
				Never: []generate.Refusal{{Path: ".spec", Reason: "validation rule: size is 4711"}},
			},
		},
		{
			name: "a validation rule with a computed message, in a map",
			spec: `{type: object, required: [m], properties: {size: {type: integer}, m: {type: object, minProperties: 1, additionalProperties: {type: string,
				x-kubernetes-validations: [{rule: 'self == "never made"', messageExpression: '"not " + self'}]}}}}`,
			want: generate.Shortfall{
				Missed: 20, Causes: []generate.Refusal{{Path: ".spec.m{}", Reason: `validation rule: self == "never made"`}},
				Never: []generate.Refusal{{Path: ".spec.m{}", Reason: `validation rule: self == "never made"`}},
			},
		},
		{name: "few values", spec: `{type: object, properties: {paused: {type: boolean}}}`, want: generate.Shortfall{Different: 3}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			count := uint64(20)
			if test.want.Different > 0 {
				count = 100
			}
			stats := fuzzed(t, twin(t, test.spec, test.spec), count)
			if len(stats.Shortfalls) != 2 {
				t.Fatalf("%+v", stats.Shortfalls)
			}
			got := stats.Shortfalls[0]
			if test.want.Different > 0 != got.Few() || got.Missed == count != (got.Different == 0) {
				t.Errorf("%d different objects: few is %t", got.Different, got.Few())
			}
			test.want.Version, test.want.Asked = "v1", count
			ignored := cmp.Options{
				cmpopts.IgnoreFields(generate.Shortfall{}, "Different"), cmpopts.IgnoreFields(generate.Refusal{}, "Objects"), cmpopts.EquateEmpty(),
			}
			if diff := cmp.Diff(test.want, got, ignored); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	if stats := fuzzed(t, twin(t, plain, plain), 50); len(stats.Shortfalls) > 0 {
		t.Errorf("a schema that lacks nothing: %+v", stats.Shortfalls)
	}
}

func TestRejectionsNameTheirCauses(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, v2 string
		want     []generate.Refusal
	}{
		{
			name: "a field that only one version requires",
			v2:   `{type: object, required: [mode], properties: {mode: {type: string}, size: {type: integer}}}`,
			want: []generate.Refusal{{Path: ".spec.mode", Reason: "is required"}},
		},
		{
			name: "a default fills in what is required",
			v2:   `{type: object, required: [mode], properties: {mode: {type: string, default: a}, size: {type: integer}}}`,
		},
		{
			name: "a branch and an integer that its format has no room for",
			v2: `{type: object, properties: {mode: {type: string}, size: {type: integer, format: int32}},
				anyOf: [{required: [mode]}, {properties: {size: {maximum: -7}}, required: [size]}]}`,
			want: []generate.Refusal{
				{Path: ".spec", Reason: "must validate at least one schema (anyOf)"},
				{Path: ".spec.mode", Reason: "is required"},
				{Path: ".spec.size", Reason: "must be of type integer with format int32"},
				{Path: ".spec.size", Reason: "should be less than or equal to -7"},
			},
		},
		{
			name: "a format",
			v2:   `{type: object, properties: {mode: {type: string, format: byte}, size: {type: integer}}}`,
			want: []generate.Refusal{{Path: ".spec.mode", Reason: "must be of type byte"}},
		},
		{
			name: "an enum and a validation rule",
			v2: `{type: object, properties: {mode: {type: string, enum: [a]}, size: {type: integer,
				x-kubernetes-validations: [{rule: self != 1, message: one is too lonely}]}}}`,
			want: []generate.Refusal{
				{Path: ".spec.mode", Reason: `should be one of "a"`}, {Path: ".spec.size", Reason: "validation rule: one is too lonely"},
			},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			stats := fuzzed(t, twin(t, `{type: object, properties: {mode: {type: string}, size: {type: integer}}}`, test.v2), 300)
			var got []generate.Refusal
			for _, r := range stats.Rejections {
				if r.From != "v1" || r.To != "v2" || r.All != 300 || r.Objects == 0 || r.Objects >= 300 {
					t.Errorf("%+v", r)
				}
				got = r.Causes
			}
			if diff := cmp.Diff(test.want, got, cmpopts.IgnoreFields(generate.Refusal{}, "Objects")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
