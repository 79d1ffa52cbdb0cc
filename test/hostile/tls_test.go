package hostile_test

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/crdconvert/webhookd/test/helpers/tlstest"
	"github.com/crdconvert/webhookd/test/hostile"
)

// The ways in which the webhookd of a case is started.
const (
	byDefault = "by default"
	mutual    = "with a client CA"
)

// A tlsCase is a client that connects.
type tlsCase struct {
	name, server string
	// hello changes what the client offers.
	hello func(c *tls.Config)
	// refused is part of the error that the client gets; empty: its review is answered.
	refused string
	// reason is under which the failed handshake is counted; empty: refused_by_server, or there is
	// none.
	reason string
	// protocol is what ALPN agrees on.
	protocol string
	// bytes is what is sent in place of TLS, and answer how that is answered, before the connection
	// ends.
	bytes, answer string
	// custom is a client of another kind.
	custom func(t *testing.T, e *tlsServer)
}

func tlsCases() []tlsCase {
	return slices.Concat(tlsVersions(), protocols(), serverNames(), notTLS(), clientCertificates(), sessions())
}

// A tlsServer is a running webhookd and what it takes from clients.
type tlsServer struct {
	*webhookd

	clients *tlstest.CA
}

// TestTLS plays A9: what connects is answered with a review, and what is turned away leaves no
// trace but in the counter of failed handshakes and, at most once a minute for each reason, a line
// of net/http in the log.
func TestTLS(t *testing.T) {
	clients := tlstest.NewCA(t, "clients")
	ca := filepath.Join(t.TempDir(), "clients.pem")
	write(t, ca, string(clients.PEM))
	servers := map[string]*tlsServer{
		byDefault: {start(t), clients},
		mutual:    {start(t, "--client-ca-file", ca, "--client-names", "front-proxy,proxy.example.com,spiffe://example.com/proxy"), clients},
	}
	for _, c := range tlsCases() {
		t.Run(c.name, func(t *testing.T) {
			e := servers[c.server]
			before, first := e.counters(t), len(e.log(0))
			want := map[string]float64{}
			switch {
			case c.custom != nil:
				c.custom(t, e)
				return
			case c.bytes != "":
				e.sendBytes(t, c.bytes, c.answer)
			default:
				if e.connect(t, &c) {
					want = hostile.RawCases()[0].Want[0].Counters
				}
			}
			if len(want) == 0 {
				e.wantFailure(t, before, cmp.Or(c.reason, "refused_by_server"))
			}
			delta := grown(before, e.counters(t))
			maps.DeleteFunc(delta, func(name string, _ float64) bool { return strings.HasPrefix(name, failedHandshakes) }) // may be of the case before
			var v verdict
			v.judgeCounters(want, delta)
			for _, problem := range v.problems {
				t.Error(problem)
			}
			if len(want) == 0 {
				e.quiet(t, first)
			}
		})
	}
}

const failedHandshakes = "webhookd_tls_handshake_errors_total"

// wantFailure waits until a failed handshake is counted, which may be after the client knows of it.
func (e *tlsServer) wantFailure(t *testing.T, before map[string]float64, reason string) {
	t.Helper()
	name := fmt.Sprintf("%s{reason=%q}", failedHandshakes, reason)
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for deadline := time.Now().Add(patience); e.counters(t)[name] <= before[name]; <-ticker.C {
		if time.Now().After(deadline) {
			t.Fatalf("no failed handshake is counted as %s, but: %v", reason, grown(before, e.counters(t)))
		}
	}
}

