package conformance_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crdconvert/webhookd/conversion"
	"github.com/crdconvert/webhookd/conversion/webhook"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/laws/conformance"
	"github.com/crdconvert/webhookd/internal/review/reviewclient"
	"github.com/crdconvert/webhookd/internal/schema/apiserver"
)

const crd = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: boxes.example.com}
spec:
  group: example.com
  names: {kind: Box, plural: boxes}
  scope: Namespaced
  versions:
  - name: v1alpha1
    served: true
    storage: false
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, required: [host], properties: {
      host: {type: string}, size: {type: integer}, tags: {type: array, items: {type: string}}}}}}}
  - name: v1beta1
    served: true
    storage: false
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, required: [host], properties: {
      host: {type: string}, count: {type: integer}, tags: {type: array, items: {type: string}}, note: {type: string}}}}}}
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, required: [host], properties: {
      host: {type: string}, replicas: {type: integer}, tags: {type: array, items: {type: string}}, note: {type: string}}}}}}
`

// number is the field of each version that has the number.
func number(version string) string {
	return map[string]string{"v1alpha1": "size", "v1beta1": "count", "v1": "replicas"}[version]
}

// handler is a webhook of webhookd.
func handler(t *testing.T) http.Handler {
	t.Helper()
	kind := conversion.Must(conversion.Lossless(conversion.Func(func(_ context.Context, obj *conversion.Object, from, to string) error {
		_, err := obj.Rename([]string{"spec", number(from)}, []string{"spec", number(to)})
		return err
	}), []byte(crd)))
	registry, err := conversion.NewRegistry(kind)
	if err != nil {
		t.Fatal(err)
	}
	h, err := webhook.New(registry, webhook.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// run returns the results of all checks of a webhook.
func run(t *testing.T, post func(context.Context, []byte) ([]byte, error)) []conformance.Result {
	t.Helper()
	crds, err := apiserver.Parse("crd.yaml", []byte(crd))
	if err != nil {
		t.Fatal(err)
	}
	results, err := conformance.Suite{CRD: crds[0], Seed: 1, Objects: 12, Post: post}.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return results
}

// direct calls a webhook without a network.
func direct(of http.Handler) func(context.Context, []byte) ([]byte, error) {
	return func(ctx context.Context, review []byte) ([]byte, error) {
		r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/", nil)
		r.Header.Set("Content-Type", "application/json")
		w := answered(of, r, review)
		if w.Code != http.StatusOK {
			return nil, &reviewclient.StatusError{Code: w.Code, Message: w.Body.String()}
		}
		return w.Body.Bytes(), nil
	}
}

// webhookd is what others are held to.
func TestWebhookdPasses(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(handler(t))
	defer server.Close()
	for _, result := range run(t, func(ctx context.Context, review []byte) ([]byte, error) {
		return reviewclient.Post(ctx, server.Client(), server.URL, review)
	}) {
		if result.Failed > 0 || result.Untested != "" || result.Objects == 0 {
			t.Errorf("%s: %d of %d fail: %s %v", result.Name, result.Failed, result.Objects, result.Untested, result.First)
		}
	}
}

// Every check fails for a webhook with its fault, and no other check does unless the fault is its
// own, too.
func TestChecksFindFaults(t *testing.T) {
	t.Parallel()
	tested := map[string]bool{}
	for _, test := range []struct {
		name  string
		fault func(next http.Handler) http.Handler
		fails []string
		says  string // of the first
	}{
		{
			"answer of another kind", edited(func(_, answer object) { answer["kind"] = "Review" }),
			[]string{"review"},
			`answer is of apiVersion "apiextensions.k8s.io/v1" and kind "Review"`,
		},
		{
			"always the same uid", edited(func(_, answer object) { answer.at("response")["uid"] = "1" }),
			[]string{"uid", "v1beta1"},
			`uid is "1"`,
		},
		{
			"apiVersion is not changed", edited(func(review, answer object) {
				for i, o := range objectsOf(answer) {
					if sent, _ := review.at("request")["objects"].([]any); len(sent) > i {
						o["apiVersion"] = object(sent[i].(map[string]any))["apiVersion"]
					}
				}
			}), []string{"version"}, "object is of apiVersion example.com/v1alpha1",
		},
		{
			"object without a uid", edited(func(_, answer object) {
				for _, o := range objectsOf(answer) {
					delete(o.at("metadata"), "uid")
				}
			}), []string{"metadata"}, "metadata.uid is absent",
		},
		{
			"label that is no label", edited(func(_, answer object) {
				for _, o := range objectsOf(answer) {
					o.at("metadata")["labels"] = map[string]any{"from": "example.com/v1"}
				}
			}), []string{"metadata", "round trip", "edits"}, "label or annotation that kube-apiserver refuses",
		},
		{
			"objects from the last to the first", edited(func(_, answer object) {
				all, _ := answer.at("response")["convertedObjects"].([]any)
				slices.Reverse(all)
			}), []string{"order", "mixed versions"}, "object 1 of",
		},
		{
			"objects of one version only", refusing(func(review object) bool {
				versions := map[any]bool{}
				objects, _ := review.at("request")["objects"].([]any)
				for _, o := range objects {
					versions[object(o.(map[string]any))["apiVersion"]] = true
				}
				return len(versions) > 1
			}), []string{"mixed versions"}, "a review of",
		},
		{
			"needs an object", refusing(func(review object) bool {
				objects, _ := review.at("request")["objects"].([]any)
				return len(objects) == 0
			}), []string{"empty list"}, "HTTP 422",
		},
		{
			"answers v1 always", edited(func(_, answer object) { answer["apiVersion"] = "apiextensions.k8s.io/v1" }),
			[]string{"v1beta1"},
			`answer is of apiVersion "apiextensions.k8s.io/v1"`,
		},
		{
			"answers any version", anyVersion,
			[]string{"unknown review version"},
			"is answered with Success",
		},
		{
			"counts", counting(), []string{"order", "mixed versions", "repeat", "concurrency"}, "object 1 of",
		},
		{
			"one at a time", oneAtATime(), []string{"concurrency"}, "with 8 reviews at the same time",
		},
		{
			"needs a host", refusing(func(review object) bool {
				objects, _ := review.at("request")["objects"].([]any)
				return slices.ContainsFunc(objects, func(o any) bool {
					spec, ok := o.(map[string]any)["spec"].(map[string]any)
					return ok && spec["host"] == nil
				})
			}), []string{"fragments"}, "HTTP 422",
		},
		{
			"numbers are floats", floats, []string{"large numbers"}, "9007199254740992",
		},
		{
			"field that the schema does not have", edited(func(_, answer object) {
				for _, o := range objectsOf(answer) {
					if spec, ok := o["spec"].(map[string]any); ok {
						spec["extra"] = "x"
					}
				}
			}), []string{"fragments", "schema"}, ".spec",
		},
		{
			"value of another type", edited(func(_, answer object) {
				for _, o := range objectsOf(answer) {
					if o["apiVersion"] == "example.com/v1" && o.at("spec")["note"] == nil {
						o.at("spec")["note"] = 1
					}
				}
			}), []string{"fragments", "schema", "round trip", "edits"}, "",
		},
		{
			"forgets the tags", edited(forget), []string{"round trip", "edits"}, ".spec.tags",
		},
		{
			"keeps the object, and forgets edits", restoring, []string{"edits"}, ".spec",
		},
	} {
		for _, check := range test.fails {
			tested[check] = true
		}
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var failed []string
			var first string
			for _, result := range run(t, direct(test.fault(handler(t)))) {
				if result.Failed > 0 {
					failed = append(failed, result.Name)
					if first == "" {
						first = result.First.Problem
					}
				}
			}
			if diff := cmp.Diff(test.fails, failed); diff != "" {
				t.Errorf("(-want +got):\n%s\nfirst: %s", diff, first)
			}
			if !strings.Contains(first, test.says) {
				t.Errorf("the first says %q, want %q", first, test.says)
			}
		})
	}
	for _, name := range conformance.Names() {
		if !tested[name] {
			t.Errorf("no webhook has a fault for the check %q", name)
		}
	}
}

// What is printed is about the fault and nothing else.
func TestObjectsAreMadeSmaller(t *testing.T) {
	t.Parallel()
	for _, result := range run(t, direct(edited(forget)(handler(t)))) {
		if result.Name == "round trip" {
			const want = `{"apiVersion":"example.com/v1","kind":"Box","spec":{"host":"","tags":[]}}`
			if got := string(result.First.Object); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		}
	}
}

// forget drops the tags.
func forget(_, answer object) {
	for _, o := range objectsOf(answer) {
		if spec, ok := o["spec"].(map[string]any); ok {
			delete(spec, "tags")
		}
	}
}

type object map[string]any

// at returns the object in a member, and makes it where there is none.
func (o object) at(name string) object {
	in, ok := o[name].(map[string]any)
	if !ok {
		in = map[string]any{}
		o[name] = in
	}
	return in
}

func objectsOf(answer object) []object {
	all, _ := answer.at("response")["convertedObjects"].([]any)
	objects := make([]object, len(all))
	for i, o := range all {
		objects[i], _ = o.(map[string]any)
	}
	return objects
}

func decode(text []byte) object {
	v, _ := jsondoc.Decode(text, true)
	o, _ := v.(map[string]any)
	return o
}

func bodyOf(r *http.Request) []byte {
	text, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(text))
	return text
}

// answered returns the answer of another handler to a body.
func answered(next http.Handler, r *http.Request, body []byte) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	r.Body = io.NopCloser(bytes.NewReader(body))
	r.ContentLength = int64(len(body))
	next.ServeHTTP(w, r)
	return w
}

// edited changes each answer.
func edited(edit func(review, answer object)) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body := bodyOf(r)
			inner := answered(next, r, body)
			answer := decode(inner.Body.Bytes())
			if answer["kind"] == "ConversionReview" {
				edit(decode(body), answer)
			}
			w.WriteHeader(inner.Code)
			_ = json.NewEncoder(w).Encode(answer)
		})
	}
}

// refusing refuses some reviews.
func refusing(refuses func(review object) bool) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if refuses(decode(bodyOf(r))) {
				http.Error(w, "no", http.StatusUnprocessableEntity)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

// anyVersion answers in whatever version it is asked in.
func anyVersion(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		review := decode(bodyOf(r))
		version := review["apiVersion"]
		review["apiVersion"] = "apiextensions.k8s.io/v1"
		body, _ := json.Marshal(review)
		answer := decode(answered(next, r, body).Body.Bytes())
		answer["apiVersion"] = version
		_ = json.NewEncoder(w).Encode(answer)
	})
}

// counting writes a number into each object.
func counting() func(http.Handler) http.Handler {
	var n atomic.Uint64
	return edited(func(_, answer object) {
		for _, o := range objectsOf(answer) {
			o.at("metadata").at("annotations")["count"] = fmt.Sprint(n.Add(1))
		}
	})
}

// oneAtATime refuses a review while it answers another one.
func oneAtATime() func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		var busy atomic.Int64
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body := bodyOf(r)
			defer busy.Add(-1)
			if busy.Add(1) > 1 {
				http.Error(w, "busy", http.StatusServiceUnavailable)
				return
			}
			inner := answered(next, r, body)
			for range 1000 {
				runtime.Gosched() // the other calls come while it is busy
			}
			w.WriteHeader(inner.Code)
			_, _ = w.Write(inner.Body.Bytes())
			_ = http.NewResponseController(w).Flush()
		})
	}
}

// floats reads each number as a float64.
func floats(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		inner := answered(next, r, bodyOf(r))
		var answer map[string]any
		_ = json.Unmarshal(inner.Body.Bytes(), &answer)
		w.WriteHeader(inner.Code)
		_ = json.NewEncoder(w).Encode(answer)
	})
}

// restoring keeps each object in an annotation, and takes it from there whatever has changed since.
func restoring(next http.Handler) http.Handler {
	return edited(func(review, answer object) {
		sent, _ := review.at("request")["objects"].([]any)
		for i, o := range objectsOf(answer) {
			source := object(maps.Clone(sent[i].(map[string]any)))
			annotations := o.at("metadata").at("annotations")
			name := strings.ReplaceAll(fmt.Sprint("kept/", o["apiVersion"]), "example.com/", "")
			if text, ok := annotations[name].(string); ok {
				o["spec"] = map[string]any(decode([]byte(text)))
				delete(annotations, name)
			}
			if spec, ok := source["spec"]; ok {
				text, _ := json.Marshal(spec)
				annotations[strings.ReplaceAll(fmt.Sprint("kept/", source["apiVersion"]), "example.com/", "")] = string(text)
			}
		}
	})(next)
}
