package oracle_test

import (
	"math/big"
	"net/http"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/crdconvert/webhookd/internal/server"
	"github.com/crdconvert/webhookd/test/helpers/tlstest"
	"github.com/google/go-cmp/cmp"

	"github.com/crdconvert/webhookd/test/oracle/apiclient"
	"github.com/crdconvert/webhookd/test/oracle/process"
	"github.com/crdconvert/webhookd/test/oracle/wait"
)

// TestBinary holds for the binary, as a process, what the other tests hold for its packages wired
// by a test: it converts by either reference, takes over a new certificate, and is replaced under
// load by another without a failed call.
func TestBinary(t *testing.T) {
	t.Parallel()
	ca, binary := tlstest.NewCA(t, "oracle"), filepath.Join(t.TempDir(), "webhookd")
	if err := process.Build(t.Context(), "../..", binary, nil); err != nil {
		t.Fatal(err)
	}
	first := process.Launch(t, process.Options{Binary: binary, CA: ca, Flags: []string{"--drain-delay", "2s"}})
	second := process.Launch(t, process.Options{Binary: binary, CA: ca, Flags: []string{"--drain-delay", "0s"}})

	var current atomic.Pointer[process.Process]
	current.Store(first)
	var closing atomic.Bool
	a := &apiclient.Server{Endpoint: func() string { return current.Load().Addr }, Observe: func(_ *http.Request, resp *http.Response) {
		if resp != nil && resp.Close {
			closing.Store(true)
		}
	}}
	versions := []string{"v1beta1", "v1"}
	want := object(t, `{"apiVersion":"example.com/v1","kind":"CronTab","metadata":{"name":"local",
		"namespace":"default","uid":"6e1a1b0c-8d2c-4cf0-9c53-0e9d0a2f7a10"},"host":"localhost","port":"1234"}`)
	for _, h := range []apiclient.Hook{
		{Path: server.DefaultPath, CABundle: ca.PEM, Reviews: []string{"v1"}},
		{Path: server.DefaultPath, CABundle: ca.PEM, Reviews: []string{"v1beta1"}},
		{URL: "https://" + first.Addr + server.DefaultPath, CABundle: ca.PEM, Reviews: []string{"v1"}},
		{URL: "https://" + first.Addr + server.DefaultPath, CABundle: ca.PEM, Reviews: []string{"v1beta1"}},
	} {
		got, err := a.Converter(t, crontabs(), versions, h).To(sample(t), "v1")
		if err != nil {
			t.Fatalf("%+v: %v", h, err)
		}
		if diff := cmp.Diff(want.Object, content(t, got)); diff != "" {
			t.Errorf("converted object (-want +got):\n%s", diff)
		}
	}

	c := a.Converter(t, crontabs(), versions, apiclient.Hook{Path: server.DefaultPath, CABundle: ca.PEM, Reviews: []string{"v1"}})
	in := sample(t)
	l := calling(t, 8, func(int) error {
		_, err := c.To(in, "v1")
		return err
	})
	for range 5 {
		pair := ca.Issue(t, tlstest.Leaf{Hosts: []string{apiclient.ServiceHost}})
		tlstest.SwapSecretDir(t, first.Secret, pair.Files())
		wait.Until(t, "the new certificate", func() bool { return freshSerial(t, first, ca).Cmp(pair.Leaf.SerialNumber) == 0 })
	}
	closing.Store(false)
	first.Terminate()
	wait.Until(t, "an answer that ends its connection", closing.Load)
	current.Store(second)
	first.Wait()
	l.More(100)
	l.NoFailures()
	second.Terminate()
	second.Wait()
}

// freshSerial makes a call on a new connection and returns the number of the certificate it was
// shown.
func freshSerial(t *testing.T, p *process.Process, ca *tlstest.CA) *big.Int {
	t.Helper()
	serial := new(big.Int)
	a := &apiclient.Server{Endpoint: func() string { return p.Addr }, Observe: func(_ *http.Request, resp *http.Response) {
		if resp != nil {
			serial = resp.TLS.PeerCertificates[0].SerialNumber
		}
	}}
	h := apiclient.Hook{Path: server.DefaultPath, CABundle: ca.PEM, Reviews: []string{"v1"}}
	if _, err := a.Converter(t, crontabs(), []string{"v1beta1", "v1"}, h).To(sample(t), "v1"); err != nil {
		t.Errorf("call on a new connection: %v", err)
	}
	return serial
}