// connect offers what the case says and sends a review. It reports whether that is to be answered.
func (e *tlsServer) connect(t *testing.T, c *tlsCase) bool {
	t.Helper()
	config := &tls.Config{}
	if c.hello != nil {
		c.hello(config)
	}
	if config.GetClientCertificate == nil && c.server == mutual && c.refused == "" {
		e.present(t, config, tlstest.Leaf{CommonName: "front-proxy", Usage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}, e.clients)
	}
	got, state, err := e.ask(t, config)
	if c.refused != "" {
		if err == nil || !strings.Contains(err.Error(), c.refused) {
			t.Errorf("error %v, want %q", err, c.refused)
		}
		return false
	}
	if err != nil {
		t.Fatal(err)
	}
	var v verdict
	v.judgeReply(&hostile.RawCases()[0].Want[0], got)
	for _, problem := range v.problems {
		t.Error(problem)
	}
	if state.NegotiatedProtocol != c.protocol {
		t.Errorf("protocol %q, want %q", state.NegotiatedProtocol, c.protocol)
	}
	return true
}

// ask sends a review over a new connection.
func (e *tlsServer) ask(t *testing.T, config *tls.Config) (*reply, tls.ConnectionState, error) {
	t.Helper()
	c, err := e.dialTLS(t, config)
	if err != nil {
		return nil, tls.ConnectionState{}, err
	}
	defer c.end()
	got, err := c.do(&hostile.Request{Body: hostile.RawBody})
	return &got, c.ConnectionState(), err
}

// present makes the client show a certificate of a CA.
func (e *tlsServer) present(t *testing.T, c *tls.Config, leaf tlstest.Leaf, ca *tlstest.CA) {
	t.Helper()
	cert := ca.Issue(t, leaf).TLS(t)
	// Whatever CA the server names.
	c.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &cert, nil }
}

// sendBytes sends bytes that are not TLS.
func (e *tlsServer) sendBytes(t *testing.T, text, answer string) {
	t.Helper()
	conn := e.dialTCP(t)
	if _, err := io.WriteString(conn, text); err != nil && !isClosed(err) {
		t.Fatal(err)
	}
	got, err := io.ReadAll(conn)
	if err != nil && !isClosed(err) {
		t.Errorf("the connection is kept: %v", err)
	}
	if !strings.HasPrefix(string(got), answer) || answer == "" && len(got) > 0 {
		t.Errorf("answer %q, want %q", got, answer)
	}
}

// quiet fails the test if the log has more than what net/http says of failed handshakes.
func (e *tlsServer) quiet(t *testing.T, first int) {
	t.Helper()
	for _, line := range e.log(first) {
		if isOfRequest(line) { // of the case before: that there is no review here is in the counters
			continue
		}
		if len(line) > maxLine {
			t.Errorf("a line of the log with %d bytes: %s", len(line), line)
		}
		if !strings.Contains(line, `"msg":"TLS handshake error: `) {
			t.Errorf("a line of the log that no case wants: %s", line)
		}
	}
}

func tlsVersions() []tlsCase {
	only := func(version uint16) func(*tls.Config) {
		return func(c *tls.Config) { c.MinVersion, c.MaxVersion = version, version }
	}
	const refused = "protocol version not supported"
	return []tlsCase{
		{name: "TLS 1.3", server: byDefault, hello: only(tls.VersionTLS13)},
		{name: "TLS 1.2", server: byDefault, hello: only(tls.VersionTLS12), refused: refused},
		{name: "TLS 1.1", server: byDefault, hello: only(tls.VersionTLS11), refused: refused},
		{name: "TLS 1.0", server: byDefault, hello: only(tls.VersionTLS10), refused: refused},
	}
}

func protocols() []tlsCase {
	offer := func(name, agreed, refused string, protocols ...string) tlsCase {
		return tlsCase{
			name: "ALPN " + name, server: byDefault, protocol: agreed, refused: refused,
			hello: func(c *tls.Config) { c.NextProtos = protocols },
		}
	}
	const refused = "no application protocol"
	return []tlsCase{
		offer("http/1.1", "http/1.1", "", "http/1.1"),
		offer("h2 and http/1.1", "http/1.1", "", "h2", "http/1.1"),
		offer("http/1.1 among a hundred", "http/1.1", "", append(slices.Repeat([]string{"x"}, 100), "http/1.1")...),
		offer("h2 alone", "", refused, "h2"),
		offer("h2c and h3", "", refused, "h2c", "h3"),
		offer("acme-tls/1", "", refused, "acme-tls/1"),
		offer("12 KB of control characters", "", refused, slices.Repeat([]string{strings.Repeat("\x01", 255)}, 48)...),
	}
}

