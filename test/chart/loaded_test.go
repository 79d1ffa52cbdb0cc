package chart_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/crdconvert/webhookd/internal/review"
	"github.com/crdconvert/webhookd/internal/serve/metrics"
	"github.com/crdconvert/webhookd/internal/server"
	"github.com/crdconvert/webhookd/internal/server/gate"
	"github.com/crdconvert/webhookd/internal/tlsreload"
)

// A loaded webhookd gets many requests, and some of them fail.
type loaded struct {
	url, admin string
	client     *http.Client
}

// startLoaded builds and starts a webhookd with the rules of an example and little memory.
func startLoaded(t *testing.T) *loaded {
	t.Helper()
	dir, root := t.TempDir(), filepath.Join("..", "..")
	program := filepath.Join(dir, "webhookd")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, "./cmd/webhookd") //nolint:gosec // our own
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	example, err := filepath.Abs(filepath.Join(root, "examples", "widget"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "serve", "--self-signed", "--listen=127.0.0.1:0", "--admin-listen=127.0.0.1:0", "--drain-delay=0s", //nolint:noctx,gosec // it ends with a signal
		"--rules="+filepath.Join(example, "rules.yaml"), "--crds="+filepath.Join(example, "crd.yaml"),
		"--max-body=1Mi", "--max-in-flight-bytes=1800Ki")
	cmd.Env = []string{"TMPDIR=" + dir}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	serving := make(chan servingLine, 1)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			var line servingLine
			if json.Unmarshal(lines.Bytes(), &line) == nil && line.Message == "serving" {
				serving <- line
			}
		}
	}()
	t.Cleanup(func() {
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Error(err)
		}
		<-ended
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	})
	select {
	case at := <-serving:
		insecure := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
		return &loaded{url: "https://" + at.Listen + "/crdconvert", admin: at.AdminListen, client: &http.Client{Transport: insecure}}
	case <-ended:
		t.Fatal("webhookd ended")
	}
	return nil
}

// A servingLine is the log line with the addresses that webhookd listens on.
type servingLine struct {
	Message     string `json:"msg"`
	Listen      string `json:"listen"`
	AdminListen string `json:"adminListen"`
}

// load sends a few requests of each kind until ctx ends, and returns an error at the first wrong
// answer.
func (l *loaded) load(ctx context.Context, widgets [2]string) error {
	for _, r := range []struct {
		body, contentType string
		code              int
	}{
		{reviewOf(widgets[0], "v1alpha1"), "application/json", http.StatusOK}, // with a kept value
		{reviewOf(widgets[1], "v1"), "application/json", http.StatusOK},       // which fails
		{reviewOf(widgets[0], "v1beta1"), "application/json", http.StatusOK},
		{"{}", "application/json", http.StatusBadRequest},
		{"x", "text/plain", http.StatusUnsupportedMediaType},
		{strings.Repeat(" ", 1<<20), "application/json", http.StatusTooManyRequests}, // another request has most of the memory
	} {
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, l.url, strings.NewReader(r.body))
		if err != nil {
			return err
		}
		request.Header.Set("Content-Type", r.contentType)
		response, err := l.client.Do(request)
		if err != nil {
			return err
		}
		answer, err := io.ReadAll(response.Body)
		if err := errors.Join(err, response.Body.Close()); err != nil {
			return err
		}
		if r.code == http.StatusTooManyRequests && response.StatusCode == http.StatusBadRequest {
			continue // between two requests that stall
		}
		if response.StatusCode != r.code {
			return fmt.Errorf("HTTP %d, want %d: %s", response.StatusCode, r.code, answer)
		}
	}
	return nil
}

// stall holds memory with an unfinished request until the test ends. When that is cut off, it
// starts another one.
func (l *loaded) stall(t *testing.T) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			l.stallOnce(ctx)
		}
	}()
	t.Cleanup(func() {
		stop()
		<-done
	})
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for !l.inFlight(t) {
		<-ticker.C
	}
}

// stallOnce sends part of a body, and returns when the server or ctx ends the request.
func (l *loaded) stallOnce(ctx context.Context) {
	body, more := io.Pipe()
	stopped := context.AfterFunc(ctx, func() { _ = more.CloseWithError(io.ErrUnexpectedEOF) })
	defer stopped()
	go func() { _, _ = more.Write(bytes.Repeat([]byte(" "), 600<<10)) }() // only what has arrived takes memory
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, l.url, body)
	if err != nil {
		return
	}
	request.ContentLength = 900 << 10
	request.Header.Set("Content-Type", "application/json")
	if response, err := l.client.Do(request); err == nil {
		_ = response.Body.Close() // its error does not matter
	}
	_ = body.Close()
}

