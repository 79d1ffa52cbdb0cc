package review_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/internal/jsondoc"
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

// A review reserves memory that its body size does not predict, and does not start without it.
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
		asks    bool
	}{
		"an ordinary object":     {request(ordinary(4_000)), http.StatusTooManyRequests, http.StatusOK, 1, false},
		"a list of them":         {request(slices.Repeat([]string{ordinary(4_000)}, 500)...), http.StatusTooManyRequests, http.StatusOK, 1, false},
		"a large one":            {request(ordinary(100_000)), http.StatusTooManyRequests, http.StatusOK, 1, true},
		"one of many values":     {request(dense(10_000)), http.StatusTooManyRequests, http.StatusOK, 1, true},
		"of more than there may": {request(dense(100_000)), http.StatusTooManyRequests, http.StatusTooManyRequests, 0, true},
		"of more than there is":  {request(dense(100_000)), http.StatusRequestEntityTooLarge, http.StatusRequestEntityTooLarge, 0, true},
		"tiny objects":           {request("{}" + strings.Repeat(",{}", 8_000)), http.StatusTooManyRequests, http.StatusOK, 1, true},
		"very many of them":      {request("null" + strings.Repeat(",null", 100_000)), http.StatusTooManyRequests, http.StatusTooManyRequests, 0, true},
		"a long text":            {request(widget(`"metadata":{"name":"a"},"spec":"` + strings.Repeat("a", 9<<20) + `"`)), http.StatusTooManyRequests, http.StatusTooManyRequests, 0, true},
		"outside the request": {
			[]byte(`{"x":0` + more(200_000) + "," + string(request(ordinary(4_000)))[1:]), http.StatusTooManyRequests, http.StatusTooManyRequests, 0, true,
		},
		"not summed over objects": {request(dense(10_000), dense(10_000), dense(10_000), dense(10_000)), http.StatusTooManyRequests, http.StatusOK, 1, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var reviews int
			var spent int64
			asked := false
			h := review.NewHandler(newReviewer(t, nothing, review.Hooks{
				ReviewDone: func(context.Context, review.Result) { reviews++ },
				Reserve: func(_ context.Context, bytes int64) error {
					asked = true
					if spent += bytes; spent > budget {
						return tt.say
					}
					return nil
				},
			}))
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(string(tt.body))))
			if w.Code != tt.code || reviews != tt.reviews || asked != tt.asks {
				t.Errorf("code %d, want %d; %d reviews reported, want %d; memory asked for: %t, want %t",
					w.Code, tt.code, reviews, tt.reviews, asked, tt.asks)
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
