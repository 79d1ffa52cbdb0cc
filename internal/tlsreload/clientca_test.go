package tlsreload

import (
	"crypto/tls"
	"crypto/x509"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/crdconvert/webhookd/test/helpers/tlstest"
)

func clientUsage() []x509.ExtKeyUsage { return []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth} }

// The client CA is reloaded like the key pair, wherever it is, and a bad one is refused.
func TestClientCAReloads(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		// place writes the files and returns the options, and a function that replaces the client
		// CA.
		place func(t *testing.T, pair tlstest.Pair, first []byte) (Options, func(t *testing.T, pem []byte))
	}{
		{"in the same Secret", func(t *testing.T, pair tlstest.Pair, first []byte) (Options, func(*testing.T, []byte)) {
			dir := filepath.Join(t.TempDir(), "tls")
			files := func(pem []byte) map[string][]byte {
				f := pair.Files()
				f["ca.crt"] = pem
				return f
			}
			tlstest.WriteSecretDir(t, dir, files(first))
			return Options{Dir: dir, ClientCAFile: filepath.Join(dir, "ca.crt")}, func(t *testing.T, pem []byte) {
				tlstest.SwapSecretDir(t, dir, files(pem))
			}
		}},
		{"in a volume of its own", func(t *testing.T, pair tlstest.Pair, first []byte) (Options, func(*testing.T, []byte)) {
			dir := filepath.Join(t.TempDir(), "client-ca")
			tlstest.WriteSecretDir(t, dir, map[string][]byte{"ca.crt": first})
			opts := Options{Dir: secretDir(t, pair), ClientCAFile: filepath.Join(dir, "ca.crt")}
			return opts, func(t *testing.T, pem []byte) {
				tlstest.SwapSecretDir(t, dir, map[string][]byte{"ca.crt": pem})
			}
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			ca, before, after := tlstest.NewCA(t, "ca"), tlstest.NewCA(t, "before"), tlstest.NewCA(t, "after")
			pair := ca.Issue(t, tlstest.Leaf{})
			opts, replace := test.place(t, pair, before.PEM)
			opts.PollInterval = fast
			var calls log
			opts.Hooks = calls.hooks()
			s, updated := openUpdated(t, opts)
			run(t, s)
			addr := listen(t, s.TLSConfig())
			tickets := tls.NewLRUClientSessionCache(0)
			accepts := func(by *tlstest.CA) bool {
				client := by.Issue(t, tlstest.Leaf{Usage: clientUsage()}).TLS(t)
				state, err := dial(t.Context(), addr, &tls.Config{
					RootCAs: ca.Pool(), ServerName: "localhost", Certificates: []tls.Certificate{client}, ClientSessionCache: tickets,
				})
				return err == nil && !state.DidResume
			}
			if !accepts(before) || accepts(after) {
				t.Fatal("the first client CA is not in force")
			}
			for _, pem := range [][]byte{slices.Concat(before.PEM, after.PEM), after.PEM} {
				replace(t, pem)
				await(t, updated, "the client CA")
				if !accepts(after) {
					t.Error("the new client CA is not in force")
				}
			}
			if accepts(before) {
				t.Error("the old client CA is still in force")
			}
			expectServed(t, s, pair)
			calls.expect(t, "reloaded", "client CA reloaded: 1", "client CA reloaded: 2", "client CA reloaded: 1")
		})
	}
}

