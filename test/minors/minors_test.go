// Package minors_test builds the library with the oldest minor of Kubernetes' modules that it is
// for, as a manager does that replaces them in its go.mod.
package minors_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/conversion"
	"github.com/crdconvert/webhookd/conversion/webhook"
	"github.com/crdconvert/webhookd/examples/crds"
	"github.com/crdconvert/webhookd/examples/custom-server/crontab"
	"github.com/crdconvert/webhookd/examples/custom-server/database"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const oldest = "v0.32."

func TestTheOldestMinorIsBuiltIn(t *testing.T) {
	t.Parallel()
	info, ok := debug.ReadBuildInfo()
	if !ok {
		t.Fatal("no build info")
	}
	for _, module := range info.Deps {
		if module.Replace != nil && strings.HasPrefix(module.Path, "k8s.io/") && !strings.HasPrefix(module.Replace.Version, oldest) {
			t.Errorf("%s is %s, want %sx", module.Path, module.Replace.Version, oldest)
		}
	}
}

// rename is a converter over unstructured objects, of the CRD whose versions differ in one field.
func rename(_ context.Context, u *unstructured.Unstructured, from, _ string) error {
	old, current := "backup", "schedule"
	if from == "v1" {
		old, current = current, old
	}
	value, found, err := unstructured.NestedFieldCopy(u.Object, "spec", old)
	if err != nil || !found {
		return err
	}
	unstructured.RemoveNestedField(u.Object, "spec", old)
	return unstructured.SetNestedField(u.Object, value, "spec", current)
}

// Each object goes through the handler to another version and back, and comes back as it was.
func TestNothingIsLost(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		kind   conversion.Kind
		object string
		to     string
	}{
		"text": {
			conversion.Must(crontab.Kind(crds.CronTabs, "v1beta1")),
			`{"apiVersion":"example.com/v1beta1","kind":"CronTab","metadata":{"name":"a"},"big":9007199254740993,"hostPort":"no port"}`, "v1",
		},
		"types": {
			conversion.Must(database.Kind(crds.Databases)),
			`{"apiVersion":"example.com/v1","kind":"Database","metadata":{"name":"a"},"spec":{"engine":"e","backupPolicy":{"schedule":"@daily","retentionDays":7}}}`, "v1alpha1",
		},
		"unstructured": {
			conversion.Must(conversion.Lossless(conversion.FromUnstructured(rename), crds.Databases)),
			`{"apiVersion":"example.com/v1","kind":"Database","metadata":{"name":"a"},"spec":{"ratio":1.10,"schedule":"@daily"}}`, "v1alpha1",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			registry, err := conversion.NewRegistry(test.kind)
			if err != nil {
				t.Fatal(err)
			}
			handler, err := webhook.New(registry, webhook.Options{})
			if err != nil {
				t.Fatal(err)
			}
			obj, err := conversion.ParseObject([]byte(test.object))
			if err != nil {
				t.Fatal(err)
			}
			apiVersion, err := obj.Get("apiVersion")
			if err != nil {
				t.Fatal(err)
			}
			from, _ := apiVersion.Text()
			there := convert(t, handler, test.object, test.kind.Group+"/"+test.to)
			if there == test.object {
				t.Errorf("not converted: %s", there)
			}
			if diff := cmp.Diff(test.object, convert(t, handler, there, from)); diff != "" {
				t.Errorf("round trip (-want +got):\n%s", diff)
			}
		})
	}
}

// convert returns an object that a handler converts to an apiVersion.
func convert(t *testing.T, handler http.Handler, object, to string) string {
	t.Helper()
	body := `{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","request":{"uid":"u","desiredAPIVersion":"` +
		to + `","objects":[` + object + `]}}`
	request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/convert?timeout=10s", strings.NewReader(body))
	request.Header.Set("Content-Type", "application/json")
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, request)
	text, err := io.ReadAll(recorder.Body)
	if err != nil {
		t.Fatal(err)
	}
	var review struct {
		Response struct {
			ConvertedObjects []json.RawMessage `json:"convertedObjects"`
		} `json:"response"`
	}
	if err := json.Unmarshal(text, &review); err != nil || len(review.Response.ConvertedObjects) != 1 {
		t.Fatalf("no object in the response: %s %v", text, err)
	}
	return string(review.Response.ConvertedObjects[0])
}
