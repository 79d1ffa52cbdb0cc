package controllerruntime_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	crwebhook "sigs.k8s.io/controller-runtime/pkg/webhook/conversion"

	"github.com/crdconvert/webhookd/contrib/controllerruntime"
	"github.com/crdconvert/webhookd/contrib/controllerruntime/internal/cronjob"
)

const workdaysV2 = `{"apiVersion":"batch.tutorial.example.com/v2","kind":"CronJob",` +
	`"metadata":{"name":"workdays","namespace":"default","uid":"u","creationTimestamp":"2026-01-02T03:04:05Z"},` +
	`"spec":{"schedule":{"minute":"*/5","dayOfWeek":"1-5"},"concurrencyPolicy":"Allow","jobTemplate":{"spec":{"template":{"spec":` +
	`{"restartPolicy":"OnFailure","containers":[{"name":"hello","image":"busybox","resources":{"limits":{"cpu":"1000m"}}}]}}}}}}`

// reviewOf returns a ConversionReview.
func reviewOf(tb testing.TB, apiVersion, to string, objects ...string) []byte {
	tb.Helper()
	raw := make([]json.RawMessage, 0, len(objects))
	for _, object := range objects {
		raw = append(raw, json.RawMessage(object))
	}
	text, err := json.Marshal(map[string]any{
		"apiVersion": apiVersion, "kind": "ConversionReview",
		"request": map[string]any{"uid": "r1", "desiredAPIVersion": cronjob.Group + "/" + to, "objects": raw},
	})
	if err != nil {
		tb.Fatal(err)
	}
	return text
}

// post returns the answer to a review.
func post(t *testing.T, client *http.Client, url string, review []byte) *apiextensionsv1.ConversionReview {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, bytes.NewReader(review))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	answer := &apiextensionsv1.ConversionReview{}
	if err := json.Unmarshal(text, answer); err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%s: %v: %s", res.Status, err, text)
	}
	return answer
}

// objectsOf returns the objects of an answer that is a success.
func objectsOf(t *testing.T, answer *apiextensionsv1.ConversionReview) []string {
	t.Helper()
	if answer.Response == nil || answer.Response.Result.Status != "Success" {
		t.Fatalf("no success: %+v", answer.Response)
	}
	objects := make([]string, 0, len(answer.Response.ConvertedObjects))
	for _, object := range answer.Response.ConvertedObjects {
		objects = append(objects, string(object.Raw))
	}
	return objects
}

// What v2 cannot say comes back, where controller-runtime's handler loses it.
func TestHandlerIsLossless(t *testing.T) {
	t.Parallel()
	const daily = `{"apiVersion":"batch.tutorial.example.com/v1","kind":"CronJob","metadata":{"name":"a","uid":"u"},` +
		`"spec":{"schedule":"@daily","jobTemplate":{"spec":{"template":{"spec":{"containers":[]}}}}}}`
	ours, err := controllerruntime.Handler(newScheme(), nil, cronjob.CRD())
	if err != nil {
		t.Fatal(err)
	}
	scheme := newScheme()
	for _, test := range []struct {
		name    string
		handler http.Handler
		want    any
	}{
		{"webhookd", ours, "@daily"},
		{"controller-runtime", crwebhook.NewWebhookHandler(scheme, crwebhook.NewRegistry()), "* * * * *"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(test.handler)
			t.Cleanup(server.Close)
			v2 := objectsOf(t, post(t, server.Client(), server.URL, reviewOf(t, "apiextensions.k8s.io/v1", "v2", daily)))
			v1 := objectsOf(t, post(t, server.Client(), server.URL, reviewOf(t, "apiextensions.k8s.io/v1", "v1", v2[0])))
			if got := at(t, v1[0], "spec", "schedule"); got != test.want {
				t.Errorf("schedule %v, want %v", got, test.want)
			}
		})
	}
}

func TestFailureHasNoObjects(t *testing.T) {
	t.Parallel()
	handler, err := controllerruntime.Handler(newScheme(), nil, cronjob.CRD())
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	const wrong = `{"apiVersion":"batch.tutorial.example.com/v2","kind":"CronJob","metadata":{"name":"a"},"spec":{"schedule":"x"}}`
	answer := post(t, server.Client(), server.URL, reviewOf(t, "apiextensions.k8s.io/v1", "v1", workdaysV2, wrong))
	if answer.Response.Result.Status != "Failure" && answer.Response.Result.Status != "Failed" || len(answer.Response.ConvertedObjects) > 0 {
		t.Errorf("%+v, want a failure without objects", answer.Response)
	}
}

func tree(t *testing.T, text string) map[string]any {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return m
}

// at returns a value of an object.
func at(t *testing.T, object string, path ...string) any {
	t.Helper()
	var v any = tree(t, object)
	for _, name := range path {
		m, _ := v.(map[string]any)
		v = m[name]
	}
	return v
}
