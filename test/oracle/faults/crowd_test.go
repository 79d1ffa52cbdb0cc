package faults_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/crdconvert/webhookd/internal/server"
	"github.com/crdconvert/webhookd/test/helpers/process"
	"github.com/crdconvert/webhookd/test/helpers/reviewtest"
	"github.com/crdconvert/webhookd/test/helpers/tlstest"
	"github.com/crdconvert/webhookd/test/helpers/wait"

	"github.com/crdconvert/webhookd/test/oracle/apiclient"
	"github.com/crdconvert/webhookd/test/oracle/load"
)

// Loopback addresses of one who means no good, and of an API server.
const (
	crowdAddress = "127.0.0.2"
	ownAddress   = "127.0.0.3"
)

// from returns a dialer whose connections come from a loopback address.
func from(address string, config *tls.Config) *tls.Dialer {
	return &tls.Dialer{NetDialer: &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}, Timeout: wait.Patience}, Config: config}
}

// posterFrom is a client with kept connections from an address.
func posterFrom(t *testing.T, address, addr string, config *tls.Config) *poster {
	t.Helper()
	transport := &http.Transport{DialTLSContext: from(address, config).DialContext, DisableCompression: true}
	t.Cleanup(transport.CloseIdleConnections)
	return &poster{client: &http.Client{Transport: transport, Timeout: wait.Patience}, url: "https://" + addr + server.DefaultPath}
}

// A crowd is many connections from one address. Each does one thing again and again until the
// context ends.
type crowd struct {
	count int
	do    deed
	// far: the client next to it has another address. Otherwise it has one kept connection of the
	// same address, and new ones of another.
	far bool
}

// A deed is what a connection of a crowd does once. Its error is the server's defence.
type deed func(ctx context.Context, t *testing.T, addr string, config *tls.Config) error

func crowds() map[string]crowd {
	all := map[string]crowd{
		"do not read answers of 200 KB": {count: scaled(200, 900), do: unread(reviewtest.Body(20, 10_000)), far: true},
		"ask again at once":             {count: scaled(200, 900), do: again(reviewtest.Body(1, 3000)), far: true},
		"send reviews of 65 KB":         {count: scaled(50, 200), do: again(reviewtest.Body(1, 65_000)), far: true},
		"are silent":                    {count: scaled(2000, 6000), do: plain(""), far: true},

		"send half a ClientHello":       {count: scaled(500, 2000), do: plain(string(helloOf(58 << 10)[:15<<10]))},
		"send a ClientHello of 58 KB":   {count: scaled(500, 2000), do: plain(string(helloOf(58 << 10)))},
		"are idle after the handshake":  {count: scaled(500, 2000), do: held("")},
		"are gone after the handshake":  {count: 64, do: gone},
		"send half a header":            {count: scaled(500, 2000), do: held(requestHead + "9\r\nX-Long: " + strings.Repeat("x", 16<<10))},
		"send half a body":              {count: scaled(500, 2000), do: held(requestHead + "30000\r\n\r\n" + strings.Repeat(" ", 29_000))},
		"send a header slowly":          {count: scaled(300, 1000), do: slowly(requestHead+"9\r\nX: ", "x", time.Second)},
		"send bodies slowly":            {count: 500, do: slowBodies()},
		"do not read answers of 16 MB":  {count: scaled(20, 100), do: unread(reviewtest.Body(1600, 10_000))},
		"send a long uid":               {count: scaled(8, 32), do: again(long(0))},
		"send a long desiredAPIVersion": {count: scaled(8, 32), do: again(long(1))},
		"send a long kind of an object": {count: scaled(8, 32), do: again(long(2))},
		"send a long name of an object": {count: scaled(8, 32), do: again(long(3))},
	}
	for _, s := range shapes() {
		all["send large bodies: "+s.name] = crowd{count: scaled(4, 64), do: again(s.make(scaled(8<<20, 32<<20)))}
	}
	return all
}

// plain says something on a connection without TLS, and waits for its end.
func plain(text string) deed {
	return func(ctx context.Context, _ *testing.T, addr string, _ *tls.Config) error {
		c, err := from(crowdAddress, nil).NetDialer.DialContext(ctx, "tcp", addr)
		if err != nil {
			return err
		}
		return waitForEnd(ctx, c, text)
	}
}

// held does so on one with TLS.
func held(text string) deed {
	return func(ctx context.Context, _ *testing.T, addr string, config *tls.Config) error {
		c, err := from(crowdAddress, config).DialContext(ctx, "tcp", addr)
		if err != nil {
			return err
		}
		return waitForEnd(ctx, c, text)
	}
}