// A bad client CA is refused, and does not stop a good key pair.
func TestBadClientCA(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, want string
		pem        func(ca *tlstest.CA) []byte
	}{
		{"missing", "no such file or directory; add it to the Secret, or set client-ca-file to where it is", nil},
		{"empty", "ca.crt: no PEM block", func(*tlstest.CA) []byte { return nil }},
		{"cut short", "PEM blocks are cut short", func(ca *tlstest.CA) []byte { return ca.PEM[:100] }},
		{"too long", "larger than 1 MiB\n", func(*tlstest.CA) []byte { return make([]byte, maxFile+1) }},
		{"a key", "no CERTIFICATE block", func(*tlstest.CA) []byte { return tlstestKey(t) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ca := tlstest.NewCA(t, "ca")
				dir := filepath.Join(t.TempDir(), "tls")
				files := ca.Issue(t, tlstest.Leaf{}).Files()
				files["ca.crt"] = ca.PEM
				tlstest.WriteSecretDir(t, dir, files)
				var calls log
				opts := Options{Dir: dir, ClientCAFile: filepath.Join(dir, "ca.crt"), Hooks: calls.hooks()}
				s := open(t, opts)
				before := s.state.Load().clients

				next := ca.Issue(t, tlstest.Leaf{})
				files = next.Files()
				if test.pem != nil {
					files["ca.crt"] = test.pem(ca)
				}
				tlstest.SwapSecretDir(t, dir, files)
				s.reload(t.Context())
				s.reload(t.Context())
				expectServed(t, s, next)
				if s.state.Load().clients != before {
					t.Error("the bad client CA is in force")
				}
				calls.expect(t, "reloaded", "client CA reloaded: 1", "reloaded", "failed")
				if reason := calls.lastReason() + "\n"; !strings.Contains(reason, test.want) || !strings.Contains(reason, opts.ClientCAFile) {
					t.Errorf("reason: %q, want %q and the path in it", reason, test.want)
				}
				if _, err := Open(t.Context(), opts); err == nil || !strings.Contains(err.Error()+"\n", test.want) {
					t.Errorf("Open with it: %v, want %q", err, test.want)
				}
			})
		})
	}
}

func tlstestKey(t *testing.T) []byte {
	t.Helper()
	return tlstest.NewCA(t, "ca").Issue(t, tlstest.Leaf{}).Key
}

// A client CA next to the key pair is read from the generation that ..data names, like the pair.
func TestClientCAIsOfTheSameGeneration(t *testing.T) {
	t.Parallel()
	ca := tlstest.NewCA(t, "ca")
	files := ca.Issue(t, tlstest.Leaf{}).Files()
	files["ca.crt"] = ca.PEM
	dir := filepath.Join(t.TempDir(), "tls")
	tlstest.WriteSecretDir(t, dir, files)
	visible := filepath.Join(dir, "ca.crt")
	noError(t, os.Remove(visible))
	writeFile(t, visible, tlstest.NewCA(t, "not of this generation").PEM)

	s := open(t, Options{Dir: dir, ClientCAFile: visible})
	if !s.state.Load().clients.pool.Equal(ca.Pool()) {
		t.Error("the client CA is not that of the generation")
	}
	noError(t, os.Remove(filepath.Join(dir, "..data")), os.Symlink("..gone", filepath.Join(dir, "..data")))
	known := s.state.Load()
	if found := s.opts.inspect(known); found.pairErr == nil || found.clientsErr != nil || found.clients != known.clients {
		t.Errorf("the problem of a generation is that of its pair alone: %+v", found)
	}
}

// The names are compared with all that a certificate has.
func TestClientNames(t *testing.T) {
	t.Parallel()
	ca := tlstest.NewCA(t, "ca")
	file := filepath.Join(t.TempDir(), "ca.crt")
	writeFile(t, file, ca.PEM)
	config := open(t, Options{
		Dir: secretDir(t, ca.Issue(t, tlstest.Leaf{})), ClientCAFile: file, ClientNames: []string{"front-proxy", "spiffe://example.com/proxy"},
	}).TLSConfig()
	for _, test := range []struct {
		leaf    tlstest.Leaf
		allowed bool
	}{
		{tlstest.Leaf{CommonName: "front-proxy"}, true},
		{tlstest.Leaf{Hosts: []string{"front-proxy"}}, true},
		{tlstest.Leaf{URIs: []string{"spiffe://example.com/proxy"}}, true},
		{tlstest.Leaf{CommonName: "front-proxy.example.com", URIs: []string{"spiffe://example.com/other"}}, false},
	} {
		err := config.VerifyConnection(tls.ConnectionState{PeerCertificates: []*x509.Certificate{ca.Issue(t, test.leaf).Leaf}})
		if (err == nil) != test.allowed {
			t.Errorf("%+v: %v, allowed %t", test.leaf, err, test.allowed)
		}
	}
}