func serverNames() []tlsCase {
	name := func(name string) func(*tls.Config) {
		return func(c *tls.Config) { c.ServerName, c.InsecureSkipVerify = name, true }
	}
	return []tlsCase{
		{name: "no server name", server: byDefault, hello: func(c *tls.Config) { c.ServerName = "127.0.0.1" }}, // an address is not sent
		{name: "another server name", server: byDefault, hello: name("other.example.com")},
		{name: "a server name with a secret", server: byDefault, hello: name(hostile.Canary)},
		{name: "a server name of 10 KiB", server: byDefault, hello: name(strings.Repeat("n", 10<<10))},
	}
}

func notTLS() []tlsCase {
	const hello = "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"
	const alert = "\x15\x03\x01\x00\x02\x02"
	return []tlsCase{
		{name: "HTTP without TLS", server: byDefault, bytes: "POST /crdconvert HTTP/1.1\r\nHost: a\r\nX: " + hostile.Canary + "\r\n\r\n", answer: "HTTP/1.0 400 Bad Request"},
		{name: "the preface of HTTP/2 without TLS", server: byDefault, bytes: "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"},
		{name: "half a hello", server: byDefault, reason: "closed", bytes: hello + strings.Repeat("\x00", 100)},
		{name: "one byte", server: byDefault, reason: "closed", bytes: "\x16"},
		{name: "a hello of SSL 2", server: byDefault, bytes: "\x80\x2e\x01\x00\x02\x00\x15\x00\x00\x00\x10" + strings.Repeat("\x01", 35), answer: alert},
		{name: "a record longer than there may be", server: byDefault, bytes: "\x16\x03\x01\xff\xff" + strings.Repeat("\x01", 1000), answer: alert},
		{name: "a message longer than there may be", server: byDefault, bytes: "\x16\x03\x01\x00\x04\x01\xff\xff\xff", answer: alert},
		{name: "a hello of 58 KB", server: byDefault, bytes: "\x16\x03\x01\x40\x00\x01\x00\xe2\x90" + strings.Repeat("\x01", 16<<10-4) +
			"\x16\x03\x01\x40\x00" + strings.Repeat("\x01", 16<<10)},
		{name: "data before a hello", server: byDefault, bytes: "\x17\x03\x03\x00\x04data"},
		{name: "a thousand bytes of zero", server: byDefault, bytes: strings.Repeat("\x00", 1000)},
	}
}

func clientCertificates() []tlsCase {
	show := func(name, refused string, leaf tlstest.Leaf, stranger bool) tlsCase {
		return tlsCase{name: name, server: mutual, custom: func(t *testing.T, e *tlsServer) {
			t.Helper()
			ca, config := e.clients, &tls.Config{}
			if stranger {
				ca = tlstest.NewCA(t, "clients")
			}
			e.present(t, config, leaf, ca)
			_, _, err := e.ask(t, config)
			if (err == nil) != (refused == "") || err != nil && !strings.Contains(err.Error(), refused) {
				t.Errorf("error %v, want %q", err, refused)
			}
		}}
	}
	client := []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	past := time.Now().Add(-48 * time.Hour)
	return []tlsCase{
		{name: "a client with the right certificate", server: mutual},
		{name: "a client without a certificate", server: mutual, refused: "certificate required"},
		show("a client of another CA", "unknown certificate authority", tlstest.Leaf{CommonName: "front-proxy", Usage: client}, true),
		show("a client with the right host", "", tlstest.Leaf{Hosts: []string{"other.example.com", "proxy.example.com"}, Usage: client}, false),
		show("a client with the right URI", "", tlstest.Leaf{Hosts: []string{}, URIs: []string{"spiffe://example.com/proxy"}, Usage: client}, false),
		show("a client without a name", "bad certificate", tlstest.Leaf{Hosts: []string{}, Usage: client}, false),
		show("a client with a host below the right one", "bad certificate", tlstest.Leaf{Hosts: []string{"a.proxy.example.com"}, Usage: client}, false),
		show("a client with another name", "bad certificate", tlstest.Leaf{CommonName: "front-proxy2", Usage: client}, false),
		show("a client whose certificate has expired", "expired certificate",
			tlstest.Leaf{CommonName: "front-proxy", Usage: client, NotBefore: past, NotAfter: past.Add(time.Hour)}, false),
		show("a client with a server's certificate", "bad certificate", tlstest.Leaf{CommonName: "front-proxy"}, false),
		{name: "a certificate without a request for one", server: byDefault, hello: func(c *tls.Config) { c.Certificates = []tls.Certificate{{}} }},
	}
}