func waitForEnd(ctx context.Context, c net.Conn, text string) error {
	defer c.Close()
	stop := context.AfterFunc(ctx, func() { _ = c.Close() })
	defer stop()
	_, err := io.WriteString(c, text)
	if err == nil {
		_, err = io.Copy(io.Discard, c)
	}
	return err
}

func gone(ctx context.Context, _ *testing.T, addr string, config *tls.Config) error {
	c, err := from(crowdAddress, config).DialContext(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	return c.Close()
}

// unread sends a review and does not read the answer.
func unread(body []byte) deed {
	return func(ctx context.Context, _ *testing.T, addr string, config *tls.Config) error {
		c, err := from(crowdAddress, config).DialContext(ctx, "tcp", addr)
		if err != nil {
			return err
		}
		defer c.Close()
		stop := context.AfterFunc(ctx, func() { _ = c.Close() })
		defer stop()
		if tcp, ok := c.(*tls.Conn).NetConn().(*net.TCPConn); ok { //nolint:forcetypeassert // of a tls.Dialer
			_ = tcp.SetReadBuffer(4 << 10)
		}
		if _, err := io.WriteString(c, requestHead+strconv.Itoa(len(body))+"\r\n\r\n"+string(body)); err != nil {
			return err
		}
		<-ctx.Done()
		return nil
	}
}

// again sends the body as soon as the answer to the last has come.
func again(body []byte) deed {
	return func(ctx context.Context, t *testing.T, addr string, config *tls.Config) error {
		t.Helper()
		transport := &http.Transport{DialTLSContext: from(crowdAddress, config).DialContext}
		defer transport.CloseIdleConnections()
		client := &poster{client: &http.Client{Transport: transport}, url: "https://" + addr + server.DefaultPath}
		for {
			code, err := client.code(ctx, body)
			if err != nil {
				return err
			}
			// 400 is for an object with more members than any has, and for a string that is too
			// long.
			if !slices.Contains([]int{http.StatusOK, http.StatusTooManyRequests, http.StatusRequestEntityTooLarge, http.StatusBadRequest}, code) {
				t.Errorf("answer %d", code)
			}
		}
	}
}

// slowly sends the head of a request and then a piece again and again.
func slowly(head, piece string, every time.Duration) deed {
	return func(ctx context.Context, _ *testing.T, addr string, config *tls.Config) error {
		c, err := from(crowdAddress, config).DialContext(ctx, "tcp", addr)
		if err != nil {
			return err
		}
		defer c.Close()
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_, _ = io.Copy(io.Discard, c)
		}()
		ticker := time.NewTicker(every)
		defer ticker.Stop()
		for _, err = io.WriteString(c, head); err == nil; _, err = io.WriteString(c, piece) {
			select {
			case <-ctx.Done():
				return nil
			case <-ended:
				return nil
			case <-ticker.C:
			}
		}
		return err
	}
}

// slowBodies are a mix: bodies that come quickly and then stop, those just below the size that has
// a share of its own, and what took the whole budget when a body was charged by its promise.
func slowBodies() deed {
	deeds := make([]deed, 0, 6)
	for _, b := range []struct{ promised, atOnce, perTick int }{
		{1 << 20, 1000, 20}, {50_000, 1000, 20}, {34_000_000, 1000, 20}, {34_000_000, 33 << 10, 2}, {10_000_000, 300 << 10, 2}, {64 << 10, 63 << 10, 1},
	} {
		head := fmt.Sprintf("%s%d\r\n\r\n%s", requestHead, b.promised, strings.Repeat(" ", b.atOnce))
		deeds = append(deeds, slowly(head, strings.Repeat(" ", b.perTick), 20*time.Millisecond))
	}
	var n atomic.Int64
	return func(ctx context.Context, t *testing.T, addr string, config *tls.Config) error {
		t.Helper()
		return deeds[int(n.Add(1))%len(deeds)](ctx, t, addr, config)
	}
}

