package tlsreload

import (
	"crypto/tls"
	"slices"
	"testing"

	"github.com/crdconvert/webhookd/test/helpers/tlstest"
)

// With TLS 1.2 allowed, each of its suites is ECDHE with an AEAD. Versions, suites, protocols,
// sessions and client certificates are offered to the server in test/hostile.
func TestSuitesOfTLS12(t *testing.T) {
	t.Parallel()
	s := open(t, Options{Dir: secretDir(t, tlstest.NewCA(t, "ca").Issue(t, tlstest.Leaf{}))})
	insecure := tls.InsecureCipherSuites()
	for _, id := range s.TLSConfig(tls.VersionTLS12).CipherSuites {
		name := tls.CipherSuiteName(id)
		if slices.ContainsFunc(insecure, func(c *tls.CipherSuite) bool { return c.ID == id }) ||
			!slices.Contains([]string{"GCM_SHA256", "GCM_SHA384", "POLY1305_SHA256"}, lastWords(name)) ||
			name[:len("TLS_ECDHE_")] != "TLS_ECDHE_" {
			t.Errorf("offered: %s", name)
		}
	}
	if got := s.TLSConfig(tls.VersionTLS10).MinVersion; got != tls.VersionTLS13 {
		t.Errorf("an unknown minimum became %#x, want TLS 1.3", got)
	}
}

// lastWords returns the last two words of a suite's name: its mode and its hash.
func lastWords(name string) string {
	for seen, i := 0, len(name)-1; i >= 0; i-- {
		if name[i] == '_' {
			if seen++; seen == 2 {
				return name[i+1:]
			}
		}
	}
	return name
}

// I03: without a client CA no client certificate is requested, so no chain is ever built.
func TestNoClientCertificateIsAskedFor(t *testing.T) {
	t.Parallel()
	ca := tlstest.NewCA(t, "ca")
	addr := listen(t, open(t, Options{Dir: secretDir(t, ca.Issue(t, tlstest.Leaf{}))}).TLSConfig(tls.VersionTLS12))
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		mustDial(t, addr, &tls.Config{
			RootCAs: ca.Pool(), ServerName: "localhost", MaxVersion: version,
			GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
				t.Errorf("%s: asked for a certificate", tls.VersionName(version))
				return &tls.Certificate{}, nil
			},
		})
	}
}
