package review_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/review"
)

const keptName = "conversion.webhookd.io/v1beta1.spec.a"

// noting is a converter that notes what the name of its object says.
func noting(ctx context.Context, obj *jsondoc.Object, _, _ string) error {
	node, err := obj.Get("metadata", "name")
	if err != nil {
		return err
	}
	r := converters.ReportFrom(ctx)
	switch name, _ := node.Str(); name {
	case "unknown":
		r.UnknownFields = true
	case "costly":
		r.CostLimit = true
	case "large":
		r.TooLarge = true
		return errors.New("too large")
	case "huge":
		return obj.Set(jsondoc.StringValue(strings.Repeat("x", 256<<10)), "metadata", "annotations", keptName)
	case "kept":
		return obj.Set(jsondoc.StringValue("x"), "metadata", "annotations", keptName)
	case "panics":
		r.UnknownFields = true
		panic("on purpose")
	}
	return nil
}

// The notes of a converter are reported for their object, whether it succeeds or fails, and not for
// the next one.
func TestHooksGetTheConvertersReport(t *testing.T) {
	t.Parallel()
	const alpha = `{"apiVersion":"example.com/v1alpha1","kind":"Widget","metadata":{"name":"kept","annotations":{"a":"bc"}}}`
	alphaPair := review.Pair{Kind: known().Kind, From: "v1alpha1", To: "v1"}
	type reported struct {
		Kind string
		Pair review.Pair
	}
	for name, tt := range map[string]struct {
		objects []string
		batches []review.Objects // without durations
		unknown []reported
	}{
		"nothing":           {[]string{named("a")}, []review.Objects{{Pair: known()}}, nil},
		"unknown fields":    {[]string{named("unknown")}, []review.Objects{{Pair: known()}}, []reported{{known().Kind, known()}}},
		"once for a run":    {[]string{named("unknown"), named("a"), named("unknown")}, []review.Objects{{Pair: known()}}, []reported{{known().Kind, known()}}},
		"of the other pair": {[]string{named("unknown"), alpha}, []review.Objects{{Pair: known()}, {Pair: alphaPair, Kept: []review.Kept{{Bytes: len(keptName) + 1, Annotations: len(keptName) + 4}}}}, []reported{{known().Kind, known()}}},
		"and a panic":       {[]string{named("panics"), named("a")}, []review.Objects{{Pair: known(), Failed: 1}}, []reported{{known().Kind, known()}}},
		"cost limits":       {[]string{named("costly"), named("a"), named("costly")}, []review.Objects{{Pair: known(), CostLimited: 2}}, nil},
		"too large": {
			[]string{named("large"), named("a"), named("huge"), named("large"), `{}`},
			[]review.Objects{{Pair: known(), Failed: 3, TooLarge: 3}, {Pair: review.Pair{Kind: review.Unknown, From: review.Unknown, To: review.Unknown}, Failed: 1}},
			nil,
		},
		"kept": {
			[]string{named("kept"), named("a"), widget(`"metadata":{"name":"kept","annotations":{"b":"cd","conversion.webhookd.io/v9.a":"{}"}}`)},
			[]review.Objects{{Pair: known(), WithKept: 2, Kept: []review.Kept{
				{Bytes: len(keptName) + 1, Annotations: len(keptName) + 1},
				{Bytes: len(keptName) + 1 + len("conversion.webhookd.io/v9.a{}"), Annotations: len(keptName) + 4 + len("conversion.webhookd.io/v9.a{}")},
			}}},
			nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got record
			var unknown []reported
			hooks := got.hooks()
			hooks.UnknownFields = func(kind *converters.Kind, pair review.Pair) { unknown = append(unknown, reported{kind.Name(), pair}) }
			if _, err := newReviewer(t, noting, hooks).Review(t.Context(), nil, request(tt.objects...)); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.batches, got.Batches, cmpopts.IgnoreFields(review.Objects{}, "Durations"), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("objects (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.unknown, unknown); diff != "" {
				t.Errorf("unknown fields (-want +got):\n%s", diff)
			}
		})
	}
}
