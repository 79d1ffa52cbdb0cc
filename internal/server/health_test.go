package server_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/crdconvert/webhookd/internal/server"
)

func check(name string, err error) server.Check {
	return server.Check{Name: name, Check: func(context.Context) error { return err }}
}

// eventually waits until ok.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	ticker := time.NewTicker(time.Millisecond)
	defer ticker.Stop()
	for end := time.Now().Add(patience); !ok(); <-ticker.C {
		if time.Now().After(end) {
			t.Fatalf("timed out waiting for %s", what)
		}
	}
}

// TestReadiness is the table of states that make a replica unready. None of them makes it look
// dead.
func TestReadiness(t *testing.T) {
	t.Parallel()
	good := validPair(t)
	expired := newPair(t, time.Now().Add(-2*time.Hour), time.Now().Add(-time.Hour))
	early := newPair(t, time.Now().Add(time.Hour), time.Now().Add(2*time.Hour))
	broken := errors.New("no rules")
	serving := func(pair *tls.Certificate) func(*server.Options) {
		return func(o *server.Options) {
			o.TLS.Certificates = []tls.Certificate{*pair}
			o.ExpectedCertificate = func() *tls.Certificate { return pair }
		}
	}
	clientCA := func(version uint16) func(*server.Options) {
		return func(o *server.Options) {
			serving(good)(o)
			o.TLS.MaxVersion, o.TLS.MinVersion = version, version
			o.TLS.ClientAuth, o.TLS.ClientCAs = tls.RequireAndVerifyClientCert, x509.NewCertPool()
		}
	}
	tests := map[string]struct {
		change   func(*server.Options)
		want     int
		messages []string // parts
		verbose  []string // parts of the verbose answer
	}{
		"nothing to check": {nil, 200, nil, []string{"[+]draining ok\n", "readyz check passed"}},
		"check passes":     {func(o *server.Options) { o.Checks = []server.Check{check("registry", nil)} }, 200, nil, []string{"[+]draining ok\n[+]registry ok\n"}},
		"check fails":      {func(o *server.Options) { o.Checks = []server.Check{check("registry", broken), check("other", nil)} }, 503, []string{"not ready: registry: no rules"}, []string{"registry: no rules; passed: draining, other"}},
		"two checks fail": {func(o *server.Options) {
			o.Checks = []server.Check{check("a", broken), check("b", errors.Join(broken, broken))}
		}, 503, []string{"a: no rules; b: no rules; no rules"}, nil},
		"serves what it should":   {serving(good), 200, nil, []string{"[+]certificate ok\n"}},
		"serves something else":   {func(o *server.Options) { o.ExpectedCertificate = func() *tls.Certificate { return good } }, 503, []string{"certificate: the served certificate is not the one on disk"}, nil},
		"nothing to serve":        {func(o *server.Options) { o.ExpectedCertificate = func() *tls.Certificate { return nil } }, 503, []string{"certificate: no certificate to serve"}, nil},
		"expired":                 {serving(expired), 503, []string{"certificate: the certificate expired at "}, nil},
		"not yet valid":           {serving(early), 503, []string{"certificate: the certificate is not valid before "}, nil},
		"client certificate, 1.3": {clientCA(tls.VersionTLS13), 200, nil, nil},
		"client certificate, 1.2": {clientCA(tls.VersionTLS12), 200, nil, nil},
		"no certificate at all": {func(o *server.Options) {
			serving(good)(o)
			o.TLS = &tls.Config{MinVersion: tls.VersionTLS13, GetCertificate: noCertificate}
		}, 503, []string{"certificate: cannot reach the webhook listener"}, nil},
		"on all addresses": {func(o *server.Options) { serving(good)(o); o.Listen = ":0" }, 200, nil, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var logged lockedBuilder
			s := start(t, func(o *server.Options) {
				if tt.change != nil {
					tt.change(o)
				}
				o.Hooks.HandshakeFailed = func(_, text string) { _, _ = logged.Write([]byte(text)) }
			})
			client := newClient(t)
			var got answer
			eventually(t, "the self check", func() bool {
				got = get(t, client, s.adminURL()+"/readyz")
				return !strings.Contains(got.body, "not checked yet")
			})
			if own, _ := serve(t, s.Handler(), http.MethodGet, "/readyz", "10.0.0.1:1"); own != got.code {
				t.Errorf("webhook listener: code %d, want that of the admin listener, %d", own, got.code)
			}
			if got.code != tt.want {
				t.Errorf("code %d, want %d: %s", got.code, tt.want, got.body)
			}
			if got.code != 200 {
				message := got.message(t)
				for _, part := range tt.messages {
					if !strings.Contains(message, part) {
						t.Errorf("message %q does not say %q", message, part)
					}
				}
			}
			verbose := get(t, client, s.adminURL()+"/readyz?verbose")
			for _, part := range tt.verbose {
				if !strings.Contains(verbose.body, part) {
					t.Errorf("verbose answer %q does not say %q", verbose.body, part)
				}
			}
			if alive := get(t, client, s.adminURL()+"/livez"); alive.code != 200 {
				t.Errorf("liveness %d, want 200", alive.code)
			}
			if text := logged.String(); strings.Contains(text, "client didn't provide") {
				t.Errorf("the self check fills the log: %s", text)
			}
		})
	}
}

func noCertificate(*tls.ClientHelloInfo) (*tls.Certificate, error) { return nil, errors.New("none") }

// TestReadinessFollowsTheCertificate checks that a missed reload makes the server unready, and that
// it recovers.
func TestReadinessFollowsTheCertificate(t *testing.T) {
	t.Parallel()
	var served, expected atomic.Pointer[tls.Certificate]
	first, second := validPair(t), validPair(t)
	served.Store(first)
	expected.Store(first)
	made, err := server.New(options(t, func(o *server.Options) {
		o.TLS.Certificates = nil
		o.TLS.GetCertificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return served.Load(), nil }
		o.ExpectedCertificate = expected.Load
	}))
	if err != nil {
		t.Fatal(err)
	}
	server.CheckEvery(made, 20*time.Millisecond)
	s := run(t, made)
	client := newClient(t)
	ready := func() bool { return get(t, client, s.adminURL()+"/readyz").code == http.StatusOK }
	eventually(t, "ready", ready)
	expected.Store(second)
	eventually(t, "not ready, with a certificate that does not change", func() bool { return !ready() })
	served.Store(second)
	eventually(t, "ready again", ready)
}

// lockedBuilder is a strings.Builder for many goroutines.
type lockedBuilder struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *lockedBuilder) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuilder) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
