package oracle_test

import (
	"encoding/json"
	"io"
	"net/http"
	"sync"
	"testing"

	"github.com/crdconvert/webhookd/internal/server"
	"github.com/crdconvert/webhookd/test/helpers/tlstest"
	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/crdconvert/webhookd/test/oracle/apiclient"
)

// An exchange is what went over the wire once.
type exchange struct {
	Review, Desired         string
	Objects                 int
	Host, Path, ContentType string
	Protocol                string // negotiated by TLS
	TLS                     uint16
	Code                    int
	RetryAfter              string
}

// A recorder keeps the exchanges of an apiclient.Server.
type recorder struct {
	mu        sync.Mutex
	exchanges []exchange
}

// observe is the Observe of an apiclient.Server.
func (r *recorder) observe(req *http.Request, resp *http.Response) {
	var review apiextensionsv1.ConversionReview
	if body, err := req.GetBody(); err == nil {
		if all, err := io.ReadAll(body); err == nil {
			_ = json.Unmarshal(all, &review) // what is missing shows
		}
	}
	e := exchange{
		Review: review.APIVersion, Host: req.Host, Path: req.URL.RequestURI(), ContentType: req.Header.Get("Content-Type"),
	}
	if review.Request != nil {
		e.Desired, e.Objects = review.Request.DesiredAPIVersion, len(review.Request.Objects)
	}
	if resp != nil {
		e.Code, e.RetryAfter = resp.StatusCode, resp.Header.Get("Retry-After")
		e.Protocol, e.TLS = resp.TLS.NegotiatedProtocol, resp.TLS.Version
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.exchanges = append(r.exchanges, e)
}

func (r *recorder) all() []exchange {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]exchange(nil), r.exchanges...)
}

// A route is one of the ways in which the API server reaches a server.
type route struct {
	name, review string
	hook         func(*webhookd) apiclient.Hook
}

// routes are both kinds of clientConfig with both versions of ConversionReview.
func routes() []route {
	return []route{
		{"service v1", "v1", func(w *webhookd) apiclient.Hook { return w.byService("v1") }},
		{"service v1beta1", "v1beta1", func(w *webhookd) apiclient.Hook { return w.byService("v1beta1") }},
		{"URL v1", "v1", func(w *webhookd) apiclient.Hook { return w.byURL("v1") }},
		{"URL v1beta1", "v1beta1", func(w *webhookd) apiclient.Hook { return w.byURL("v1beta1") }},
	}
}

// TestReferences holds that every kind of reference works with every version of the review, and
// what the two sides agree on.
func TestReferences(t *testing.T) {
	t.Parallel()
	ca := tlstest.NewCA(t, "oracle")
	for _, r := range routes() {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			w := serve(t, ca, nil)
			a, seen := w.client(), &recorder{}
			a.Observe = seen.observe
			h := r.hook(w)

			got, err := a.Converter(t, crontabs(), []string{"v1beta1", "v1"}, h).To(sample(t), "v1")
			if err != nil {
				t.Fatal(err)
			}
			want := sample(t).Object
			delete(want, "hostPort")
			want["apiVersion"], want["host"], want["port"] = "example.com/v1", "localhost", "1234"
			if diff := cmp.Diff(want, content(t, got)); diff != "" {
				t.Errorf("converted object (-want +got):\n%s", diff)
			}

			wantExchange := exchange{
				Review: "apiextensions.k8s.io/" + r.review, Desired: "example.com/v1", Objects: 1,
				Host: apiclient.ServiceHost + ":443", Path: server.DefaultPath + "?timeout=30s", ContentType: "application/json",
				Protocol: "http/1.1", TLS: 0x0304, Code: http.StatusOK,
			}
			wantHellos := w.hellos.of("http/1.1")
			wantHello := hello{ServerName: apiclient.ServiceHost, Protocols: []string{"http/1.1"}}
			if h.URL != "" {
				// To an address on loopback the client offers HTTP/2 and sends no server name.
				wantExchange.Host = w.address()
				wantHello = hello{Protocols: []string{"h2", "http/1.1"}}
				wantHellos = w.hellos.of("h2", "http/1.1")
			}
			if diff := cmp.Diff([]exchange{wantExchange}, seen.all()); diff != "" {
				t.Errorf("exchanges (-want +got):\n%s", diff)
			}
			// The server's self check offers http/1.1 as well, without a name.
			found := false
			for _, got := range wantHellos {
				found = found || cmp.Equal(got, wantHello)
			}
			if !found {
				t.Errorf("hellos %v do not hold %v", wantHellos, wantHello)
			}
			w.noErrors()
		})
	}
}

// TestPaths holds that a trailing slash in the CRD makes no difference.
func TestPaths(t *testing.T) {
	t.Parallel()
	w := serve(t, tlstest.NewCA(t, "oracle"), nil)
	for _, path := range []string{"/crdconvert", "/crdconvert/", "crdconvert"} {
		byService, byURL := w.byService("v1"), w.byURL("v1")
		byService.Path = path
		byURL.URL = "https://" + w.address() + "/" + path
		for _, h := range []apiclient.Hook{byService, byURL} {
			if _, err := w.client().Converter(t, crontabs(), []string{"v1beta1", "v1"}, h).To(sample(t), "v1"); err != nil {
				t.Errorf("path %q, URL %q: %v", path, h.URL, err)
			}
		}
	}
}

// TestReviewVersions holds which of a CRD's conversionReviewVersions is used.
func TestReviewVersions(t *testing.T) {
	t.Parallel()
	w := serve(t, tlstest.NewCA(t, "oracle"), nil)
	for _, tt := range []struct {
		reviews []string
		want    string
	}{
		{[]string{"v1", "v1beta1"}, "apiextensions.k8s.io/v1"},
		{[]string{"v1beta1", "v1"}, "apiextensions.k8s.io/v1beta1"},
		{[]string{"v7", "v1"}, "apiextensions.k8s.io/v1"},
	} {
		a, seen := w.client(), &recorder{}
		a.Observe = seen.observe
		if _, err := a.Converter(t, crontabs(), []string{"v1beta1", "v1"}, w.byService(tt.reviews...)).To(sample(t), "v1"); err != nil {
			t.Errorf("%v: %v", tt.reviews, err)
		}
		if all := seen.all(); len(all) != 1 || all[0].Review != tt.want {
			t.Errorf("%v: exchanges %v, want one of %s", tt.reviews, all, tt.want)
		}
	}
}
