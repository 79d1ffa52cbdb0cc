package tlsreload

import (
	"crypto/tls"
	"slices"
	"testing"

	"github.com/crdconvert/webhookd/test/helpers/tlstest"
)

func TestVersionsAndSuites(t *testing.T) {
	t.Parallel()
	ca := tlstest.NewCA(t, "ca")
	s := open(t, Options{Dir: secretDir(t, ca.Issue(t, tlstest.Leaf{}))})
	strict, lax := listen(t, s.TLSConfig(0)), listen(t, s.TLSConfig(tls.VersionTLS12))
	for _, test := range []struct {
		name     string
		addr     string
		min, max uint16
		suites   []uint16
		want     uint16 // 0: refused
	}{
		{"1.3 by default", strict, 0, 0, nil, tls.VersionTLS13},
		{"1.2 is refused by default", strict, 0, tls.VersionTLS12, nil, 0},
		{"1.3 is preferred with 1.2 allowed", lax, 0, 0, nil, tls.VersionTLS13},
		{"1.2 when allowed", lax, 0, tls.VersionTLS12, nil, tls.VersionTLS12},
		{"1.1 never", lax, tls.VersionTLS10, tls.VersionTLS11, nil, 0},
		{
			"1.2 with CBC never", lax, 0, tls.VersionTLS12,
			[]uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA, tls.TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA},
			0,
		},
		{
			"1.2 with ChaCha20", lax, 0, tls.VersionTLS12,
			[]uint16{tls.TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256},
			tls.VersionTLS12,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			state, err := dial(t.Context(), test.addr, &tls.Config{
				RootCAs: ca.Pool(), ServerName: "localhost",
				MinVersion: test.min, MaxVersion: test.max, CipherSuites: test.suites,
			})
			if (err == nil) != (test.want != 0) || state.Version != test.want {
				t.Errorf("version %#x, error %v; want version %#x", state.Version, err, test.want)
			}
		})
	}
}

// With TLS 1.2 allowed, each of its suites is ECDHE with an AEAD.
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

// I01: no offer of a client leads to HTTP/2.
func TestNoOfferGetsHTTP2(t *testing.T) {
	t.Parallel()
	ca := tlstest.NewCA(t, "ca")
	s := open(t, Options{Dir: secretDir(t, ca.Issue(t, tlstest.Leaf{}))})
	addr := listen(t, s.TLSConfig(0))
	for _, test := range []struct {
		name    string
		offer   []string
		want    string
		refused bool
	}{
		{"nothing", nil, "", false},
		{"http/1.1", []string{"http/1.1"}, "http/1.1", false},
		{"h2 first", []string{"h2", "http/1.1"}, "http/1.1", false},
		{"h2 last", []string{"http/1.1", "h2"}, "http/1.1", false},
		{"h2 alone", []string{"h2"}, "", true},
		{"h3 and h2c", []string{"h3", "h2c"}, "", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			state, err := dial(t.Context(), addr, &tls.Config{RootCAs: ca.Pool(), ServerName: "localhost", NextProtos: test.offer})
			if (err != nil) != test.refused || state.NegotiatedProtocol != test.want {
				t.Errorf("negotiated %q, error %v; want %q, refused %t", state.NegotiatedProtocol, err, test.want, test.refused)
			}
		})
	}
}

func TestSessionTickets(t *testing.T) {
	t.Parallel()
	ca := tlstest.NewCA(t, "ca")
	dir := secretDir(t, ca.Issue(t, tlstest.Leaf{}))
	client := ca.Issue(t, tlstest.Leaf{CommonName: "proxy", Usage: clientUsage()})
	for _, test := range []struct {
		name    string
		opts    Options
		resumes bool
	}{
		{"on by default", Options{Dir: dir}, true},
		{"off with a client CA", Options{Dir: dir, ClientCAFile: caFile(t, ca)}, false},
	} {
		for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
			t.Run(test.name+", "+tls.VersionName(version), func(t *testing.T) {
				t.Parallel()
				addr := listen(t, open(t, test.opts).TLSConfig(tls.VersionTLS12))
				config := &tls.Config{
					RootCAs: ca.Pool(), ServerName: "localhost", MaxVersion: version,
					ClientSessionCache: tls.NewLRUClientSessionCache(1),
					Certificates:       []tls.Certificate{client.TLS(t)},
				}
				mustDial(t, addr, config)
				if got := mustDial(t, addr, config).DidResume; got != test.resumes {
					t.Errorf("second handshake resumed: %t, want %t", got, test.resumes)
				}
			})
		}
	}
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
