package faults_test

import (
	"bufio"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/crdconvert/webhookd/internal/server"
	"github.com/crdconvert/webhookd/test/helpers/reviewtest"
	"github.com/crdconvert/webhookd/test/helpers/tlstest"

	"github.com/crdconvert/webhookd/test/oracle/apiclient"
	"github.com/crdconvert/webhookd/test/oracle/load"
	"github.com/crdconvert/webhookd/test/oracle/process"
	"github.com/crdconvert/webhookd/test/oracle/wait"
)

// smallContainer is the chart's default limit of memory.
const smallContainer = 256 << 20

// echoServer starts a bare server with the key pair of p, and returns its address.
func echoServer(t *testing.T, p *process.Process) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), binary(t, echo), p.Secret) //nolint:gosec // the test's own
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Wait() }) // the end of the test's context kills it
	addr, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(addr)
}

// launchContainer starts one with the memory of a small container: that it takes no more is held by
// the kernel with -full, and by the test otherwise.
func launchContainer(t *testing.T, ca *tlstest.CA, tolerated ...string) *process.Process {
	t.Helper()
	return process.Launch(t, process.Options{
		Binary: binary(t, "webhookd"), CA: ca, Flags: []string{memoryLimit(smallContainer)}, Tolerated: tolerated,
		Memory: scaled[int64](0, smallContainer),
	})
}

// wantWithinContainer fails the test if p has ended or taken more memory than it has, and returns
// the most that it took, in MiB.
func wantWithinContainer(t *testing.T, p *process.Process) int64 {
	t.Helper()
	if !p.Alive() {
		t.Fatal("the process was killed")
	}
	peak := p.PeakMemory()
	if !*full && peak > smallContainer {
		t.Errorf("peak of %d MiB in a container of %d MiB", peak>>20, smallContainer>>20)
	}
	if *full {
		t.Logf("the container's peak, with what the kernel has of it: %d MiB", p.PeakOfContainer()>>20)
	}
	return peak >> 20
}

// An attempt opens a connection and does something bad with it; the connection it returns is held
// for a while. An error is the server's defence.
type attempt func(t *testing.T, addr string, config *tls.Config) (net.Conn, error)

func attempts() map[string]attempt {
	return map[string]attempt{
		"silent": connect,
		"half a ClientHello": func(t *testing.T, addr string, _ *tls.Config) (net.Conn, error) {
			t.Helper()
			c, err := connect(t, addr, nil)
			return c, then(c, err, string(helloOf(58 << 10)[:15<<10]))
		},
		"a ClientHello of 58 KB": func(t *testing.T, addr string, _ *tls.Config) (net.Conn, error) {
			t.Helper()
			c, err := connect(t, addr, nil)
			return c, then(c, err, string(helloOf(58<<10)))
		},
		"idle after the handshake": greet,
		"gone after the handshake": func(t *testing.T, addr string, config *tls.Config) (net.Conn, error) {
			t.Helper()
			c, err := greet(t, addr, config)
			if err == nil {
				err = c.Close()
			}
			return nil, err
		},
		"half a header": func(t *testing.T, addr string, config *tls.Config) (net.Conn, error) {
			t.Helper()
			c, err := greet(t, addr, config)
			return c, then(c, err, requestHead+"9\r\nX-Long: "+strings.Repeat("x", 16<<10))
		},
		"half a body": func(t *testing.T, addr string, config *tls.Config) (net.Conn, error) {
			t.Helper()
			c, err := greet(t, addr, config)
			return c, then(c, err, requestHead+"30000\r\n\r\n"+strings.Repeat(" ", 29_000))
		},
	}
}

// connect makes a connection without TLS.
func connect(t *testing.T, addr string, _ *tls.Config) (net.Conn, error) {
	t.Helper()
	return (&net.Dialer{Timeout: wait.Patience}).DialContext(t.Context(), "tcp", addr)
}

