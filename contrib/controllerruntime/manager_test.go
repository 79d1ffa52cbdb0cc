package controllerruntime_test

import (
	"crypto/tls"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	ctrlwebhook "sigs.k8s.io/controller-runtime/pkg/webhook"

	"github.com/crdconvert/webhookd/contrib/controllerruntime"
	"github.com/crdconvert/webhookd/contrib/controllerruntime/internal/cronjob"
	v2 "github.com/crdconvert/webhookd/contrib/controllerruntime/internal/cronjob/v2"
)

// A manager serves /convert with the handler, and the builder of the kind's webhooks leaves that
// alone. The manager needs no cluster for it.
func TestManager(t *testing.T) {
	t.Parallel()
	certificate := httptest.NewUnstartedServer(nil)
	certificate.StartTLS()
	t.Cleanup(certificate.Close)
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := listener.Addr().(*net.TCPAddr).Port //nolint:forcetypeassert // it is TCP
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	mgr, err := ctrl.NewManager(&rest.Config{Host: "127.0.0.1:1"}, ctrl.Options{
		Scheme:                 newScheme(),
		MapperProvider:         func(*rest.Config, *http.Client) (meta.RESTMapper, error) { return meta.NewDefaultRESTMapper(nil), nil },
		Metrics:                metricsserver.Options{BindAddress: "0"},
		HealthProbeBindAddress: "0",
		WebhookServer: ctrlwebhook.NewServer(ctrlwebhook.Options{
			Host: "127.0.0.1", Port: port, TLSOpts: []func(*tls.Config){func(c *tls.Config) {
				c.GetCertificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return &certificate.TLS.Certificates[0], nil }
			}},
		}),
	})
	if err != nil {
		t.Fatal(err)
	}
	handler, err := controllerruntime.Handler(mgr.GetScheme(), nil, cronjob.CRD())
	if err != nil {
		t.Fatal(err)
	}
	mgr.GetWebhookServer().Register("/convert", handler)
	if err := ctrl.NewWebhookManagedBy(mgr, &v2.CronJob{}).Complete(); err != nil {
		t.Fatal(err)
	}
	stopped := make(chan error, 1)
	go func() { stopped <- mgr.Start(t.Context()) }()
	t.Cleanup(func() { // the context of a test ends before
		if err := <-stopped; err != nil {
			t.Error(err)
		}
	})
	started := mgr.GetWebhookServer().StartedChecker()
	for started(nil) != nil {
		select {
		case err := <-stopped:
			stopped <- nil
			t.Fatalf("manager ended: %v", err)
		case <-time.After(10 * time.Millisecond): // nothing says when it has started
		}
	}
	const daily = `{"apiVersion":"batch.tutorial.example.com/v1","kind":"CronJob","metadata":{"name":"a","uid":"u"},"spec":{"schedule":"@daily"}}`
	url := "https://127.0.0.1:" + strconv.Itoa(port) + "/convert"
	convert := func(version, to, object string) string {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(reviewOf(version, to, object)))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		res, err := certificate.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		var answer apiextensionsv1.ConversionReview
		if err := json.NewDecoder(res.Body).Decode(&answer); err != nil || len(answer.Response.ConvertedObjects) != 1 {
			t.Fatalf("%s: %v: %+v", res.Status, err, answer.Response)
		}
		return string(answer.Response.ConvertedObjects[0].Raw)
	}
	back := convert("v1beta1", "v1", convert("v1", "v2", daily))
	if !strings.Contains(back, `"schedule":"@daily"`) {
		t.Errorf("%s, want @daily, as webhookd keeps it", back)
	}
}

// reviewOf returns a ConversionReview.
func reviewOf(version, to string, objects ...string) string {
	return `{"apiVersion":"apiextensions.k8s.io/` + version + `","kind":"ConversionReview","request":{"uid":"r1",` +
		`"desiredAPIVersion":"` + cronjob.Group + "/" + to + `","objects":[` + strings.Join(objects, ",") + `]}}`
}
