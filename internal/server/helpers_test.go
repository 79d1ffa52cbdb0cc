package server_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crdconvert/webhookd/internal/review/apistatus"
	"github.com/crdconvert/webhookd/internal/server"
	"github.com/crdconvert/webhookd/test/helpers/tlstest"
)

// patience only ends a test that hangs. It is longer than any limit of the server.
const patience = 5 * time.Minute

// echo answers a review with its own body, and maps a failed read as the review handler does.
func echo(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if tooLarge, ok := errors.AsType[*http.MaxBytesError](err); ok {
		apistatus.Write(w, http.StatusRequestEntityTooLarge, metav1.StatusReasonRequestEntityTooLarge,
			"limit "+strconv.FormatInt(tooLarge.Limit, 10))
		return
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		apistatus.Write(w, http.StatusRequestTimeout, metav1.StatusReasonTimeout, "body came too late")
		return
	}
	if _, ok := errors.AsType[interface {
		error
		StatusCode() int
	}](err); ok {
		apistatus.WriteOverloaded(w, err.Error())
		return
	}
	if err != nil {
		apistatus.Write(w, http.StatusBadRequest, metav1.StatusReasonBadRequest, "body cut short")
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body)
}

// newPair makes a pair for 127.0.0.1.
func newPair(t *testing.T, notBefore, notAfter time.Time) *tls.Certificate {
	t.Helper()
	pair := tlstest.NewCA(t, "server").Issue(t, tlstest.Leaf{Hosts: []string{"127.0.0.1"}, NotBefore: notBefore, NotAfter: notAfter}).TLS(t)
	return &pair
}

func validPair(t *testing.T) *tls.Certificate {
	t.Helper()
	return newPair(t, time.Now().Add(-time.Hour), time.Now().Add(time.Hour))
}

// running is a server under test.
type running struct {
	*server.Server

	t     *testing.T
	stop  context.CancelFunc
	err   error
	done  chan struct{} // closed when Run has returned err
	asked bool          // the test has called wait
}

// options returns options for a server on free ports, after change.
func options(t *testing.T, change func(*server.Options)) server.Options {
	t.Helper()
	opts := server.Options{
		Webhook:     http.HandlerFunc(echo),
		Listen:      "127.0.0.1:0",
		AdminListen: "127.0.0.1:0",
		TLS:         &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{*validPair(t)}},
		Limits:      server.DefaultLimits(),
	}
	if change != nil {
		change(&opts)
	}
	return opts
}

// start runs a server until the test ends. Run must then return nil, unless the test called wait.
func start(t *testing.T, change func(*server.Options)) *running {
	t.Helper()
	s := server.New(options(t, change))
	return run(t, s)
}

// run is start for an existing server.
func run(t *testing.T, s *server.Server) *running {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	r := &running{Server: s, t: t, stop: cancel, done: make(chan struct{})}
	go func() {
		defer close(r.done)
		r.err = s.Run(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		if asked, err := r.asked, r.wait(); err != nil && !asked {
			t.Errorf("Run: %v", err)
		}
	})
	select {
	case <-s.Listening():
	case <-r.done:
		t.Fatalf("Run: %v", r.err)
	}
	return r
}

// wait returns Run's error.
func (r *running) wait() error {
	r.t.Helper()
	r.asked = true
	select {
	case <-r.done:
	case <-time.After(patience):
		r.t.Error("Run does not return")
	}
	return r.err
}

func (r *running) url() string      { return "https://" + r.Addr().String() + server.DefaultPath }
func (r *running) adminURL() string { return "http://" + r.AdminAddr().String() }

