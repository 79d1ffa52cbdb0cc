package review_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/review"
)

// A shortage is an error with an HTTP code.
type shortage int

func (shortage) Error() string     { return "no memory" }
func (r shortage) StatusCode() int { return int(r) }

// ordinary returns an object of about size bytes.
func ordinary(size int) string {
	variable := `{"name":"VARIABLE","value":"a text of some length, as they are"}`
	return widget(`"metadata":{"name":"a"}`, `"spec":{"env":[`+strings.Repeat(variable+",", size/len(variable))+variable+"]}")
}

// more returns n members, each after a comma.
func more(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(`,"m` + strconv.Itoa(i) + `":0`)
	}
	return b.String()
}

// readAll reads everything in the spec.
func readAll(_ context.Context, obj *jsondoc.Object, _, _ string) error {
	spec, err := obj.Get("spec")
	if err != nil || spec == nil {
		return err
	}
	var inside error
	err = spec.Each(func(_ string, n *jsondoc.Node) bool {
		inside = n.Each(func(string, *jsondoc.Node) bool { return true })
		return inside == nil
	})
	return errors.Join(err, inside)
}

// A review reserves memory as it takes it, and for its answer.
func TestReserve(t *testing.T) {
	t.Parallel()
	const budget = 8 << 20
	dense := func(values int) string {
		return widget(`"metadata":{"name":"a"},"spec":[` + strings.Repeat("{},", values) + "{}]")
	}
	tests := map[string]struct {
		body    []byte
		say     shortage // error when the budget is spent
		code    int
		reviews int
		least   int64 // bytes asked for
	}{
		"an ordinary object":     {request(ordinary(4_000)), http.StatusTooManyRequests, http.StatusOK, 1, 4_000},
		"a list of them":         {request(slices.Repeat([]string{ordinary(4_000)}, 500)...), http.StatusTooManyRequests, http.StatusOK, 1, 50_000},
		"one of many values":     {request(dense(10_000)), http.StatusTooManyRequests, http.StatusOK, 1, 1 << 20},
		"of more than there may": {request(dense(100_000)), http.StatusTooManyRequests, http.StatusTooManyRequests, 0, budget},
		"of more than there is":  {request(dense(100_000)), http.StatusRequestEntityTooLarge, http.StatusRequestEntityTooLarge, 0, budget},
		"tiny objects":           {request("{}" + strings.Repeat(",{}", 8_000)), http.StatusTooManyRequests, http.StatusOK, 1, 1 << 20},
		"very many of them":      {request("null" + strings.Repeat(",null", 100_000)), http.StatusTooManyRequests, http.StatusTooManyRequests, 0, budget},
		"one of many members":    {request(widget(`"metadata":{}` + more(200_000))), http.StatusTooManyRequests, http.StatusTooManyRequests, 0, budget},
		"outside the request": {
			[]byte(`{"x":0` + more(200_000) + "," + string(request(ordinary(4_000)))[1:]), http.StatusTooManyRequests, http.StatusTooManyRequests, 0, budget,
		},
		"not summed over objects": {request(dense(10_000), dense(10_000), dense(10_000), dense(10_000)), http.StatusTooManyRequests, http.StatusOK, 1, 1 << 20},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var reviews, refusals int
			var spent int64
			h := review.NewHandler(newReviewer(t, readAll, review.Hooks{
				ReviewDone: func(context.Context, review.Result) { reviews++ },
				Reserve: func(ctx context.Context, bytes int64) error {
					if spent += bytes; spent > budget {
						refusals++
						return tt.say
					}
					return ctx.Err()
				},
			}))
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(string(tt.body))))
			if w.Code != tt.code || reviews != tt.reviews || spent < tt.least || refusals != 1-tt.reviews {
				t.Errorf("code %d, want %d; %d reviews reported, want %d; %d bytes asked for, want %d; refused %d times",
					w.Code, tt.code, reviews, tt.reviews, spent, tt.least, refusals)
			}
			if retry := w.Header().Get("Retry-After"); (retry != "") != (w.Code == http.StatusTooManyRequests) {
				t.Errorf("code %d with Retry-After %q", w.Code, retry)
			}
		})
	}
}

// A converter that ignores a failed reservation does not get an answer through.
func TestReserveCannotBeIgnored(t *testing.T) {
	t.Parallel()
	converted := 0
	deaf := func(_ context.Context, obj *jsondoc.Object, _, _ string) error {
		converted++
		spec, _ := obj.Get("spec")
		_ = spec.Each(func(string, *jsondoc.Node) bool { return true })
		return nil
	}
	h := review.NewHandler(newReviewer(t, deaf, review.Hooks{
		Reserve: func(_ context.Context, bytes int64) error {
			if bytes < 1<<20 {
				return shortage(http.StatusTooManyRequests)
			}
			return nil
		},
	}))
	w := httptest.NewRecorder()
	body := request(widget(`"spec":[`+strings.Repeat("0,", 50_000)+"0]"), named("b"))
	h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(string(body))))
	if w.Code != http.StatusTooManyRequests || converted != 1 {
		t.Errorf("code %d, %d objects converted: %s", w.Code, converted, w.Body)
	}
}

// Before each object that is large, or comes after a large one, its turn is asked for, but not
// before one of the same size. Without it the review fails.
func TestHeavyObjectsTakeTurns(t *testing.T) {
	t.Parallel()
	sized := func(size int) string {
		return widget(`"metadata":{}`, `"spec":"`+strings.Repeat("x", size-len(widget(`"metadata":{}`, `"spec":""`)))+`"`)
	}
	const large, least = 100 << 10, 64<<10 + 1
	body := request(sized(least-1), sized(large), sized(large), sized(least), sized(100), sized(100))
	open := make(chan struct{})
	close(open)
	registry, err := converters.NewRegistry(converters.Kind{
		GroupKind: schema.GroupKind{Group: "example.com", Kind: "Widget"},
		Hub:       "v1", Versions: []string{"v1beta1", "v1"}, Converter: interruptible{open},
	})
	if err != nil {
		t.Fatal(err)
	}
	without := review.NewReviewer(func() *converters.Registry { return registry }, review.Hooks{})
	if got := ask(t, without, body); got.status != "Success" {
		t.Errorf("without a hook: %+v", got)
	}
	for _, refused := range []int64{-1, least} {
		var asked []int64
		r := review.NewReviewer(func() *converters.Registry { return registry }, review.Hooks{Heavy: func(ctx context.Context, n int64) error {
			if asked = append(asked, n); n == refused {
				return shortage(http.StatusTooManyRequests)
			}
			return ctx.Err()
		}})
		want, code := []int64{large, least, 0}, http.StatusOK
		if refused > 0 {
			want, code = []int64{large, least}, http.StatusTooManyRequests
		}
		for range 2 {
			asked = nil
			w := httptest.NewRecorder()
			review.NewHandler(r).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(string(body))))
			if diff := cmp.Diff(want, asked); diff != "" || w.Code != code {
				t.Errorf("code %d, want %d; asked (-want +got):\n%s", w.Code, code, diff)
			}
		}
	}
}
