package review_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/review"
)

// A record has the calls of the hooks.
type record struct {
	mu      sync.Mutex
	Results []review.Result
	Batches []review.Objects
	Refused []refusal
	Panics  []review.Panic
}

type refusal struct {
	Pair review.Pair
	Path string
}

func (r *record) hooks() review.Hooks {
	locked := func(f func()) { r.mu.Lock(); defer r.mu.Unlock(); f() }
	return review.Hooks{
		ReviewDone: func(_ context.Context, res review.Result) { locked(func() { r.Results = append(r.Results, res) }) },
		ObjectsDone: func(o review.Objects) {
			o.Durations, o.Kept = slices.Clone(o.Durations), slices.Clone(o.Kept)
			locked(func() { r.Batches = append(r.Batches, o) })
		},
		GuardRefused: func(pair review.Pair, path string) {
			locked(func() { r.Refused = append(r.Refused, refusal{pair, path}) })
		},
		Panicked: func(_ context.Context, p review.Panic) { locked(func() { r.Panics = append(r.Panics, p) }) },
	}
}

// known returns the pair that most tests convert.
func known() review.Pair { return review.Pair{Kind: "Widget.example.com", From: "v1beta1", To: "v1"} }

// Each review is reported once, with its result; objects are reported in runs of one pair.
func TestHooks(t *testing.T) {
	t.Parallel()
	const current = `{"apiVersion":"example.com/v1","kind":"Widget"}`
	const alpha = `{"apiVersion":"example.com/v1alpha1","kind":"Widget","metadata":{"name":"bad"}}`
	alphaPair := review.Pair{Kind: "Widget.example.com", From: "v1alpha1", To: "v1"}
	nowhere := review.Pair{Kind: review.Unknown, From: review.Unknown, To: review.Unknown}
	times := func(n int) []time.Duration {
		durations := make([]time.Duration, n)
		for i := range durations {
			durations[i] = time.Second
		}
		return durations
	}
	tests := map[string]struct {
		body    []byte
		result  review.Result // without sizes and message
		batches []review.Objects
	}{
		"one":             {request(named("a")), review.Result{UID: uid, Pair: known(), Objects: 1}, []review.Objects{{Pair: known(), Durations: times(1)}}},
		"none":            {request(), review.Result{UID: uid}, nil},
		"current":         {request(current, current), review.Result{UID: uid, Objects: 2}, nil},
		"many":            {request(named("a"), named("b"), named("bad")), review.Result{UID: uid, Pair: known(), Objects: 3, Failed: 1}, []review.Objects{{Pair: known(), Failed: 1, Durations: times(3)}}},
		"current between": {request(current, named("a"), current, named("b")), review.Result{UID: uid, Pair: known(), Objects: 4}, []review.Objects{{Pair: known(), Durations: times(1)}, {Pair: known(), Durations: times(1)}}},
		"of two versions": {
			request(alpha, alpha, named("a"), alpha, named("b")),
			review.Result{UID: uid, Pair: alphaPair, Objects: 5, Failed: 3},
			[]review.Objects{{Pair: alphaPair, Failed: 2, Durations: times(2)}, {Pair: known(), Durations: times(1)}, {Pair: alphaPair, Failed: 1, Durations: times(1)}, {Pair: known(), Durations: times(1)}},
		},
		"unknown things": {
			request(`null`, `{}`, `{"apiVersion":"example.com/v1beta1","kind":"Evil"}`, `{"apiVersion":"evil.io/v1","kind":"Widget"}`),
			review.Result{UID: uid, Pair: nowhere, Objects: 4, Failed: 4},
			[]review.Objects{{Pair: nowhere, Failed: 4, Durations: make([]time.Duration, 4)}},
		},
		"unknown version": {
			request(`{"apiVersion":"example.com/evil","kind":"Widget"}`),
			review.Result{UID: uid, Pair: review.Pair{Kind: "Widget.example.com", From: review.Unknown, To: "v1"}, Objects: 1, Failed: 1},
			[]review.Objects{{Pair: review.Pair{Kind: "Widget.example.com", From: review.Unknown, To: "v1"}, Failed: 1, Durations: make([]time.Duration, 1)}},
		},
		"no target": {
			withRequest(uidPart, `"objects":[`+named("a")+`,1]`), review.Result{UID: uid, Objects: 2, Failed: 2}, nil,
		},
		"hostile uid": {
			withRequest(`"uid":"a\n{}"`, desiredPart, objectsPart), review.Result{UID: "sha256:dad1d33ac2ca7483"}, nil,
		},
		"long uid": {
			withRequest(`"uid":"`+strings.Repeat("a", 65)+`"`, desiredPart, objectsPart), review.Result{UID: "sha256:635361c48bb9eab1"}, nil,
		},
		"longest uid": {
			withRequest(`"uid":"`+strings.Repeat("A", 64)+`"`, desiredPart, objectsPart), review.Result{UID: strings.Repeat("A", 64)}, nil,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var got record
				slow := converters.Func(func(context.Context, *jsondoc.Object, string, string) error {
					<-time.After(time.Second)
					return nil
				})
				r := newReviewer(t, all(slow, failNamed), got.hooks())
				if _, err := r.Review(t.Context(), nil, request(alpha, current)); err != nil { // which must leave nothing behind
					t.Fatal(err)
				}
				got.Results, got.Batches = nil, nil
				text, err := r.Review(t.Context(), []byte("x"), tt.body)
				if err != nil {
					t.Fatal(err)
				}
				want := tt.result
				want.BytesIn, want.BytesOut = len(tt.body), len(text)-1
				want.Message = decode(t, text[1:]).message
				for _, b := range tt.batches {
					for _, d := range b.Durations {
						want.Duration += d
					}
				}
				if diff := cmp.Diff([]review.Result{want}, got.Results); diff != "" {
					t.Errorf("results (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(tt.batches, got.Batches); diff != "" {
					t.Errorf("objects (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// A rejected body is reported, too.
func TestHooksOfARejectedBody(t *testing.T) {
	t.Parallel()
	var got record
	hooks := got.hooks()
	hooks.Reserve = func(context.Context, int64) error { return shortage(http.StatusTooManyRequests) } // it needs none
	r := newReviewer(t, nothing, hooks)
	_, _ = r.Review(t.Context(), nil, request(named("a"))) // must leave nothing behind
	for body, uid := range map[string]string{
		"": "", "{": "", `{"kind":"x"}`: "",
		string(withRequest(desiredPart, `"objects":[`+named("a")+`]`)): "",
		string(withRequest(`"uid":1234`)):                              "",
		string(withRequest(`"uid":""`)):                                "",
		string(withRequest(`"uid":"` + long + `"`)):                    "sha256:",
	} {
		got.Results = nil
		text := rejected(t, r, []byte(body))
		if len(got.Results) != 1 || got.Results[0].Rejected == nil || got.Results[0].Rejected.Error() != text ||
			got.Results[0].BytesIn != len(body) || got.Results[0].BytesOut != 0 || !strings.HasPrefix(got.Results[0].UID, uid) || (uid == "") != (got.Results[0].UID == "") {
			t.Errorf("reported %+v", got.Results)
		}
	}
	if len(got.Batches) > 0 {
		t.Errorf("reported objects: %+v", got.Batches)
	}
}

// Each path that a converter must not change is reported with the pair.
func TestHooksOfTheGuard(t *testing.T) {
	t.Parallel()
	var got record
	convert := all(set(`"b"`, "metadata", "name"), set(`[]`, "metadata", "finalizers"), set(`1`, "metadata", "\x1b x"))
	ask(t, newReviewer(t, convert, got.hooks()), request(metadata(fullMeta))).wantFailed(t)
	want := []refusal{{known(), ".metadata.finalizers"}, {known(), ".metadata.name"}, {known(), `.metadata["\x1b x"]`}}
	if diff := cmp.Diff(want, got.Refused); diff != "" || got.Batches[0].TooLarge != 0 {
		t.Errorf("%d are too large; (-want +got):\n%s", got.Batches[0].TooLarge, diff)
	}
}

// Reviews that convert nothing take time as well, above all to read a rejected body.
func TestRefusedBodiesTakeTime(t *testing.T) {
	t.Parallel()
	for name, body := range map[string][]byte{
		"no JSON":   []byte(strings.Repeat("[", 100) + strings.Repeat(" ", 1<<20)),
		"no target": withRequest(uidPart, `"objects":[`+strings.Repeat(" ", 1<<20)+`]`),
	} {
		var got record
		_, _ = newReviewer(t, all(), got.hooks()).Review(t.Context(), nil, body)
		if len(got.Results) != 1 || got.Results[0].Duration <= 0 {
			t.Errorf("%s: got %+v, want one result with a duration", name, got.Results)
		}
	}
}

// New kept values are counted; a kept value of a third version that passes through is not.
func TestObjectsWithKeptValuesAreCounted(t *testing.T) {
	t.Parallel()
	keep := converters.Func(func(_ context.Context, obj *jsondoc.Object, from, _ string) error {
		name, err := obj.Get("metadata", "name")
		if err != nil {
			return err
		}
		if text, _ := name.Str(); text != "kept" {
			return obj.Set(jsondoc.StringValue("x"), "metadata", "labels", "touched")
		}
		return obj.Set(jsondoc.StringValue("{}"), "metadata", "annotations", "conversion.webhookd.io/"+from+".spec")
	})
	var got record
	r := newReviewer(t, keep, got.hooks())
	third := `{"apiVersion":"example.com/v1beta1","kind":"Widget","metadata":{"name":"c","annotations":{"conversion.webhookd.io/v9":"{}"}}}`
	if _, err := r.Review(t.Context(), nil, request(named("kept"), named("b"), third, named("kept"))); err != nil {
		t.Fatal(err)
	}
	if len(got.Batches) != 1 || got.Batches[0].WithKept != 2 || got.Batches[0].Failed != 0 {
		t.Errorf("reported objects: %+v", got.Batches)
	}
}
