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
		"outside the request": {
			[]byte(`{"x":0` + more(200_000) + "," + string(request(ordinary(4_000)))[1:]), http.StatusTooManyRequests, http.StatusTooManyRequests, 0, budget,
		},
		"not summed over objects": {request(dense(10_000), dense(10_000), dense(10_000), dense(10_000)), http.StatusTooManyRequests, http.StatusOK, 1, 1 << 20},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var reviews int
			var spent int64
			h := review.NewHandler(newReviewer(t, readAll, review.Hooks{
				ReviewDone: func(context.Context, review.Result) { reviews++ },
				Reserve: func(_ context.Context, bytes int64) error {
					if spent += bytes; spent > budget {
						return tt.say
					}
					return nil
				},
			}))
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(string(tt.body))))
			if w.Code != tt.code || reviews != tt.reviews || spent < tt.least {
				t.Errorf("code %d, want %d; %d reviews reported, want %d; %d bytes asked for, want %d",
					w.Code, tt.code, reviews, tt.reviews, spent, tt.least)
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
	deaf := func(_ context.Context, obj *jsondoc.Object, _, _ string) error {
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
	body := request(widget(`"spec":[` + strings.Repeat("0,", 50_000) + "0]"))
	h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(string(body))))
	if w.Code != http.StatusTooManyRequests {
		t.Errorf("code %d: %s", w.Code, w.Body)
	}
}
