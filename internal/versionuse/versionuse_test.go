package versionuse_test

import (
	"crypto/x509"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/crdconvert/webhookd/internal/versionuse"
	"github.com/crdconvert/webhookd/internal/versionuse/prometheustest"
)

func engines() versionuse.CRD {
	return versionuse.CRD{Name: "engines.example.com", Group: "example.com", Plural: "engines", Kind: "Engine", Versions: []string{"v1", "v1beta1", "v1alpha1"}}
}

func TestRead(t *testing.T) {
	t.Parallel()
	s := prometheustest.Start(t, map[string]prometheustest.Counter{
		"apiserver_request_total": {
			Witness: `count(apiserver_request_total{group="rbac.authorization.k8s.io", resource="clusterroles", verb="GET", cluster="prod"})`, Hours: 720,
			Growth: []prometheustest.Sample{{Labels: map[string]string{"version": "v1"}, Value: 120.4}, {Labels: map[string]string{"version": "v1alpha2"}, Value: 1}},
		},
		"webhookd_objects_total": {
			Witness: `count(webhookd_reviews_total{kind="none", result="rejected", cluster="prod"})`, Hours: 120,
			Growth: []prometheustest.Sample{{Labels: map[string]string{"from": "v1", "to": "v1beta1"}, Value: 9}},
		},
	})
	p, err := versionuse.New(versionuse.Options{URL: s.URL, Matchers: `cluster="prod"`, Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	got, err := p.Read(t.Context(), engines())
	if err != nil {
		t.Fatal(err)
	}
	want := &versionuse.Report{
		Days: 30,
		Data: []versionuse.Data{
			{Metric: "apiserver_request_total", Target: "kube-apiserver", Hours: 720},
			{Metric: "apiserver_crd_conversion_webhook_duration_seconds_count", Target: "kube-apiserver", Optional: true},
			{Metric: "webhookd_objects_total", Target: "webhookd", Hours: 120},
		},
		Versions: []versionuse.Version{
			{Name: "v1", Used: "yes", Hours: 120, Requests: new(int64(120)), ObjectsFrom: new(int64(9)), ObjectsTo: new(int64(0))},
			{Name: "v1beta1", Used: "yes", Hours: 120, Requests: new(int64(0)), ObjectsFrom: new(int64(0)), ObjectsTo: new(int64(9))},
			{Name: "v1alpha1", Used: "no", Hours: 120, Requests: new(int64(0)), ObjectsFrom: new(int64(0)), ObjectsTo: new(int64(0))},
			{Name: "v1alpha2", Used: "yes", Hours: 120, Requests: new(int64(1)), ObjectsFrom: new(int64(0)), ObjectsTo: new(int64(0))},
		},
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(versionuse.Data{}, "Since")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, d := range got.Data {
		if d.Hours > 0 && time.Since(d.Since).Round(time.Hour) != time.Duration(d.Hours)*time.Hour || d.Hours == 0 && !d.Since.IsZero() {
			t.Errorf("%+v", d)
		}
	}
}

func TestErrorsSayWhatToDo(t *testing.T) {
	t.Parallel()
	answer := func(code int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if user, password, _ := r.BasicAuth(); user != "me" || password != "secret" {
				code, body = http.StatusTeapot, ""
			}
			w.WriteHeader(code)
			_, _ = w.Write([]byte(body)) // the client notices
		}
	}
	for name, c := range map[string]struct {
		handler http.HandlerFunc
		want    string
	}{
		"no credentials":      {answer(401, "no"), "Prometheus: cannot query: client error: 401: URL\ngive a bearer token with --prometheus-token-file, or write http://USER:PASSWORD@HOST"},
		"another server":      {answer(404, "no"), "Prometheus: cannot query: client error: 404: URL\ncorrect --prometheus: write the URL that has /api/v1/query below it"},
		"a page":              {answer(200, "<html>"), "Prometheus: cannot query: the answer is not one of Prometheus: URL\ncorrect --prometheus: write the URL that has /api/v1/query below it"},
		"down behind a proxy": {answer(503, "no"), "Prometheus: cannot query: server error: 503: URL\nsee the log of Prometheus, or of the proxy before it"},
		"bad matchers": {
			answer(400, `{"status":"error","errorType":"bad_data","error":"parse error"}`), "Prometheus: cannot query: parse error: URL\ncorrect --prometheus-match",
		},
		"too many samples": {
			answer(422, `{"status":"error","errorType":"execution","error":"query processing would load too many samples into memory in query execution"}`),
			"Prometheus: cannot query: query processing would load too many samples into memory in query execution: URL\nraise --query.max-samples of Prometheus if that is the limit",
		},
		"a part only": {
			answer(200, `{"status":"success","data":{"resultType":"matrix","result":[]},"warnings":["store a:1 is not there"]}`),
			"Prometheus: cannot query: the answer is not complete: store a:1 is not there: URL",
		},
		"a result of another type": {
			answer(200, `{"status":"success","data":{"resultType":"scalar","result":[1,"1"]}}`),
			"Prometheus: cannot query: the answer is not one of Prometheus: URL\ncorrect --prometheus: write the URL that has /api/v1/query below it",
		},
		"too slow": {
			func(_ http.ResponseWriter, r *http.Request) { _ = r.ParseForm(); <-r.Context().Done() }, // a read body lets the server see the end
			"Prometheus: cannot query: no answer within 1s: URL\ntry again; if it stays so slow, ask a Prometheus with fewer series",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := httptest.NewServer(c.handler)
			t.Cleanup(s.Close)
			at := strings.Replace(s.URL, "://", "://me:secret@", 1)
			timeout := time.Minute
			if name == "too slow" {
				timeout = time.Second
			}
			p, err := versionuse.New(versionuse.Options{URL: at, Matchers: "x", Timeout: timeout})
			if err != nil {
				t.Fatal(err)
			}
			_, err = p.Read(t.Context(), engines())
			want := strings.Replace(c.want, "URL", strings.Replace(at, "secret", "xxxxx", 1), 1)
			if err == nil || err.Error() != want {
				t.Errorf("%v\nwant %s", err, want)
			}
		})
	}
}

func TestConnections(t *testing.T) {
	t.Parallel()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer token" {
			w.WriteHeader(http.StatusUnauthorized)
		}
		_, _ = w.Write([]byte(`{"status":"success","data":{"resultType":"matrix","result":[]}}`)) // the client notices
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	cas := x509.NewCertPool()
	cas.AddCert(s.Certificate())
	gone := httptest.NewServer(nil)
	gone.Close()
	for name, c := range map[string]struct {
		o    versionuse.Options
		want string
	}{
		"token and CA": {versionuse.Options{URL: s.URL + "/", Token: "token", CAs: cas}, ""},
		"no token":     {versionuse.Options{URL: s.URL, CAs: cas}, "give a bearer token with --prometheus-token-file"},
		"unknown CA":   {versionuse.Options{URL: s.URL}, "\ngive the CA of its certificate with --prometheus-ca-file"},
		"not there":    {versionuse.Options{URL: gone.URL}, "\nstart Prometheus or the way to it, such as kubectl port-forward, or correct --prometheus"},
		"no host":      {versionuse.Options{URL: "prometheus:9090"}, "not the URL of a Prometheus, write one such as http://127.0.0.1:9090"},
	} {
		c.o.Timeout = time.Minute
		p, err := versionuse.New(c.o)
		if err == nil {
			_, err = p.Read(t.Context(), engines())
		}
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}
