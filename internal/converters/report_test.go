package converters_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
)

// A converter may note whether or not there is a Report. A Report is for one object.
func TestReport(t *testing.T) {
	t.Parallel()
	noting := func(ctx context.Context) {
		r := converters.ReportFrom(ctx)
		r.UnknownFields, r.CostLimit, r.TooLarge = true, true, true
	}
	noting(t.Context())
	noting(new(converters.ReportContext).With(t.Context(), nil))
	var r converters.Report
	ctx := new(converters.ReportContext).With(t.Context(), &r)
	child, stop := context.WithCancel(ctx)
	noting(child)
	if diff := cmp.Diff(converters.Report{UnknownFields: true, CostLimit: true, TooLarge: true}, r); diff != "" {
		t.Errorf("noted (-want +got):\n%s", diff)
	}
	stop()
	if child.Err() == nil || ctx.Err() != nil || ctx.Value(t) != nil {
		t.Errorf("a context with a report is another one: %v, %v", child.Err(), ctx.Err())
	}
}

// Kept values are measured as the API server does: names and values, decoded.
func TestReportMeasures(t *testing.T) {
	t.Parallel()
	const unknown = `"example.com/a":"x\"\\\u00e4\ud83d\ude00\n"`
	for _, test := range []struct {
		name, annotations string
		keeps             bool     // of v1beta1
		kept              []string // names of annotations with kept values
	}{
		{name: "none", annotations: `{}`},
		{name: "null", annotations: `null`},
		{name: "of others", annotations: `{` + unknown + `,"webhookd.io/x":"y","aconversion.webhookd.io/v1beta1":"z"}`},
		{
			name: "one", annotations: `{` + unknown + `,"conversion.webhookd.io/v1beta1.spec.a":"{\"value\":\"a\\\"\"}"}`,
			keeps: true, kept: []string{"conversion.webhookd.io/v1beta1.spec.a"},
		},
		{
			name:        "several",
			annotations: `{"conversion.webhookd.io/v1beta1":"{}","status.conversion.webhookd.io/v1beta1.status.b":"\u007b}",` + unknown + `}`,
			keeps:       true, kept: []string{"conversion.webhookd.io/v1beta1", "status.conversion.webhookd.io/v1beta1.status.b"},
		},
		{
			name: "of other versions", annotations: `{"conversion.webhookd.io/v1beta12.spec.a":"1","status.conversion.webhookd.io/v1":"2"}`,
			kept: []string{"conversion.webhookd.io/v1beta12.spec.a", "status.conversion.webhookd.io/v1"},
		},
		{
			name: "a name with escapes", annotations: `{"conv\u0065rsion.webhookd.io\/v1beta1.spec.a":"1"}`,
			keeps: true, kept: []string{"conversion.webhookd.io/v1beta1.spec.a"},
		},
		{name: "no string", annotations: `{"conversion.webhookd.io/v1beta1.spec.a":{}}`, keeps: true, kept: []string{"conversion.webhookd.io/v1beta1.spec.a"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			obj := annotated(t, test.annotations)
			r := converters.Report{UnknownFields: true, KeptBytes: 1, AnnotationBytes: 1}
			keeps, err := r.Measure(obj, "v1beta1")
			if err != nil {
				t.Fatal(err)
			}
			var decoded map[string]any
			if err := json.Unmarshal([]byte(test.annotations), &decoded); err != nil {
				t.Fatal(err)
			}
			size := func(name string) int {
				value, _ := decoded[name].(string)
				return len(name) + len(value)
			}
			want := converters.Report{UnknownFields: true}
			for _, name := range test.kept {
				want.KeptBytes += size(name)
			}
			for name := range decoded {
				if len(test.kept) > 0 {
					want.AnnotationBytes += size(name)
				}
			}
			if diff := cmp.Diff(want, r); diff != "" || keeps != test.keeps {
				t.Errorf("keeps of v1beta1: %t (-want +got):\n%s", keeps, diff)
			}
		})
	}
}

// Measuring ignores an object with untouched metadata, and allocates nothing for others.
func TestMeasuringAllocatesNothing(t *testing.T) {
	obj := annotated(t, `{"conversion.webhookd.io/v1.spec.a":"{\"value\":\"`+strings.Repeat(`\\n`, 1000)+`\"}"}`)
	var r converters.Report
	if n := testing.AllocsPerRun(100, func() {
		if _, err := r.Measure(obj, "v1"); err != nil {
			t.Fatal(err)
		}
	}); n > 0 || r.KeptBytes < 2000 {
		t.Errorf("%v allocations, want 0; %d bytes are kept", n, r.KeptBytes)
	}
	untouched := parse(t, `{"metadata":{"annotations":{"conversion.webhookd.io/v1.spec.a":"{}"}}}`)
	if keeps, err := r.Measure(untouched, "v1"); keeps || r.KeptBytes != 0 || err != nil {
		t.Errorf("untouched: %t, %+v, %v", keeps, r, err)
	}
}

// annotated returns an object to which a conversion has added these annotations.
func annotated(t *testing.T, annotations string) *jsondoc.Object {
	t.Helper()
	obj := parse(t, `{"metadata":{"name":"a"}}`)
	value, err := jsondoc.RawValue([]byte(annotations))
	if err != nil {
		t.Fatal(err)
	}
	if err := obj.Set(value, "metadata", "annotations"); err != nil {
		t.Fatal(err)
	}
	return obj
}
