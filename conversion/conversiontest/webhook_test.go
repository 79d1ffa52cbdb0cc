package conversiontest_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/conversion"
	"github.com/crdconvert/webhookd/conversion/conversiontest"
	"github.com/crdconvert/webhookd/conversion/webhook"
)

// handler serves kind().
func handler(t *testing.T) http.Handler {
	t.Helper()
	registry, err := conversion.NewRegistry(kind())
	if err != nil {
		t.Fatal(err)
	}
	h, err := webhook.New(registry, webhook.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// What ExampleWebhook shows holds, with TLS as well.
func TestWebhook(t *testing.T) {
	t.Parallel()
	server := httptest.NewTLSServer(handler(t))
	defer server.Close()
	conversiontest.Webhook(t, server.URL, crd, &conversiontest.WebhookOptions{Client: server.Client(), Objects: 20})
}

func TestWebhookFails(t *testing.T) {
	t.Parallel()
	next := handler(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		inner := httptest.NewRecorder()
		next.ServeHTTP(inner, r)
		w.WriteHeader(inner.Code)
		_, _ = io.Copy(w, bytes.NewReader(bytes.ReplaceAll(inner.Body.Bytes(), []byte(`"uid":"`), []byte(`"uid":"x`))))
	}))
	defer server.Close()
	failures, err := conversiontest.WebhookFailures(t, server.URL, crd, &conversiontest.WebhookOptions{Objects: 5})
	if err != nil {
		t.Fatal(err)
	}
	if text := failures["uid"]; !strings.Contains(text, "required: the answer has the uid of the request") || failures["round trip"] != "" {
		t.Errorf("got %v", failures)
	}
}

func TestWebhookNeeds(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(handler(t))
	t.Cleanup(server.Close)
	closed := httptest.NewServer(nil)
	closed.Close()
	for name, test := range map[string]struct {
		url  string
		crd  string
		says string
	}{
		"a webhook":   {closed.URL, string(crd), "connection refused"},
		"one CRD":     {server.URL, string(crd) + "---\n" + strings.ReplaceAll(string(crd), "widgets", "gadgets"), "the text has 2 CustomResourceDefinitions"},
		"a valid CRD": {server.URL, "kind: CustomResourceDefinition", "apiVersion"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := conversiontest.WebhookFailures(t, test.url, []byte(test.crd), nil)
			if err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("got %v, want %s", err, test.says)
			}
		})
	}
}
