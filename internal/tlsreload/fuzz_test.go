package tlsreload

import (
	"crypto/tls"
	"net"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/crdconvert/webhookd/test/helpers/tlstest"
)

// FuzzReload replaces the files of a good pair with any bytes. Either the good pair is served and a
// hook was called, or the pair on disk is: then crypto/tls accepts it, and a client can connect.
func FuzzReload(f *testing.F) {
	ca := tlstest.NewCA(f, "ca")
	good, other := ca.Issue(f, tlstest.Leaf{}), ca.Intermediate(f, "intermediate").Issue(f, tlstest.Leaf{})
	f.Add(other.Cert, other.Key)
	f.Add(good.Cert, other.Key)
	f.Add(other.Cert, good.Key)
	f.Add(other.Key, other.Cert)
	f.Add(other.Cert[:len(other.Cert)-40], other.Key)
	f.Add(append([]byte("text\n"), other.Cert...), slices.Concat(other.Key, other.Key))
	f.Add([]byte{}, []byte("-----BEGIN "))
	dir := f.TempDir()
	write := func(tb testing.TB, cert, key []byte) {
		tb.Helper()
		for name, data := range map[string][]byte{CertFile: cert, KeyFile: key} {
			if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
				tb.Fatal(err)
			}
		}
	}
	write(f, good.Cert, good.Key)
	var refused int
	s, err := Open(f.Context(), Options{Dir: dir, Hooks: Hooks{
		Failed: func(error) { refused++ }, Waiting: func(Event) { refused++ },
	}})
	if err != nil {
		f.Fatal(err)
	}
	first := s.state.Load()
	f.Fuzz(func(t *testing.T, cert, key []byte) {
		s.state.Store(&state{pair: first.pair})
		s.reported, refused = reported{}, 0
		write(t, cert, key)
		found := s.opts.inspect(s.state.Load()) // as reload does, without its retries
		s.apply(&found)
		served := s.Certificate()
		if served == first.pair.certificate {
			if same := first.pair.holds(&files{cert: cert, key: key}); same == (refused > 0) {
				t.Fatalf("the good pair is kept, the same: %v, and a hook was called %d times", same, refused)
			}
			return
		}
		disk, err := tls.X509KeyPair(cert, key)
		if err != nil || !disk.Leaf.Equal(served.Leaf) || refused > 0 {
			t.Fatalf("another pair is served than what is on disk: %v", err)
		}
		shakeHands(t, s)
	})
}

// shakeHands connects to a server that has the source's certificate.
func shakeHands(t *testing.T, s *Source) {
	t.Helper()
	there, here := net.Pipe()
	server, client := tls.Server(there, s.TLSConfig()), tls.Client(here, &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS13})
	done := make(chan error, 1)
	go func() { done <- server.HandshakeContext(t.Context()) }()
	err := client.HandshakeContext(t.Context())
	if peers := client.ConnectionState().PeerCertificates; err != nil || !peers[0].Equal(s.Certificate().Leaf) {
		t.Fatalf("no handshake with the pair that is served: %v", err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	for _, conn := range []net.Conn{there, here} {
		_ = conn.Close()
	}
}