// greet makes one with TLS.
func greet(t *testing.T, addr string, config *tls.Config) (net.Conn, error) {
	t.Helper()
	d := &tls.Dialer{NetDialer: &net.Dialer{Timeout: wait.Patience}, Config: config}
	return d.DialContext(t.Context(), "tcp", addr)
}

// then writes text on a connection that was made without an error.
func then(c net.Conn, err error, text string) error {
	if err == nil {
		_ = c.SetWriteDeadline(time.Now().Add(wait.Patience))
		_, err = io.WriteString(c, text)
	}
	return err
}

// helloOf returns the records of a ClientHello of size bytes, with nothing in it that means
// anything.
func helloOf(size int) []byte {
	message := append([]byte{1, byte(size >> 16), byte(size >> 8), byte(size)}, make([]byte, size)...)
	var records []byte
	for len(message) > 0 {
		n := min(len(message), 16<<10)
		records = append(records, 22, 3, 1, byte(n>>8), byte(n))
		records, message = append(records, message[:n]...), message[n:]
	}
	return records
}

// A connectionFlood makes attempts from many goroutines, each of which holds its connection for a
// while.
type connectionFlood struct {
	wg           sync.WaitGroup
	made, failed atomic.Int64
}

// run makes count attempts, and returns when the last connection has been closed.
func (f *connectionFlood) run(t *testing.T, addr string, config *tls.Config, do attempt, count int) {
	t.Helper()
	const hold, atOnce = 2 * time.Second, 64
	turns := make(chan struct{}, atOnce)
	for range count {
		turns <- struct{}{}
		f.wg.Go(func() {
			c, err := do(t, addr, config)
			<-turns
			if f.made.Add(1); err != nil {
				f.failed.Add(1)
			}
			if c == nil {
				return
			}
			defer c.Close()
			_ = c.SetReadDeadline(time.Now().Add(hold))
			_, _ = io.Copy(io.Discard, c)
		})
	}
	f.wg.Wait()
}

// A victim is what a well-behaved client sees of a server during a flood.
type victim struct {
	calls         int64
	p50, p90, p99 time.Duration
}

// during posts small bodies to addr, one after the other on a connection that is kept, while do
// goes on.
func during(t *testing.T, addr string, config *tls.Config, do func()) victim {
	t.Helper()
	transport := &http.Transport{TLSClientConfig: config, DisableCompression: true}
	defer transport.CloseIdleConnections()
	client := &poster{client: &http.Client{Transport: transport, Timeout: 90 * time.Second}, url: "https://" + addr + server.DefaultPath}
	body := reviewtest.Body(1, 2000)
	l := load.Start(t, load.Options{Workers: 2, Rate: 100, Durations: true, Call: func(int, int) error {
		code, err := client.code(t.Context(), body)
		if err == nil && code != http.StatusOK {
			err = fmt.Errorf("answer %d", code)
		}
		return err
	}})
	l.More(20)
	l.Durations()
	do()
	calls := l.Calls()
	l.NoFailures()
	took := l.Durations()
	return victim{calls, load.Percentile(took, 50), load.Percentile(took, 90), load.Percentile(took, 99)}
}

