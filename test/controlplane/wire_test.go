package controlplane_test

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"sync"
	"testing"

	"github.com/crdconvert/webhookd/test/e2e/scenario"
	"github.com/crdconvert/webhookd/test/e2e/webhook"
	"github.com/crdconvert/webhookd/test/helpers/tlstest"
	"github.com/google/go-cmp/cmp"

	"github.com/crdconvert/webhookd/test/controlplane/plane"
)

// A call is what the API server says to a webhook, as far as it is the same each time.
type call struct {
	ServerName string   // SNI
	Offered    []string // ALPN
	Protocol   string
	Method     string
	Host       string
	URI        string
	UserAgent  string
	Type       string
	Accept     string
	Encodings  string
	Sized      bool // with Content-Length
	Review     string
	Desired    string
	Response   string // that comes with the request
	Objects    int
}

// wire compares what the API server sends with what the protocol promises. Between the two is
// a recorder: it listens on the Service's address, with a certificate for its name, and hands all
// on to webhookd.
func wire(t *testing.T, p *plane.Plane) {
	t.Helper()
	for _, reviews := range [][]string{{"v1"}, {"v1beta1", "v1"}} {
		t.Run(reviews[0], func(t *testing.T) {
			e := byService(t, p)
			e.Reviews = reviews
			w := webhook.Start(t, webhook.Options{Hosts: []string{scenario.ServiceHost}})
			rec := newRecorder(t, e, w)
			r := e.Install(t, scenario.CRD(t, "crontabs.example.com"), rec)
			r.MustConvert(t, w, 1, func() { r.Create(t, "v1beta1", "wire", `{hostPort: "localhost:80"}`) })
			want := call{
				ServerName: "webhookd.webhookd.svc", Offered: []string{"http/1.1"}, Protocol: "HTTP/1.1", Method: http.MethodPost,
				Host: "webhookd.webhookd.svc:9443", URI: "/crdconvert?timeout=30s", UserAgent: "kube-apiserver-admission",
				Type: "application/json", Accept: "application/json, */*", Encodings: "gzip", Sized: true,
				Review: "apiextensions.k8s.io/" + reviews[0], Desired: "example.com/v1", Objects: 1,
				Response: `{"uid":"","convertedObjects":null,"result":{"metadata":{}}}`,
			}
			if diff := cmp.Diff(want, rec.first("example.com/v1")); diff != "" {
				t.Errorf("call of the API server (-want +got):\n%s", diff)
			}
		})
	}
}

// A recorder is a scenario.Target in front of webhookd.
type recorder struct {
	target

	mu    sync.Mutex
	calls []call
	hello map[string]*tls.ClientHelloInfo // of each client's address
}

func newRecorder(t *testing.T, e *scenario.Env, w *webhook.Process) *recorder {
	t.Helper()
	rec := &recorder{target: target{e.Address(t), tlstest.NewCA(t, "recorder")}, hello: map[string]*tls.ClientHelloInfo{}}
	pair := rec.ca.Issue(t, tlstest.Leaf{Hosts: []string{scenario.ServiceHost}}).TLS(t)
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "https", Host: w.Addr()})
	proxy.Transport = &http.Transport{TLSClientConfig: &tls.Config{ServerName: scenario.ServiceHost, RootCAs: w.CA().Pool()}}
	stub(t, rec.addr, &tls.Config{GetCertificate: func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
		rec.mu.Lock()
		defer rec.mu.Unlock()
		rec.hello[hello.Conn.RemoteAddr().String()] = hello
		return &pair, nil
	}}, http.HandlerFunc(func(rw http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		if err == nil {
			err = rec.add(req, body)
		}
		if err != nil {
			http.Error(rw, err.Error(), http.StatusTeapot)
			return
		}
		req.Body = io.NopCloser(bytes.NewReader(body))
		proxy.ServeHTTP(rw, req)
	}))
	return rec
}

// add notes a call.
func (r *recorder) add(req *http.Request, body []byte) error {
	var review struct {
		APIVersion string `json:"apiVersion"`
		Request    struct {
			Desired string            `json:"desiredAPIVersion"`
			Objects []json.RawMessage `json:"objects"`
		} `json:"request"`
		Response json.RawMessage `json:"response"`
	}
	if err := json.Unmarshal(body, &review); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	hello := r.hello[req.RemoteAddr]
	r.calls = append(r.calls, call{
		ServerName: hello.ServerName, Offered: slices.Clone(hello.SupportedProtos), Protocol: req.Proto, Method: req.Method,
		Host: req.Host, URI: req.RequestURI, UserAgent: req.UserAgent(), Type: req.Header.Get("Content-Type"),
		Accept: req.Header.Get("Accept"), Encodings: req.Header.Get("Accept-Encoding"), Sized: req.ContentLength == int64(len(body)),
		Review: review.APIVersion, Desired: review.Request.Desired, Response: string(review.Response),
		Objects: len(review.Request.Objects),
	})
	return nil
}

// first returns the first call that asked for a version, or an empty one.
func (r *recorder) first(desired string) call {
	r.mu.Lock()
	defer r.mu.Unlock()
	if i := slices.IndexFunc(r.calls, func(c call) bool { return c.Desired == desired }); i >= 0 {
		return r.calls[i]
	}
	return call{}
}
