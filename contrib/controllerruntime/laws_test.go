package controllerruntime_test

import (
	"net/http/httptest"
	"testing"

	"github.com/crdconvert/webhookd/conversion/conversiontest"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/crdconvert/webhookd/contrib/controllerruntime"
	"github.com/crdconvert/webhookd/contrib/controllerruntime/internal/cronjob"
)

// newScheme returns a scheme with the CronJob.
func newScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	cronjob.AddToScheme(scheme)
	return scheme
}

func TestLaws(t *testing.T) {
	t.Parallel()
	kinds, err := controllerruntime.Kinds(newScheme(), nil, cronjob.CRD())
	if err != nil {
		t.Fatal(err)
	}
	conversiontest.Laws(t, kinds[0], cronjob.CRD(), &conversiontest.Options{Objects: 50})
}

func TestWebhook(t *testing.T) {
	t.Parallel()
	handler, err := controllerruntime.Handler(newScheme(), nil, cronjob.CRD())
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	defer server.Close()
	conversiontest.Webhook(t, server.URL, cronjob.CRD(), &conversiontest.WebhookOptions{Objects: 5})
}