// TestR11FloodOfConnections makes thousands of connections that mean no good to a process with the
// memory of a small container, and to a bare echo server. webhookd stays within its memory, and a
// client with a connection of its own is served as ever.
func TestR11FloodOfConnections(t *testing.T) {
	// Not in parallel: it takes most of the machine.
	count := scaled(2500, 20_000)
	ca := tlstest.NewCA(t, "faults")
	config := &tls.Config{RootCAs: ca.Pool(), ServerName: apiclient.ServiceHost, NextProtos: []string{"http/1.1"}}
	for name, do := range attempts() {
		t.Run(name, func(t *testing.T) {
			p := launchContainer(t, ca, "TLS handshake", `"msg":"body rejected"`)
			bare := echoServer(t, p)
			var f connectionFlood
			without := during(t, p.Addr, config, func() { wait.For(t, 2*time.Second) })
			got := during(t, p.Addr, config, func() { f.run(t, p.Addr, config, do, count) })
			m, peak := p.Scrape(), wantWithinContainer(t, p)
			baseline := during(t, bare, config, func() { new(connectionFlood).run(t, bare, config, do, count) })
			if ratio := float64(got.p99) / float64(baseline.p99); *full && ratio > 3 {
				t.Errorf("p99 is %.1f times that of an echo server", ratio)
			}
			if !p.Ready(t.Context()) {
				t.Error("the server is not ready")
			}
			t.Logf("%d attempts, %d failed, %.0f cut off; peak %d MiB; %d reviews next to them: p50 %s p90 %s p99 %s, %.1f times without; "+
				"bare echo server p99 %s: %.2f times", f.made.Load(), f.failed.Load(), m.Sum("webhookd_connections_cut_off_total"), peak,
				got.calls, got.p50, got.p90, got.p99, float64(got.p99)/float64(without.p99), baseline.p99, float64(got.p99)/float64(baseline.p99))
		})
	}
}

// slowBody is one of a flood of bodies that come slowly.
type slowBody struct {
	promised, atOnce int
	every            time.Duration // between two bytes
}

// slowBodies are 500 connections of every mix: what took the whole budget when a body was charged
// by its promise, bodies that come quickly and then stop, and bodies just below the size that has a
// share of its own.
func slowBodies() []slowBody {
	var all []slowBody
	add := func(n int, b slowBody) {
		for range n {
			all = append(all, b)
		}
	}
	add(130, slowBody{1 << 20, 1000, time.Millisecond})
	add(17, slowBody{50_000, 1000, time.Millisecond})
	add(3, slowBody{34_000_000, 1000, time.Millisecond})
	add(100, slowBody{34_000_000, 33 << 10, 10 * time.Millisecond})
	add(50, slowBody{10_000_000, 300 << 10, 10 * time.Millisecond})
	add(200, slowBody{64 << 10, 63 << 10, 100 * time.Millisecond})
	return all
}

// TestR12SlowBodies has 500 connections send bodies slowly, again and again, at a small container:
// reviews of one object are never refused, and lists of 10 MB are served.
func TestR12SlowBodies(t *testing.T) {
	// Not in parallel: it takes most of the machine.
	ca := tlstest.NewCA(t, "faults")
	config := &tls.Config{RootCAs: ca.Pool(), ServerName: apiclient.ServiceHost, NextProtos: []string{"http/1.1"}}
	p := launchContainer(t, ca, `"msg":"body rejected"`)
	client := newPoster(t, p, ca)
	list := reviewtest.Body(1000, 10_000)
	over := make(chan struct{})
	var wg sync.WaitGroup
	for i, b := range slowBodies() {
		wg.Go(func() {
			wait.For(t, time.Duration(i)*4*time.Millisecond)
			for open(over) {
				b.send(t, p.Addr, config, over)
			}
		})
	}
	wait.Until(t, "500 connections", func() bool { return p.Scrape()["webhookd_connections"] > 400 })
	lists := load.Start(t, load.Options{Workers: 1, Durations: true, Call: func(int, int) error { return client.success(t.Context(), list) }})
	got := during(t, p.Addr, config, func() { wait.For(t, scaled(15*time.Second, 2*time.Minute)) })
	served := lists.Calls()
	lists.NoFailures()
	took := lists.Durations()
	m, peak := p.Scrape(), wantWithinContainer(t, p)
	close(over)
	wg.Wait()
	if served == 0 {
		t.Error("no list was served")
	}
	t.Logf("%d small reviews p50 %s p99 %s, %d lists of 10 MB p50 %s p99 %s, none failed; %.0f slow bodies gave way; peak %d MiB",
		got.calls, got.p50, got.p99, served, load.Percentile(took, 50), load.Percentile(took, 99),
		m.Sum("webhookd_shed_total", `reason="slow"`), peak)
}

