package cli

import (
	"bufio"
	"crypto/tls"
	"io"
	"net/http"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// A serverProcess is a webhookd of its own, so that what it uses is what it uses.
type serverProcess struct {
	address, admin string
	client         *http.Client // of the admin listener
}

func startProcess(t *testing.T, flags ...string) *serverProcess {
	t.Helper()
	path, err := exec.LookPath("webhookd") // testscript.Main has put it there
	if err != nil {
		t.Fatal(err)
	}
	log := &logBuffer{changed: make(chan struct{})}
	args := append([]string{"serve", "--self-signed", "--listen=127.0.0.1:0", "--admin-listen=127.0.0.1:0"}, flags...)
	cmd := exec.CommandContext(t.Context(), path, args...) //nolint:gosec // the program under test
	cmd.Stderr = log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	found := log.wait(t, servingLine.String())
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return &serverProcess{found[1], found[2], &http.Client{Transport: transport, Timeout: patience}}
}

// gauge returns the value of a metric without labels.
func (s *serverProcess) gauge(t *testing.T, name string) float64 {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+s.admin+"/metrics", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	w, err := s.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Body.Close()
	for lines := bufio.NewScanner(w.Body); lines.Scan(); {
		if text, found := strings.CutPrefix(lines.Text(), name+" "); found {
			value, err := strconv.ParseFloat(text, 64)
			if err != nil {
				t.Fatal(err)
			}
			return value
		}
	}
	t.Fatalf("no metric %s", name)
	return 0
}

// comesTo waits until a gauge is no more than a value.
func (s *serverProcess) comesTo(t *testing.T, name string, most float64) {
	t.Helper()
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for end := time.Now().Add(patience); ; <-ticker.C {
		got := s.gauge(t, name)
		if got <= most {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%s is %v, want at most %v", name, got, most)
		}
	}
}

// I23: neither a goroutine nor a descriptor is left of requests, however they end.
func TestNothingIsLeftOfRequests(t *testing.T) {
	t.Parallel()
	s := startProcess(t)
	const (
		object  = `{"apiVersion":"example.com/v1beta1","kind":"CronTab","metadata":{"name":"a"},"hostPort":"localhost:80"}`
		unknown = `{"apiVersion":"example.com/v1beta1","kind":"Nothing"}`
	)
	good := strings.Replace(emptyReview, "[]", "["+object+","+object+"]", 1)
	bodies := []string{emptyReview, good, strings.Replace(emptyReview, "[]", "["+unknown+"]", 1), `{"kind":`, ""}
	round := func(requests int) {
		var clients sync.WaitGroup
		for client := range 8 {
			clients.Go(func() {
				transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
				defer transport.CloseIdleConnections()
				for i := range requests {
					s.leave(t, transport, bodies[(client+i)%len(bodies)], i)
				}
			})
		}
		clients.Wait()
	}
	round(20) // what is made once is there
	s.comesTo(t, "webhookd_requests_in_flight", 0)
	s.client.CloseIdleConnections()
	goroutines, descriptors := s.gauge(t, "go_goroutines"), s.gauge(t, "process_open_fds")
	for s.settles(t, &goroutines, &descriptors) { // the connections of the first round end a little later
		continue
	}
	round(250)
	s.comesTo(t, "go_goroutines", goroutines+2)
	s.comesTo(t, "process_open_fds", descriptors+2)
	s.comesTo(t, "webhookd_request_bytes_in_flight", 0)
}

// settles tells whether there is less now than before, and remembers what there is.
func (s *serverProcess) settles(t *testing.T, goroutines, descriptors *float64) bool {
	t.Helper()
	<-time.After(200 * time.Millisecond)
	g, d := s.gauge(t, "go_goroutines"), s.gauge(t, "process_open_fds")
	less := g < *goroutines || d < *descriptors
	*goroutines, *descriptors = min(g, *goroutines), min(d, *descriptors)
	return less
}

// leave posts a body, now and then without waiting for the answer or for the end of the body.
func (s *serverProcess) leave(t *testing.T, transport *http.Transport, body string, i int) {
	t.Helper()
	if i%10 == 9 {
		c, err := (&tls.Dialer{Config: transport.TLSClientConfig}).DialContext(t.Context(), "tcp", s.address)
		if err != nil {
			t.Error(err)
			return
		}
		defer func() { _ = c.Close() }()
		_, err = io.WriteString(c, "POST /crdconvert HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9999\r\n\r\n"+body)
		if err != nil {
			t.Error(err)
		}
		return
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://"+s.address+"/crdconvert", strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return
	}
	r.Header.Set("Content-Type", "application/json")
	w, err := transport.RoundTrip(r)
	if err != nil {
		t.Error(err)
		return
	}
	defer w.Body.Close()
	if i%10 != 8 {
		_, _ = io.Copy(io.Discard, w.Body)
	}
}
