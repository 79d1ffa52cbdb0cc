package controlplane_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/crdconvert/webhookd/internal/server"
	"github.com/crdconvert/webhookd/test/e2e/scenario"
	"github.com/crdconvert/webhookd/test/e2e/webhook"
	"github.com/crdconvert/webhookd/test/helpers/tlstest"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// stub serves HTTPS in place of webhookd until the test ends.
func stub(t *testing.T, addr string, config *tls.Config, handler http.Handler) {
	t.Helper()
	// Not the test's own context, which ends before the cleanups that still need the webhook.
	listener, err := new(net.ListenConfig).Listen(context.WithoutCancel(t.Context()), "tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: handler, TLSConfig: config, ReadHeaderTimeout: time.Minute, ErrorLog: log.New(io.Discard, "", 0)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = s.ServeTLS(listener, "", "") // ends with Close
	}()
	t.Cleanup(func() {
		_ = s.Close() // of the listener, which no one needs
		<-done
	})
}

func expiredCertificate(t *testing.T, s site) scenario.Target {
	t.Helper()
	w := target{s.address(t), tlstest.NewCA(t, "of an expired certificate")}
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	pair := w.ca.Issue(t, tlstest.Leaf{Hosts: []string{s.host()}, NotBefore: at.AddDate(0, -3, 0), NotAfter: at})
	stub(t, w.addr, &tls.Config{Certificates: []tls.Certificate{pair.TLS(t)}}, http.NotFoundHandler())
	return w
}

// neverAnswers is a converter that hangs in a webhook that has no limit of time.
func neverAnswers(t *testing.T, s site) scenario.Target {
	t.Helper()
	w := target{s.address(t), tlstest.NewCA(t, "of one that hangs")}
	pair := w.ca.Issue(t, tlstest.Leaf{Hosts: []string{s.host()}})
	stub(t, w.addr, &tls.Config{Certificates: []tls.Certificate{pair.TLS(t)}}, http.HandlerFunc(
		func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body) // so that the end of the connection is noticed
			<-r.Context().Done()
		}))
	return w
}

// An overloadable is a webhookd with little memory.
type overloadable struct {
	*webhook.Process

	host string
}

func overloaded(t *testing.T, s site) scenario.Target {
	t.Helper()
	w := webhook.Start(t, s.options(t, "--max-body=1Mi",
		"--max-in-flight-bytes=1400Ki", "--body-timeout=30s", "--min-body-rate=0", "--queue-wait=0s"))
	w.AllowLog("body rejected")
	return overloadable{w, s.host()}
}

// begin takes webhookd's memory by a request whose body does not come to an end, and by
// connections. That is so for 30 s, the longest body-timeout; so others learn at once that there
// is no room, as the API server has to have tried for the last time by then.
func (o overloadable) begin(t *testing.T) {
	t.Helper()
	const size = 800 << 10
	_, err := fmt.Fprintf(o.dial(t), "POST "+server.DefaultPath+" HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		o.host, size, strings.Repeat(" ", size-1))
	if err != nil {
		t.Fatal(err)
	}
	scenario.Eventually(t, "the stalled request", func() bool {
		return o.Metrics(t).Sum("webhookd_request_bytes_in_flight") > 1<<19
	})
	for range 12 { // they take of the same room
		o.dial(t)
	}
}

func (o overloadable) dial(t *testing.T) net.Conn {
	t.Helper()
	conn, err := (&tls.Dialer{Config: &tls.Config{ServerName: o.host, RootCAs: o.CA().Pool()}}).DialContext(t.Context(), "tcp", o.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// withoutSchema is a CRD of examples/crds that takes everything.
func withoutSchema(name string) func(t *testing.T) *apiextensionsv1.CustomResourceDefinition {
	return func(t *testing.T) *apiextensionsv1.CustomResourceDefinition {
		t.Helper()
		crd := scenario.CRD(t, name)
		for i := range crd.Spec.Versions {
			crd.Spec.Versions[i].Schema.OpenAPIV3Schema = &apiextensionsv1.JSONSchemaProps{
				Type: "object", XPreserveUnknownFields: new(true),
			}
		}
		return crd
	}
}
