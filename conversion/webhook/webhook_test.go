package webhook_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/crdconvert/webhookd/conversion"
	"github.com/crdconvert/webhookd/conversion/webhook"
	"github.com/crdconvert/webhookd/examples/crds"
	"github.com/crdconvert/webhookd/examples/custom-server/crontab"
)

func registryOf(t *testing.T, kinds ...conversion.Kind) *conversion.Registry {
	t.Helper()
	r, err := conversion.NewRegistry(kinds...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func newHandler(t *testing.T, registry *conversion.Registry, opts webhook.Options) *webhook.Handler {
	t.Helper()
	h, err := webhook.New(registry, opts)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// post returns the code and the body of the answer to a review.
func post(t *testing.T, h http.Handler, method, body string) (code int, answer string) {
	t.Helper()
	request := httptest.NewRequestWithContext(t.Context(), method, "/any/path?timeout=10s", strings.NewReader(body))
	request.Header.Set("Content-Type", "application/json")
	recorder := httptest.NewRecorder()
	h.ServeHTTP(recorder, request)
	return recorder.Code, recorder.Body.String()
}

func reviewOf(version string, objects ...string) string {
	return `{"apiVersion":"apiextensions.k8s.io/` + version + `","kind":"ConversionReview","request":{"uid":"u-1",` +
		`"desiredAPIVersion":"example.com/v1","objects":[` + strings.Join(objects, ",") + `]}}`
}

const (
	old    = `{"apiVersion":"example.com/v1beta1","kind":"CronTab","metadata":{"name":"a"},"hostPort":"localhost:80"}`
	now    = `{"apiVersion":"example.com/v1","kind":"CronTab","metadata":{"name":"a"},"host":"localhost","port":"80"}`
	broken = `{"apiVersion":"example.com/v1beta1","kind":"CronTab","metadata":1,"hostPort":"localhost:80"}`
)

func cronTab() conversion.Kind { return conversion.Must(crontab.Kind(crds.CronTabs, "v1beta1")) }

func TestHandler(t *testing.T) {
	t.Parallel()
	h := newHandler(t, registryOf(t, cronTab()), webhook.Options{MaxBodyBytes: 2000})
	for name, test := range map[string]struct {
		method, body string
		code         int
		want         string
	}{
		"v1":            {"POST", reviewOf("v1", old, now), 200, `"convertedObjects":[` + now + "," + now + "]"},
		"v1beta1":       {"POST", reviewOf("v1beta1", old), 200, `"apiVersion":"apiextensions.k8s.io/v1beta1"`},
		"failed":        {"POST", reviewOf("v1", broken), 200, `"status":"Failed"`},
		"no review":     {"POST", `{}`, 400, "ConversionReview"},
		"another verb":  {"GET", "", 405, "send a POST"},
		"a large body":  {"POST", reviewOf("v1", strings.Repeat(old+",", 30)+old), 413, "max-body"},
		"an empty list": {"POST", reviewOf("v1"), 200, `"convertedObjects":[]`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if code, answer := post(t, h, test.method, test.body); code != test.code || !strings.Contains(answer, test.want) {
				t.Errorf("%d %s\nwant %d with %s", code, answer, test.code, test.want)
			}
		})
	}
}

func TestKindsCanBeReplaced(t *testing.T) {
	t.Parallel()
	h := newHandler(t, registryOf(t), webhook.Options{})
	if _, answer := post(t, h, "POST", reviewOf("v1", old)); !strings.Contains(answer, "no converter for CronTab.example.com") {
		t.Errorf("without kinds: %s", answer)
	}
	if err := h.SetRegistry(registryOf(t, cronTab())); err != nil {
		t.Fatal(err)
	}
	if _, answer := post(t, h, "POST", reviewOf("v1", old)); !strings.Contains(answer, now) {
		t.Errorf("with a kind: %s", answer)
	}
}

// A converter that panics or hangs fails its review, and is reported.
func TestFailures(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		convert func(release <-chan struct{})
		want    string
		reports []string
	}{
		"panics": {func(<-chan struct{}) { panic("secret") }, "panicked", []string{"a converter panicked: string", "converter panicked"}},
		"hangs":  {func(release <-chan struct{}) { <-release }, "deadline", []string{"deadline"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				release := make(chan struct{})
				defer close(release)
				kind := cronTab()
				kind.Converter = conversion.Func(func(context.Context, *conversion.Object, string, string) error {
					test.convert(release)
					return nil
				})
				var failures []webhook.Failure
				h := newHandler(t, registryOf(t, kind), webhook.Options{Failed: func(f webhook.Failure) { failures = append(failures, f) }})
				code, answer := post(t, h, "POST", reviewOf("v1", old))
				if code != 200 || !strings.Contains(answer, `"status":"Failed"`) || !strings.Contains(answer, test.want) || strings.Contains(answer, "secret") {
					t.Errorf("%d %s", code, answer)
				}
				synctest.Wait()
				if len(failures) != len(test.reports) {
					t.Fatalf("reported %+v", failures)
				}
				for i, f := range failures {
					if f.UID != "u-1" || f.Kind != "CronTab.example.com" || f.From != "v1beta1" || f.To != "v1" || !strings.Contains(f.Message, test.reports[i]) {
						t.Errorf("reported %+v", f)
					}
				}
			})
		})
	}
}

func TestCollector(t *testing.T) {
	t.Parallel()
	h := newHandler(t, registryOf(t, cronTab()), webhook.Options{})
	post(t, h, "POST", reviewOf("v1", old))
	all := prometheus.NewPedanticRegistry()
	if err := all.Register(h.Collector()); err != nil {
		t.Fatal(err)
	}
	families, err := all.Gather()
	if err != nil {
		t.Fatal(err)
	}
	names := make([]string, 0, len(families))
	for _, f := range families {
		names = append(names, f.GetName())
	}
	want := []string{
		"webhookd_handler_panics_total", "webhookd_objects_total", "webhookd_request_bytes_in_flight",
		"webhookd_request_bytes_in_flight_limit", "webhookd_requests_in_flight", "webhookd_requests_waiting",
	}
	for _, name := range want {
		if !strings.Contains(strings.Join(names, " "), name) {
			t.Errorf("no %s in %v", name, names)
		}
	}
	for _, name := range names {
		if strings.Contains(name, "tls") || strings.Contains(name, "rules") || strings.HasPrefix(name, "go_") {
			t.Errorf("%s is not a handler's", name)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	for want, test := range map[string]struct {
		registry *conversion.Registry
		opts     webhook.Options
	}{
		"webhook.New: no registry":                                             {nil, webhook.Options{}},
		"webhook.New: negative Options.MaxBodyBytes":                           {registryOf(t), webhook.Options{MaxBodyBytes: -1}},
		"webhook.New: negative Options.Timeout":                                {registryOf(t), webhook.Options{Timeout: -1}},
		"webhook.New: negative Options.MaxInFlightBytes":                       {registryOf(t), webhook.Options{MaxInFlightBytes: -1}},
		"webhook.New: negative Options.Timeout, negative Options.MaxBodyBytes": {registryOf(t), webhook.Options{Timeout: -1, MaxBodyBytes: -1}},
	} {
		_, err := webhook.New(test.registry, test.opts)
		if err == nil {
			t.Errorf("no error, want %s", want)
		} else if diff := cmp.Diff(want, err.Error()); diff != "" {
			t.Errorf("error (-want +got):\n%s", diff)
		}
	}
}
