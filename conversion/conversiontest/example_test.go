package conversiontest_test

import (
	"context"
	_ "embed"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/crdconvert/webhookd/conversion"
	"github.com/crdconvert/webhookd/conversion/conversiontest"
)

//go:embed testdata/widgets.example.com.yaml
var crd []byte

func kind() conversion.Kind {
	return conversion.Must(conversion.Lossless(conversion.Func(rename), crd))
}

func rename(_ context.Context, obj *conversion.Object, from, _ string) error {
	old, current := []string{"spec", "size"}, []string{"spec", "replicas"}
	if from == "v1" {
		old, current = current, old
	}
	_, err := obj.Rename(old, current)
	return err
}

func ExampleLaws() {
	// In a file ending in _test.go:
	_ = func(t *testing.T) {
		conversiontest.Laws(t, kind(), crd, nil)
	}
}

func ExampleOptions() {
	_ = func(t *testing.T) {
		conversiontest.Laws(t, kind(), crd, &conversiontest.Options{
			Seed:    7,
			Objects: 5000,
			Samples: [][]byte{[]byte(`{"apiVersion":"example.com/v1","kind":"Widget","spec":{"replicas":3}}`)},
		})
	}
}

// The field is gone on purpose, so no law looks for it.
func ExampleDrop() {
	_ = func(t *testing.T) {
		drops := []conversiontest.Drop{{From: "v1", To: "v1alpha1", Path: ".spec.color"}}
		conversiontest.Laws(t, kind(), crd, &conversiontest.Options{Drops: drops})
	}
}

// Rules replace code, and convert each object as the code did.
func ExampleSame() {
	var ruled conversion.Kind // of package conversion/rules
	_ = func(t *testing.T) {
		conversiontest.Same(t, kind(), ruled, crd, nil)
	}
}

// A handler in Go has the URL of its test server. A webhook in another language has that at which
// it listens.
func ExampleWebhook() {
	var handler http.Handler // such as that of controller-runtime
	_ = func(t *testing.T) {
		server := httptest.NewServer(handler)
		defer server.Close()
		conversiontest.Webhook(t, server.URL, crd, nil)
	}
}

func ExampleWebhookOptions() {
	_ = func(t *testing.T) {
		server := httptest.NewTLSServer(http.NotFoundHandler())
		defer server.Close()
		conversiontest.Webhook(t, server.URL+"/convert", crd, &conversiontest.WebhookOptions{
			Client: server.Client(),
			Drops:  []conversiontest.Drop{{Path: ".spec.color"}},
		})
	}
}

// What ExampleLaws shows holds.
func TestLaws(t *testing.T) {
	t.Parallel()
	conversiontest.Laws(t, kind(), crd, &conversiontest.Options{Seed: 7})
}