func open(over <-chan struct{}) bool {
	select {
	case <-over:
		return false
	default:
		return true
	}
}

// send sends one body, until the server has had enough of it.
func (b slowBody) send(t *testing.T, addr string, config *tls.Config, over <-chan struct{}) {
	t.Helper()
	c, err := greet(t, addr, config)
	if err != nil {
		wait.For(t, 100*time.Millisecond)
		return
	}
	defer c.Close()
	err = then(c, nil, fmt.Sprintf("%s%d\r\n\r\n%s", requestHead, b.promised, strings.Repeat(" ", b.atOnce)))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = io.Copy(io.Discard, c)
	}()
	ticker := time.NewTicker(max(b.every, 20*time.Millisecond)) // many small writes would be a flood of another kind
	defer ticker.Stop()
	piece := strings.Repeat(" ", max(1, int(20*time.Millisecond/b.every)))
	for sent := b.atOnce; err == nil && sent+len(piece) < b.promised; sent += len(piece) {
		select {
		case <-over:
			return
		case <-ended:
			return
		case <-ticker.C:
			err = then(c, nil, piece)
		}
	}
	if err != nil && !errors.Is(err, syscall.EPIPE) && !errors.Is(err, syscall.ECONNRESET) && !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Logf("a slow body: %v", err)
	}
}

// TestR13LongStringsOfTheEnvelope sends reviews of 30 MiB, most of it one string that identifies,
// from many clients at once to a small container. All are refused, and nothing of that size is
// copied.
func TestR13LongStringsOfTheEnvelope(t *testing.T) {
	// Not in parallel: it takes much memory, and most of the machine.
	clients, rounds := scaled(8, 32), scaled(2, 5)
	long := strings.Repeat("u", scaled(8<<20, 30<<20))
	review := func(uid, version, kind, name string) []byte {
		return []byte(`{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","request":{"uid":"` + uid + `","desiredAPIVersion":"` + version +
			`","objects":[{"apiVersion":"example.com/v1beta1","kind":"` + kind + `","metadata":{"name":"` + name + `"}}]}}`)
	}
	ca := tlstest.NewCA(t, "faults")
	config := &tls.Config{RootCAs: ca.Pool(), ServerName: apiclient.ServiceHost, NextProtos: []string{"http/1.1"}}
	for name, body := range map[string][]byte{
		"uid":               review(long, "example.com/v1", "CronTab", "a"),
		"desiredAPIVersion": review("a", long, "CronTab", "a"),
		"kind of an object": review("a", "example.com/v1", long, "a"),
		"name of an object": review("a", "example.com/v1", "CronTab", long),
	} {
		t.Run(name, func(t *testing.T) {
			p := launchContainer(t, ca, reviewFailed, `"msg":"body rejected"`)
			poster := newPoster(t, p, ca)
			codes, mu := map[int]int{}, sync.Mutex{}
			got := during(t, p.Addr, config, func() {
				var wg sync.WaitGroup
				for range clients {
					wg.Go(func() {
						for range rounds {
							code, answer, err := poster.post(t.Context(), body)
							if len(answer) > 4<<10 {
								t.Errorf("an answer of %d bytes", len(answer))
							}
							mu.Lock()
							if codes[code]++; err != nil {
								codes[0]++
							}
							mu.Unlock()
						}
					})
				}
				wg.Wait()
			})
			peak := wantWithinContainer(t, p)
			if codes[http.StatusBadRequest]+codes[http.StatusOK] == 0 {
				t.Errorf("none was answered: %v", codes)
			}
			t.Logf("%d times %d bodies of %d MiB: %s; peak %d MiB; %d reviews next to them, p50 %s p99 %s", rounds, clients, len(body)>>20,
				codeCounts(codes), peak, got.calls, got.p50, got.p99)
		})
	}
}
