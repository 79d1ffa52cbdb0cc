package clusterapi

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/crdconvert/webhookd/contrib/controllerruntime"
	"github.com/crdconvert/webhookd/internal/converters/keep/annotation"
	"github.com/crdconvert/webhookd/internal/laws/generate"
	"github.com/crdconvert/webhookd/internal/review/reviewclient"
	"github.com/crdconvert/webhookd/internal/schema/apiserver"
	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilconversion "sigs.k8s.io/cluster-api/util/conversion"
	crwebhook "sigs.k8s.io/controller-runtime/pkg/webhook/conversion"
)

const objects = 15 // of each version

// A Go client reads the same in webhookd's answers as in those of controller-runtime's own handler.
func TestAnswersAreThoseOfControllerRuntime(t *testing.T) {
	t.Parallel()
	scheme := newScheme(t)
	theirs := crwebhook.NewWebhookHandler(scheme, crwebhook.NewRegistry())
	for plural, text := range crds(t, scheme, ".") {
		t.Run(plural, func(t *testing.T) {
			t.Parallel()
			ours, err := controllerruntime.Handler(scheme, nil, text)
			if err != nil {
				t.Fatal(err)
			}
			all, err := apiserver.Parse("crd", text)
			if err != nil {
				t.Fatal(err)
			}
			crd, compared := all[0], 0
			for _, from := range crd.Versions {
				generator, err := generate.NewGenerator(from, nil)
				if err != nil {
					t.Fatal(err)
				}
				for i := range uint64(objects) {
					object := generator.Object(1, i)
					for _, to := range crd.VersionNames() {
						if object == nil || to == from.Name {
							continue
						}
						review := reviewclient.Request("v1", "u", crd.Group+"/"+to, object)
						theirs, ours := answer(t, theirs, review), answer(t, ours, review)
						if theirs == nil || ours == nil {
							if (theirs == nil) != (ours == nil) {
								t.Fatalf("%s -> %s: one refuses it: %s", from.Name, to, object)
							}
							continue
						}
						want, got := seen(t, scheme, theirs), seen(t, scheme, ours)
						if diff := cmp.Diff(want, got); diff != "" {
							t.Fatalf("%s -> %s: %s\n%s", from.Name, to, diff, object)
						}
						compared++
					}
				}
			}
			if compared < objects {
				t.Errorf("only %d objects are compared", compared)
			}
		})
	}
}

// answer returns the only object of a handler's answer, or nil if that is a failure.
func answer(t *testing.T, handler http.Handler, review []byte) []byte {
	t.Helper()
	w, req := httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/convert", bytes.NewReader(review))
	req.Header.Set("Content-Type", "application/json")
	handler.ServeHTTP(w, req)
	res := &apiextensionsv1.ConversionReview{}
	if err := json.Unmarshal(w.Body.Bytes(), res); err != nil || res.Response == nil {
		t.Fatalf("%v: %.2000s", err, w.Body)
	}
	if len(res.Response.ConvertedObjects) == 0 {
		return nil
	}
	return res.Response.ConvertedObjects[0].Raw
}

// seen returns what a Go client reads of an object, without webhookd's annotations and without zero
// values: webhookd adds none that the source lacks.
func seen(t *testing.T, scheme *runtime.Scheme, text []byte) any {
	t.Helper()
	obj, _, err := crwebhook.NewDecoder(scheme).Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	meta := obj.(metav1.Object) //nolint:forcetypeassert // a custom resource
	annotations := meta.GetAnnotations()
	maps.DeleteFunc(annotations, func(name, _ string) bool { return annotation.IsOwn(name) })
	if data, found := annotations[utilconversion.DataAnnotation]; found {
		annotations[utilconversion.DataAnnotation] = withoutKind(t, data)
	}
	text, err = json.Marshal(obj)
	if err != nil {
		t.Fatal(err)
	}
	decoder, tree := json.NewDecoder(bytes.NewReader(text)), any(nil)
	decoder.UseNumber()
	if err := decoder.Decode(&tree); err != nil {
		t.Fatal(err)
	}
	return withoutZeros(tree)
}

// withoutKind returns what Cluster API keeps of an object, without its kind: from spoke to spoke
// controller-runtime's hub has none.
func withoutKind(t *testing.T, data string) string {
	t.Helper()
	var kept map[string]any
	if err := json.Unmarshal([]byte(data), &kept); err != nil {
		t.Fatal(err)
	}
	delete(kept, "apiVersion")
	delete(kept, "kind")
	text, err := json.Marshal(kept)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// withoutZeros removes members that are zero values, and returns nil for a zero value.
func withoutZeros(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			if v[name] = withoutZeros(member); v[name] == nil {
				delete(v, name)
			}
		}
		if len(v) == 0 {
			return nil
		}
	case []any:
		for i := range v {
			v[i] = withoutZeros(v[i])
		}
		if len(v) == 0 {
			return nil
		}
	case bool, string, json.Number:
		if v == false || v == "" || v == json.Number("0") {
			return nil
		}
	}
	return v
}
