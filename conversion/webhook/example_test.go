package webhook_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/crdconvert/webhookd/conversion"
	"github.com/crdconvert/webhookd/conversion/webhook"
)

const review = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","request":{"uid":"u-1",
	"desiredAPIVersion":"example.com/v1","objects":[` + old + `]}}`

// ask answers a review as a server with the handler does.
func ask(ctx context.Context, handler http.Handler, review string) string {
	recorder := httptest.NewRecorder()
	request := httptest.NewRequestWithContext(ctx, http.MethodPost, "/convert?timeout=10s", strings.NewReader(review))
	request.Header.Set("Content-Type", "application/json")
	handler.ServeHTTP(recorder, request)
	text, _ := io.ReadAll(recorder.Body)
	return string(text)
}

// The handler is at the path that the CRD's clientConfig names.
func ExampleNew() {
	registry, err := conversion.NewRegistry(cronTab())
	if err != nil {
		log.Fatal(err)
	}
	handler, err := webhook.New(registry, webhook.Options{MaxBodyBytes: 64 << 20})
	if err != nil {
		log.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("POST /convert", handler)
	fmt.Println(strings.Contains(ask(context.Background(), mux, review), `"status":"Success"`))
	// Output: true
}

// A failed review is reported once, with all that went wrong.
func ExampleFailure() {
	registry, err := conversion.NewRegistry(cronTab())
	if err != nil {
		log.Fatal(err)
	}
	handler, err := webhook.New(registry, webhook.Options{Failed: func(f webhook.Failure) {
		fmt.Println(f.UID, f.Kind, f.From, f.To)
		fmt.Println(f.Message)
	}})
	if err != nil {
		log.Fatal(err)
	}
	ask(context.Background(), handler, strings.Replace(review, `"metadata":{"name":"a"}`, `"metadata":1`, 1))
	// Output:
	// u-1 CronTab.example.com v1beta1 v1
	// objects[0] CronTab v1beta1 -> v1: is not an object, fix the stored object: .metadata
}

// The kinds of a running handler can be replaced, as when rules change.
func ExampleHandler_SetRegistry() {
	none, err := conversion.NewRegistry()
	if err != nil {
		log.Fatal(err)
	}
	handler, err := webhook.New(none, webhook.Options{})
	if err != nil {
		log.Fatal(err)
	}
	some, err := conversion.NewRegistry(cronTab())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(handler.SetRegistry(some), strings.Contains(ask(context.Background(), handler, review), `"status":"Success"`))
	// Output: <nil> true
}

// A manager has a registry of its own for metrics: controller-runtime's metrics.Registry.
func ExampleHandler_Collector() {
	registry, err := conversion.NewRegistry(cronTab())
	if err != nil {
		log.Fatal(err)
	}
	handler, err := webhook.New(registry, webhook.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(prometheus.NewRegistry().Register(handler.Collector()))
	// Output: <nil>
}