// inFlight reports whether a large body holds its memory.
func (l *loaded) inFlight(t *testing.T) bool {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+l.admin+"/metrics", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := l.client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Contains(string(text), "\nwebhookd_request_bytes_in_flight 921600\n")
}

// reviewOf is a review with one object.
func reviewOf(object, version string) string {
	return `{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","request":{"uid":"705ab4f5-6393-11e8-b7cc-42010a800002",` +
		`"desiredAPIVersion":"shop.example.com/` + version + `","objects":[` + object + `]}}`
}

// A replica in this process reports events that no request can cause: panics, a converter that
// changes metadata, a log without a reader, an old copy of a CRD and objects that hardly fit. It
// uses the product's own metrics.
type replica struct {
	metrics *metrics.Metrics
	dropped atomic.Uint64
}

func startReplica(t *testing.T) (*replica, string) {
	t.Helper()
	r := &replica{metrics: metrics.New(metrics.Build{Version: "v1.2.3", Revision: "abc", GoVersion: "go1.26"})}
	r.metrics.WatchLog(r.dropped.Load)
	r.metrics.WatchServer(func() server.Stats {
		return server.Stats{Use: gate.Use{Requests: 1, Waiting: 1, Bytes: 4096, BytesLimit: 1 << 30}, Connections: 1, ConnectionsLimit: 100}
	})
	r.metrics.WatchCRDs(func() map[string]bool { return map[string]bool{"Widget.shop.example.com": true} })
	r.metrics.RulesServed(1, "0123456789ab")
	r.metrics.TLS().Reloaded(tlsreload.Event{NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().AddDate(0, 3, 0)})
	admin := httptest.NewServer(r.metrics.Handler())
	t.Cleanup(admin.Close)
	return r, admin.Listener.Addr().String()
}

// load counts one event of each kind.
func (r *replica) load(ctx context.Context) {
	pair := review.Pair{Kind: "Widget.shop.example.com", From: "v1", To: "v1beta1"}
	r.metrics.Review().GuardRefused(pair, ".metadata.finalizers")
	r.metrics.Review().ObjectsDone(review.Objects{
		Pair: pair, Failed: 1, TooLarge: 1, CostLimited: 1, WithKept: 1, Kept: []review.Kept{{Bytes: 200 << 10, Annotations: 250 << 10}},
		Durations: []time.Duration{time.Millisecond, time.Millisecond},
	})
	r.metrics.Review().Panicked(ctx, review.Panic{Pair: pair})
	r.metrics.Server().Panicked("string", nil)
	r.metrics.ConfigReloaded(nil)
	r.metrics.RulesRead(0)
	r.dropped.Add(1)
}

// startAPIServer serves the metrics of kube-apiserver that the chart uses, as if there were a
// conversion of each kind between any two scrapes.
func startAPIServer(t *testing.T) string {
	t.Helper()
	var scrapes atomic.Int64
	admin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		n := scrapes.Add(1)
		var text bytes.Buffer
		const name = "apiserver_crd_conversion_webhook_duration_seconds"
		fmt.Fprintf(&text, "# TYPE %s histogram\n", name)
		for _, succeeded := range []string{"true", "false"} {
			labels := `crd_name="widgets.shop.example.com",from_version="v1",to_version="v1beta1",succeeded="` + succeeded + `"`
			for _, le := range []string{"0.005", "1", "+Inf"} {
				fmt.Fprintf(&text, "%s_bucket{%s,le=%q} %d\n", name, labels, le, n)
			}
			fmt.Fprintf(&text, "%s_sum{%s} %f\n%s_count{%s} %d\n", name, labels, float64(n)/1000, name, labels, n)
		}
		w.Header().Set("Content-Type", "text/plain; version=0.0.4")
		_, _ = w.Write(text.Bytes()) // the scraper notices
	}))
	t.Cleanup(admin.Close)
	return admin.Listener.Addr().String()
}

// widgetsOf returns an object with a kept value, and one of a kind without a converter.
func widgetsOf(t *testing.T) [2]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "examples", "widget", "cases", "git.v1.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	object, err := json.Marshal(values(t, string(text)))
	if err != nil {
		t.Fatal(err)
	}
	return [2]string{string(object), `{"apiVersion":"shop.example.com/v1alpha1","kind":"Gizmo","metadata":{"name":"any"}}`}
}
