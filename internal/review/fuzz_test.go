package review_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/review"
	"github.com/crdconvert/webhookd/test/helpers/convertertest"
	"github.com/crdconvert/webhookd/test/helpers/exampletest"
)

// fails turns the instruction of a text into an error or a panic.
func fails(text string) error {
	if text == "panic" {
		panic(text)
	}
	return errors.New(text)
}

// fuzzed returns a reviewer for the compiled-in kinds and Chaos.
func fuzzed(tb testing.TB) *review.Reviewer {
	tb.Helper()
	kinds := append(exampletest.Kinds(), converters.Kind{
		GroupKind: schema.GroupKind{Group: "example.com", Kind: "Chaos"},
		Hub:       "v1", Versions: []string{"v1", "v1beta1"}, Converter: convertertest.Mischief(fails),
	})
	registry, err := converters.NewRegistry(kinds...)
	if err != nil {
		tb.Fatal(err)
	}
	return review.NewReviewer(func() *converters.Registry { return registry }, (&record{}).hooks())
}

// seeds adds the goldens and the instructions for Chaos.
func seeds(f *testing.F) {
	f.Helper()
	for _, body := range goldenRequests(f) {
		f.Add(body)
	}
	for _, spec := range []string{
		`"panic"`, `"error\n\u001b[0m"`, `{"metadata":null}`, `{"metadata":{"name":"b"}}`, `{"metadata.name":"b"}`, `{"metadata.name":null}`,
		`{"metadata.labels":{"a":"b"}}`, `{"metadata.labels.a":1}`, `{"metadata.labels":[]}`, `{"metadata.annotations.a b":"c"}`,
		`{"metadata":{"finalizers":[],"labels":{},"name":"a","namespace":"n","creationTimestamp":null}}`, `{"kind":"Other"}`, `{"apiVersion":1}`,
		`{".":{"kind":"Chaos","metadata":{"name":"evil"}}}`, `{".":"text"}`, `{".":null}`, `{"metadata":"text"}`, `{"metadata.labels":{"a":"1","a":"2"}}`,
	} {
		for _, meta := range []string{``, `"metadata":null,`, `"metadata":{"name":"a","namespace":"n","labels":{"x":"y"}},`} {
			f.Add(request(fmt.Sprintf(`{"apiVersion":"example.com/v1beta1","kind":"Chaos",%s"spec":%s}`, meta, spec)))
		}
	}
}

// No body causes a panic; every answer is 200 with a review that the API server accepts, or 400
// with a Status, and the same each time.
func FuzzHandler(f *testing.F) {
	seeds(f)
	h := review.NewHandler(fuzzed(f))
	f.Fuzz(func(t *testing.T, body []byte) {
		was, first := bytes.Clone(body), []byte(nil)
		for _, length := range []int64{int64(len(body)), -1} {
			req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/crdconvert?timeout=30s", bytes.NewReader(body))
			req.ContentLength = length
			rec := httptest.NewRecorder()
			h.ServeHTTP(rec, req)
			if first == nil {
				first = rec.Body.Bytes()
			}
			if !bytes.Equal(was, body) || !bytes.Equal(first, rec.Body.Bytes()) {
				t.Fatalf("body was changed, or another answer to the same request:\n%s\n%s", first, rec.Body)
			}
			if got, want := rec.Header().Get("Content-Length"), fmt.Sprint(rec.Body.Len()); got != want {
				t.Fatalf("Content-Length is %s of %s bytes", got, want)
			}
			if got := rec.Header().Get("Content-Type"); got != "application/json" {
				t.Fatalf("Content-Type is %q", got)
			}
			switch rec.Code {
			case http.StatusOK:
				if _, err := checkAsClient(body, rec.Body.Bytes()); err != nil {
					t.Fatalf("the API server would refuse the answer: %v\n%s", err, rec.Body)
				}
			case http.StatusBadRequest:
				var status metav1.Status
				if err := json.Unmarshal(rec.Body.Bytes(), &status); err != nil || status.Kind != "Status" || status.Message == "" {
					t.Fatalf("no Status: %v %s", err, rec.Body)
				}
			default:
				t.Fatalf("HTTP %d", rec.Code)
			}
		}
	})
}
