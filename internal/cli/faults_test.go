package cli

import (
	"bufio"
	"context"
	"crypto/tls"
	"io"
	"net/http"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/crdconvert/webhookd/internal/cli/voice"
)

const emptyReview = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","request":{"uid":"1","desiredAPIVersion":"example.com/v1","objects":[]}}`

// insecureClient is for tests in which the certificate does not matter.
func insecureClient(t *testing.T) *http.Client {
	t.Helper()
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: patience}
}

func postReview(t *testing.T, client *http.Client, addr, body string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://"+addr+"/crdconvert", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	w, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Body.Close()
	if _, err := io.Copy(io.Discard, w.Body); err != nil || w.StatusCode != http.StatusOK {
		t.Fatalf("answer %d: %v", w.StatusCode, err)
	}
}

var servingLine = regexp.MustCompile(`"msg":"serving","listen":"([^"]+)".*"adminListen":"([^"]+)"`)

// A jam is a stream that blocks once a given text is written to it.
type jam struct {
	from      string
	jammed    atomic.Bool
	once      sync.Once
	addresses chan []string
	release   chan struct{}
}

// newJam returns one that lets go with the test.
func newJam(t *testing.T, from string) *jam {
	t.Helper()
	j := &jam{from: from, addresses: make(chan []string, 1), release: make(chan struct{})}
	t.Cleanup(func() { close(j.release) })
	return j
}

// serveHere serves in the process of the test until cancel is called, and sends the exit code then.
func serveHere(t *testing.T, log io.Writer, flags ...string) (codes <-chan int, cancel func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	code := make(chan int, 1)
	go func() {
		args := slices.Concat([]string{"webhookd", "serve", "--self-signed", "--listen=127.0.0.1:0", "--admin-listen=127.0.0.1:0"}, flags)
		code <- Run(ctx, "", exampleKinds(), args, nil, strings.NewReader(""), io.Discard, log)
	}()
	return code, cancel
}

func (j *jam) Write(p []byte) (int, error) {
	if found := servingLine.FindStringSubmatch(string(p)); found != nil {
		j.once.Do(func() { j.addresses <- found[1:] })
	}
	if strings.Contains(string(p), j.from) {
		j.jammed.Store(true)
	}
	if j.jammed.Load() {
		<-j.release
	}
	return len(p), nil
}

// R9: reviews are answered although the log is full.
func TestABlockedLogDoesNotHoldUpRequests(t *testing.T) {
	t.Parallel()
	log := newJam(t, "review failed")
	codes, cancel := serveHere(t, log)
	addresses := <-log.addresses
	client := insecureClient(t)

	// Each makes a line of 1 KiB.
	name := strings.Repeat("n", 240)
	objects := strings.Repeat(`{"apiVersion":"example.com/v1beta1","kind":"K","metadata":{"name":"`+name+`"}},`, 5)
	failing := strings.Replace(emptyReview, "[]", "["+strings.TrimSuffix(objects, ",")+"]", 1)
	const reviews = 5000 // more than the queue of the log holds
	for range reviews {
		postReview(t, client, addresses[0], failing)
	}

	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+addresses[1]+"/metrics", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	w, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Body.Close()
	scraped, err := io.ReadAll(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`(?m)^webhookd_log_lines_dropped_total [1-9]`).Match(scraped) {
		t.Error("no dropped lines are counted")
	}

	cancel()
	wantEnd(t, codes, 0)
}

// The reader of the log has gone: writing to it would raise SIGPIPE.
func TestABrokenLogEndsNothing(t *testing.T) {
	t.Parallel()
	path, err := exec.LookPath("webhookd") // testscript.Main has put it there
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), path, //nolint:gosec // the program under test
		"serve", "--self-signed", "--listen=127.0.0.1:0", "--admin-listen=127.0.0.1:0")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var address string
	for lines := bufio.NewScanner(stderr); address == "" && lines.Scan(); {
		if found := servingLine.FindStringSubmatch(lines.Text()); found != nil {
			address = found[1]
		}
	}
	if err := stderr.Close(); err != nil {
		t.Fatal(err)
	}
	client := insecureClient(t)
	for range 5 {
		postReview(t, client, address, emptyReview)
		<-time.After(100 * time.Millisecond) // so that each line is written on its own
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("ended with %v", err)
	}
}

// The server ends although it has a message for stderr that is never read.
func TestABlockedLogDoesNotHoldUpTheEnd(t *testing.T) {
	t.Parallel()
	log := newJam(t, "draining")
	codes, cancel := serveHere(t, log, "--shutdown-timeout=1s")
	addresses := <-log.addresses

	// A body that never comes is cut, which is an error. Its request is in progress as soon as the
	// body is asked for.
	conn, err := (&tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true}}).DialContext(t.Context(), "tcp", addresses[0])
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	const head = "POST /crdconvert HTTP/1.1\r\nHost: webhookd\r\nContent-Type: application/json\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n"
	if _, err := io.WriteString(conn, head); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(conn).ReadString('\n'); err != nil || !strings.Contains(line, " 100 ") {
		t.Fatalf("answer %q: %v", line, err)
	}
	cancel()
	wantEnd(t, codes, voice.ExitFailed)
}

func wantEnd(t *testing.T, codes <-chan int, want int) {
	t.Helper()
	select {
	case code := <-codes:
		if code != want {
			t.Errorf("exit code %d, want %d", code, want)
		}
	case <-time.After(patience):
		t.Error("does not end")
	}
}
