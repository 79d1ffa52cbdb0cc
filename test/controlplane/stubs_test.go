package controlplane_test

import (
	"context"
	"crypto/tls"
	"io"
	"log"
	"net"
	"net/http"
	"testing"
	"time"

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
	w := webhook.Start(t, s.options(t, "--max-body=1Mi", "--max-in-flight-bytes=1400Ki"))
	w.Tolerate("body rejected")
	return overloadable{w, s.host()}
}

// begin takes webhookd's memory by connections, until the test ends or they have been idle for two
// minutes.
func (o overloadable) begin(t *testing.T) {
	t.Helper()
	for range 40 { // of 48 KiB each
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
