package hostile_test

import (
	"bufio"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/crdconvert/webhookd/test/helpers/process"
	"github.com/crdconvert/webhookd/test/hostile"
)

// A connection is one to webhookd, on which this test says every byte.
type connection struct {
	*tls.Conn

	in *bufio.Reader
}

// dial makes a connection.
func dial(t *testing.T, p *webhookd) *connection {
	t.Helper()
	c, err := p.dialTLS(t, &tls.Config{})
	if err != nil {
		t.Fatalf("connect: %v", err)
	}
	return c
}

// dialTLS makes a connection in a way of the test's, with the CA of the process.
func (p *webhookd) dialTLS(t *testing.T, c *tls.Config) (*connection, error) {
	t.Helper()
	c.RootCAs = p.ca.Pool()
	if c.ServerName == "" {
		c.ServerName = "localhost"
	}
	raw := p.dialTCP(t)
	conn := tls.Client(raw, c)
	if err := conn.HandshakeContext(t.Context()); err != nil {
		return nil, err
	}
	return &connection{Conn: conn, in: bufio.NewReader(conn)}, nil
}

func (p *webhookd) dialTCP(t *testing.T) net.Conn {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", p.Addr)
	if err != nil {
		t.Fatalf("connect: %v", err)
	}
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// A reply is what came back for one request.
type reply struct {
	code   int
	header http.Header
	body   []byte
	closed bool // the connection, as the header says
}

// do sends a request and reads the reply. A server may answer before it has read all.
func (c *connection) do(r *hostile.Request) (reply, error) {
	if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
		return reply{}, err
	}
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		// A failure to send is none where there is an answer.
		if _, err := io.Copy(c, message(r)); err == nil && r.Length > 0 && !r.Chunked {
			_ = c.CloseWrite()
		}
	}()
	answer, err := c.read(r.Method)
	if err != nil || answer.closed {
		c.end()
	}
	<-sent
	return answer, err
}

// message returns the bytes of a request.
func message(r *hostile.Request) io.Reader {
	var head strings.Builder
	method, target, header := r.Method, r.Target, r.Header
	if method == "" {
		method = http.MethodPost
	}
	if target == "" {
		target = hostile.DefaultTarget
	}
	if header == nil {
		header = hostile.DefaultHeader()
	}
	fmt.Fprintf(&head, "%s %s HTTP/1.1\r\nHost: localhost\r\n", method, target)
	for _, line := range header {
		head.WriteString(line + "\r\n")
	}
	body := r.Body()
	if r.Chunked {
		head.WriteString("Transfer-Encoding: chunked\r\n\r\n")
		return io.MultiReader(strings.NewReader(head.String()), chunks(body))
	}
	length := int64(len(body))
	if r.Length != 0 {
		length = r.Length
	}
	head.WriteString("Content-Length: " + strconv.FormatInt(length, 10) + "\r\n\r\n")
	return io.MultiReader(strings.NewReader(head.String()), strings.NewReader(body))
}

// chunks writes a body in chunks of 1 MiB and a little.
func chunks(body string) io.Reader {
	const size = 1<<20 + 7
	var readers []io.Reader
	for body != "" {
		n := min(size, len(body))
		readers = append(readers, strings.NewReader(strconv.FormatInt(int64(n), 16)+"\r\n"), strings.NewReader(body[:n]), strings.NewReader("\r\n"))
		body = body[n:]
	}
	return io.MultiReader(append(readers, strings.NewReader("0\r\n\r\n"))...)
}

// read reads a reply to a request of a method.
func (c *connection) read(method string) (reply, error) {
	resp, err := http.ReadResponse(c.in, &http.Request{Method: method})
	if err != nil {
		return reply{}, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return reply{resp.StatusCode, resp.Header, body, resp.Close}, err
}

// end closes the connection, which has no failure to act on.
func (c *connection) end() { _ = c.Close() }

// kept reports whether the connection serves another request.
func (c *connection) kept() error {
	if _, err := io.WriteString(c, "GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
		return err
	}
	answer, err := c.read(http.MethodGet)
	if err == nil && answer.code != http.StatusOK {
		err = fmt.Errorf("/readyz answers %d", answer.code)
	}
	return err
}

// ended reports whether the connection has nothing more to say.
func (c *connection) ended() error {
	if rest, err := io.ReadAll(c.in); err != nil && !isClosed(err) {
		return err
	} else if len(rest) > 0 {
		return fmt.Errorf("more came: %.80q", rest)
	}
	return nil
}

// isClosed is true of the errors of a connection that either side has closed.
func isClosed(err error) bool {
	var timeout net.Error
	return !errors.As(err, &timeout) || !timeout.Timeout()
}

// counters returns the counters of /metrics, but for those of the log and the files.
func (p *webhookd) counters(t *testing.T) map[string]float64 {
	t.Helper()
	code, text, err := p.Get(t.Context(), "/metrics")
	if err != nil || code != http.StatusOK {
		t.Fatalf("metrics: code %d: %v", code, err)
	}
	p.noSecrets("/metrics", text)
	counters := process.ParseMetrics(text)
	maps.DeleteFunc(counters, func(series string, _ float64) bool {
		name, _, _ := strings.Cut(series, "{")
		return !strings.HasPrefix(name, "webhookd_") || !strings.HasSuffix(name, "_total") && !strings.HasSuffix(name, "_size_bytes_count")
	})
	return counters
}

// grown returns by how much counters grew.
func grown(before, after map[string]float64) map[string]float64 {
	delta := map[string]float64{}
	for name, value := range after {
		if d := value - before[name]; d != 0 {
			delta[name] = d
		}
	}
	return delta
}