func sessions() []tlsCase {
	return []tlsCase{
		{name: "resumption", server: byDefault, custom: func(t *testing.T, e *tlsServer) {
			t.Helper()
			e.resumed(t, &tls.Config{ClientSessionCache: tls.NewLRUClientSessionCache(1)}, true)
		}},
		{name: "resumption across a new certificate", server: byDefault, custom: resumeAcrossRotation},
		{name: "resumption with client certificates", server: mutual, custom: func(t *testing.T, e *tlsServer) {
			t.Helper()
			config := &tls.Config{ClientSessionCache: tls.NewLRUClientSessionCache(1)}
			e.present(t, config, tlstest.Leaf{CommonName: "front-proxy", Usage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}, e.clients)
			e.resumed(t, config, false)
		}},
		{name: "a flood of key updates", server: byDefault, custom: keyUpdateFlood},
	}
}

// resumed connects twice.
func (e *tlsServer) resumed(t *testing.T, config *tls.Config, want bool) {
	t.Helper()
	for _, want := range []bool{false, want} {
		got, state, err := e.ask(t, config.Clone())
		if err != nil || got.code != http.StatusOK || state.DidResume != want {
			t.Fatalf("resumed: %t, want %t; code %d, %v", state.DidResume, want, got.code, err)
		}
	}
}

// resumeAcrossRotation: a ticket of the time before a new certificate is good after it, and new
// sessions get the new one.
func resumeAcrossRotation(t *testing.T, e *tlsServer) {
	t.Helper()
	config := &tls.Config{ClientSessionCache: tls.NewLRUClientSessionCache(1)}
	e.resumed(t, config, true)
	first := len(e.log(0))
	pair := e.ca.Issue(t, tlstest.Leaf{})
	tlstest.SwapSecretDir(t, e.Secret, pair.Files())
	e.await(first, 1, func(line string) bool { return strings.Contains(line, `"msg":"certificate loaded"`) })
	got, state, err := e.ask(t, config.Clone())
	if err != nil || got.code != http.StatusOK || !state.DidResume {
		t.Errorf("resumed: %t; code %d, %v", state.DidResume, got.code, err)
	}
	got, state, err = e.ask(t, &tls.Config{})
	if err != nil || got.code != http.StatusOK || state.PeerCertificates[0].SerialNumber.Cmp(pair.Leaf.SerialNumber) != 0 {
		t.Errorf("the new certificate is not served: code %d, %v", got.code, err)
	}
}

// newSecrets returns where crypto/tls may write the secrets of a connection, and the one of the
// client's data.
func newSecrets(c *tls.Config) func() (string, error) {
	var log strings.Builder
	c.KeyLogWriter = &log
	return func() (string, error) {
		for line := range strings.Lines(log.String()) {
			if words := strings.Fields(line); words[0] == "CLIENT_TRAFFIC_SECRET_0" {
				return words[2], nil
			}
		}
		return "", fmt.Errorf("no secret of the client's data in %d bytes", log.Len())
	}
}
