package tlsreload

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/tls"
	"crypto/x509"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestSelfSigned(t *testing.T) {
	t.Parallel()
	var calls log
	s, err := SelfSigned([]string{"webhookd.example.com", "192.0.2.7", "localhost", "127.0.0.1"}, time.Now(), calls.hooks())
	if err != nil {
		t.Fatal(err)
	}
	s.Run(t.Context()) // it never changes
	calls.expect(t, "reloaded")
	if err := s.Ready(); err != nil {
		t.Error(err)
	}
	leaf := s.Certificate().Leaf
	if diff := cmp.Diff([]string{"localhost", "webhookd.example.com"}, leaf.DNSNames); diff != "" {
		t.Errorf("DNS names (-want +got):\n%s", diff)
	}
	if got := leaf.IPAddresses; len(got) != 3 {
		t.Errorf("IP addresses: %s, want each once", got)
	}
	if key, ok := leaf.PublicKey.(*ecdsa.PublicKey); !ok || key.Curve != elliptic.P256() {
		t.Errorf("key: %T, want P-256", leaf.PublicKey)
	}
	if err := checkLeaf(leaf); err != nil {
		t.Errorf("our own rules refuse it: %v", err)
	}

	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(s.CABundle()) {
		t.Fatalf("CA bundle is not PEM: %q", s.CABundle())
	}
	addr := listen(t, s.TLSConfig())
	for _, host := range []string{"localhost", "127.0.0.1", "::1", "webhookd.example.com", "192.0.2.7"} {
		if _, err := dial(t.Context(), addr, &tls.Config{RootCAs: roots, ServerName: host}); err != nil {
			t.Errorf("%s: %v", host, err)
		}
	}
	if _, err := dial(t.Context(), addr, &tls.Config{RootCAs: roots, ServerName: "elsewhere.example.com"}); err == nil {
		t.Error("a name that was not asked for is vouched for")
	}
}

func TestSelfSignedValidity(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		now := time.Now()
		s, err := SelfSigned(nil, now, Hooks{})
		if err != nil {
			t.Fatal(err)
		}
		got := s.Served()
		if !got.NotBefore.Equal(now.Add(-time.Hour)) || !got.NotAfter.Equal(now.AddDate(0, 0, 365)) {
			t.Errorf("made at %s: valid from %s to %s", now, got.NotBefore, got.NotAfter)
		}
		pass(2 * unreadFor)
		if err := s.Ready(); err != nil {
			t.Errorf("a pair without files is never out of date: %v", err)
		}
		if _, err := SelfSigned([]string{"h\u00f6st"}, now, Hooks{}); err == nil || !strings.Contains(err.Error(), "cannot be encoded") {
			t.Errorf("a name that no certificate can have: %v", err)
		}
	})
}