// newClient returns a client that trusts any certificate. Its idle connections end with the test.
func newClient(t *testing.T) *http.Client {
	t.Helper()
	transport := &http.Transport{
		TLSClientConfig:     &tls.Config{InsecureSkipVerify: true},
		MaxIdleConnsPerHost: 64,
	}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{
		Transport:     transport,
		Timeout:       patience,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// answer is the part of an HTTP answer that tests check.
type answer struct {
	code   int
	header http.Header
	body   string
	close  bool
}

// message returns the message of the Status, and fails the test if the answer is not one.
func (a answer) message(t *testing.T) string {
	t.Helper()
	var status metav1.Status
	if err := json.Unmarshal([]byte(a.body), &status); err != nil {
		t.Fatalf("answer %d is not a Status: %v: %q", a.code, err, a.body)
	}
	if status.Kind != "Status" || status.APIVersion != "v1" || status.Status != metav1.StatusFailure ||
		status.Code != int32(a.code) || a.header.Get("Content-Type") != "application/json" {
		t.Errorf("answer %d is not a proper Status: %q", a.code, a.body)
	}
	return status.Message
}

func readAnswer(t *testing.T, resp *http.Response) answer {
	t.Helper()
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Errorf("reading the answer: %v", err)
	}
	return answer{code: resp.StatusCode, header: resp.Header, body: string(body), close: resp.Close}
}

// post and get may be called in any goroutine; a failed request fails the test.
func post(t *testing.T, client *http.Client, url string, body io.Reader) answer {
	t.Helper()
	return do(t, client, http.MethodPost, url, body)
}

func get(t *testing.T, client *http.Client, url string) answer {
	t.Helper()
	return do(t, client, http.MethodGet, url, http.NoBody)
}

func do(t *testing.T, client *http.Client, method, url string, body io.Reader) answer {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, body)
	if err != nil {
		t.Errorf("making the request: %v", err)
		return answer{}
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := client.Do(req)
	if err != nil {
		t.Errorf("the call failed: %v", err)
		return answer{}
	}
	return readAnswer(t, resp)
}

// rawConn is a TLS connection for hand-written requests.
type rawConn struct {
	*tls.Conn

	t      *testing.T
	reader *bufio.Reader
}

func dialRaw(t *testing.T, addr net.Addr) *rawConn {
	t.Helper()
	d := tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"http/1.1"}}}
	c, err := d.DialContext(t.Context(), addr.Network(), addr.String())
	if err != nil {
		t.Fatal(err)
	}
	return newRaw(t, c.(*tls.Conn))
}

func newRaw(t *testing.T, c *tls.Conn) *rawConn {
	t.Helper()
	t.Cleanup(func() { _ = c.Close() })
	if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	return &rawConn{Conn: c, t: t, reader: bufio.NewReader(c)}
}

// send writes text with each line feed as CR LF.
func (c *rawConn) send(text string) {
	c.t.Helper()
	if _, err := io.WriteString(c, strings.ReplaceAll(text, "\n", "\r\n")); err != nil {
		c.t.Fatalf("sending: %v", err)
	}
}

// receive reads one answer to a request with the given method.
func (c *rawConn) receive(method string) answer {
	c.t.Helper()
	resp, err := http.ReadResponse(c.reader, &http.Request{Method: method})
	if err != nil {
		c.t.Fatalf("reading the answer: %v", err)
	}
	return readAnswer(c.t, resp)
}

// closed reports whether the server ends the connection, without another byte.
func (c *rawConn) closed() bool {
	c.t.Helper()
	err := c.readByte(patience)
	return err != nil && !errors.Is(err, os.ErrDeadlineExceeded)
}

// silent checks that the server leaves the connection alone for d.
func (c *rawConn) silent(d time.Duration) {
	c.t.Helper()
	if err := c.readByte(d); !errors.Is(err, os.ErrDeadlineExceeded) {
		c.t.Errorf("the server sends something or closes the connection: error %v", err)
	}
	if err := c.SetReadDeadline(time.Now().Add(patience)); err != nil {
		c.t.Fatal(err)
	}
}

func (c *rawConn) readByte(within time.Duration) error {
	c.t.Helper()
	if err := c.SetReadDeadline(time.Now().Add(within)); err != nil {
		c.t.Fatal(err)
	}
	_, err := c.reader.ReadByte()
	return err
}

// serve calls a handler without a network.
func serve(t *testing.T, h http.Handler, method, path, from string) (code int, body string) {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, path, http.NoBody)
	r.RemoteAddr = from
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

func servePost(t *testing.T, h http.Handler, path string) (code int, body string) {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader("{}"))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}