// long is a review most of which is one string that identifies: the uid, the version, the kind or
// the name.
func long(which int) []byte {
	parts := []string{"a", "example.com/v1", "CronTab", "a"}
	parts[which] = strings.Repeat("u", scaled(8<<20, 30<<20))
	return []byte(`{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","request":{"uid":"` + parts[0] + `","desiredAPIVersion":"` + parts[1] +
		`","objects":[{"apiVersion":"example.com/v1beta1","kind":"` + parts[2] + `","metadata":{"name":"` + parts[3] + `"}}]}}`)
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

// run keeps the crowd on its feet until the context ends.
func (c crowd) run(ctx context.Context, t *testing.T, addr string, config *tls.Config) {
	t.Helper()
	var wg sync.WaitGroup
	for range c.count {
		wg.Go(func() {
			for ctx.Err() == nil {
				if c.do(ctx, t, addr, config) != nil {
					select {
					case <-ctx.Done():
					case <-time.After(time.Second):
					}
				}
			}
		})
	}
	wg.Wait()
}

// A guest is what a client sees of a server with a crowd.
type guest struct {
	calls      int
	p50, p99   time.Duration
	connecting time.Duration // a new connection and a call, at most
}

// nextTo has a client with a kept connection make a call every 20 ms, and a new connection now and
// then, while the crowd does what it does. It calls each in between.
func (c crowd) nextTo(t *testing.T, addr string, config *tls.Config, each func()) guest {
	t.Helper()
	body := reviewtest.Body(1, 3000)
	call := func(client *poster) error {
		code, err := client.code(t.Context(), body)
		if err == nil && code != http.StatusOK {
			err = fmt.Errorf("answer %d", code)
		}
		return err
	}
	address := crowdAddress
	if c.far {
		address = ownAddress
	}
	kept := posterFrom(t, address, addr, config)
	l := load.Start(t, load.Options{Workers: 1, Rate: 50, Durations: true, Call: func(int, int) error { return call(kept) }})
	l.More(20)
	l.Durations()
	ctx, cancel := context.WithTimeout(t.Context(), scaled(3*time.Second, 20*time.Second))
	defer cancel()
	var wg sync.WaitGroup
	wg.Go(func() { c.run(ctx, t, addr, config) })
	var g guest
	for ctx.Err() == nil {
		wait.For(t, 300*time.Millisecond)
		began := time.Now()
		if err := call(posterFrom(t, ownAddress, addr, config)); err != nil {
			t.Errorf("a new connection: %v", err)
		}
		g.connecting = max(g.connecting, time.Since(began))
		each()
	}
	wg.Wait()
	l.NoFailures()
	took := l.Durations()
	g.calls, g.p50, g.p99 = int(l.Calls()), load.Percentile(took, 50), load.Percentile(took, 99)
	return g
}

// TestR14CrowdFromOneAddress has a crowd of connections from one address take what it can. An API
// server has no failed call, and gets new connections from another address; the process stays
// within its memory, answers its probes, and keeps nothing of the crowd. With -full, times are
// compared with those of a bare echo server with the same crowd.
func TestR14CrowdFromOneAddress(t *testing.T) {
	// Not in parallel: it takes most of the machine.
	ca := tlstest.NewCA(t, "faults")
	config := &tls.Config{RootCAs: ca.Pool(), ServerName: apiclient.ServiceHost, NextProtos: []string{"http/1.1"}}
	for name, c := range crowds() {
		t.Run(name, func(t *testing.T) {
			p := launchContainer(t, ca, "TLS handshake", `"msg":"body rejected"`, reviewFailed)
			var probes time.Duration
			got := c.nextTo(t, p.Addr, config, func() {
				for _, probe := range []func(context.Context) bool{p.Live, p.Ready} {
					began := time.Now()
					if !probe(t.Context()) {
						t.Error("a probe fails")
					}
					probes = max(probes, time.Since(began))
				}
			})
			m, peak := p.Scrape(), wantWithinContainer(t, p)
			wait.Until(t, "the end of what the crowd has sent", func() bool { return p.Scrape()["webhookd_requests_in_flight"] == 0 })
			t.Logf("%d calls, p50 %s p99 %s; a new connection %s, a probe %s at most; peak %d MiB; %.0f cut off, %.0f shed",
				got.calls, got.p50, got.p99, got.connecting, probes, peak,
				m.Sum("webhookd_connections_cut_off_total"), m.Sum("webhookd_shed_total"))
			if !*full {
				return
			}
			bare := c.nextTo(t, echoServer(t, p), config, func() {})
			t.Logf("a bare echo server: %d calls, p50 %s p99 %s, a new connection %s", bare.calls, bare.p50, bare.p99, bare.connecting)
			if got.p99 > max(250*time.Millisecond, 3*bare.p99) || max(got.connecting, probes) > max(time.Second, 3*bare.connecting) {
				t.Errorf("too slow")
			}
		})
	}
}

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
	return run(t, process.Options{
		CA: ca, Flags: []string{memoryLimit(smallContainer)}, Tolerated: tolerated,
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
