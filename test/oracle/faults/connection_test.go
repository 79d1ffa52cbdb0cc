package faults_test

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
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

// requestHead is that of a review; what follows is the length of its body and the empty line.
const requestHead = "POST " + server.DefaultPath + " HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: "

// dial makes a connection whose bytes the test writes itself.
func dial(t *testing.T, p *process.Process, ca *tlstest.CA) (net.Conn, error) {
	t.Helper()
	d := tls.Dialer{Config: &tls.Config{RootCAs: ca.Pool(), ServerName: apiclient.ServiceHost, NextProtos: []string{"http/1.1"}}}
	return d.DialContext(t.Context(), "tcp", p.Addr)
}

// A trickle sends a byte a second on each of many connections until the server has closed it.
type trickle struct {
	mu     sync.Mutex
	closed []time.Duration // since the request began
	codes  map[string]int  // status lines that came before the end
	wg     sync.WaitGroup
}

// add begins a request with head. The rest follows slowly.
func (k *trickle) add(t *testing.T, p *process.Process, ca *tlstest.CA, head string) {
	t.Helper()
	c, err := dial(t, p, ca)
	if err != nil {
		t.Errorf("a slow client cannot connect: %v", err)
		return
	}
	began := time.Now()
	if _, err := io.WriteString(c, head); err != nil {
		t.Errorf("a slow client cannot write: %v", err)
	}
	k.wg.Go(func() {
		defer c.Close()
		answer := make([]byte, 1<<10)
		n := 0
		for err := error(nil); err == nil || errors.Is(err, os.ErrDeadlineExceeded); {
			if _, err = c.Write([]byte{'x'}); err != nil {
				break
			}
			_ = c.SetReadDeadline(time.Now().Add(time.Second))
			var read int
			read, err = c.Read(answer[n:])
			n += read
		}
		k.mu.Lock()
		defer k.mu.Unlock()
		k.closed = append(k.closed, time.Since(began))
		k.codes[string(answer[:min(n, len("HTTP/1.1 408"))])]++
	})
}

// slowest waits for the end of all and returns when the last one came.
func (k *trickle) slowest() time.Duration {
	k.wg.Wait()
	var most time.Duration
	for _, d := range k.closed {
		most = max(most, d)
	}
	return most
}

// TestR3SlowClients has a thousand clients trickle their headers, and two hundred their bodies: all
// are cut off in time, and reviews go through as ever (I04, I05).
func TestR3SlowClients(t *testing.T) {
	t.Parallel()
	ca := tlstest.NewCA(t, "faults")
	p := launchTolerant(t, ca)
	l := load.Start(t, load.Options{
		Workers: workers, Rate: 100, Durations: true, Call: mixed(crontabConverter(t, alone(p), ca)),
	})
	l.More(100)
	before := load.Percentile(l.Durations(), 99)
	headers, bodies := &trickle{codes: map[string]int{}}, &trickle{codes: map[string]int{}}
	for range 1000 {
		headers.add(t, p, ca, "POST "+server.DefaultPath+" HTTP/1.1\r\nX: ")
	}
	for range 200 {
		bodies.add(t, p, ca, requestHead+"100000\r\n\r\n{")
	}
	inHeader, inBody := headers.slowest(), bodies.slowest()
	if *full && (inHeader > 7*time.Second || inBody > 31*time.Second) {
		t.Errorf("slow headers were cut off after %s, and slow bodies after %s", inHeader, inBody)
	}
	l.NoFailures()
	after := load.Percentile(l.Durations(), 99)
	if m := p.Scrape(); m["webhookd_request_bytes_in_flight"] != 0 || m["webhookd_requests_in_flight"] != 0 {
		t.Error("something is left of the slow requests")
	}
	t.Logf("1000 slow headers: cut off after %s at most, %v; 200 slow bodies: %s, %v; %d calls, p99 %s before and %s meanwhile",
		inHeader, headers.codes, inBody, bodies.codes, l.Calls(), before, after)
}

// TestI06StalledReaders has clients send large reviews and read no answer. What they hold is
// bounded, so that others go on, and it ends with their time to read.
func TestI06StalledReaders(t *testing.T) {
	t.Parallel()
	const container = 256 << 20
	readers := scaled(20, 100)
	ca := tlstest.NewCA(t, "faults")
	p := launchTolerant(t, ca, memoryLimit(container), "--request-timeout=3s")
	l := start(t, alone(p), ca)
	l.More(100)
	body := reviewtest.Body(1600, 10_000)
	var wg sync.WaitGroup
	for range readers {
		wg.Go(func() { stall(t, p, ca, body) })
	}
	held := 0.0
	wait.Until(t, "large reviews in flight", func() bool {
		held = max(held, p.Scrape()["webhookd_request_bytes_in_flight"])
		return held > float64(len(body))
	})
	wg.Wait()
	wait.Until(t, "the end of all of them", func() bool { return p.Scrape()["webhookd_request_bytes_in_flight"] < float64(len(body)) })
	l.NoFailures()
	if peak := p.PeakMemory(); peak > container {
		t.Errorf("peak of %d MiB in a container of %d MiB", peak>>20, container>>20)
	}
	t.Logf("%d stalled readers of %d MiB each: %.0f MiB in flight seen, peak %d MiB, %d other calls, none failed",
		readers, len(body)>>20, held/(1<<20), p.PeakMemory()>>20, l.Calls())
}

// stall sends a review and reads nothing of the answer until the server has closed the connection.
func stall(t *testing.T, p *process.Process, ca *tlstest.CA, body []byte) {
	t.Helper()
	c, err := dial(t, p, ca)
	if err != nil {
		t.Errorf("connect: %v", err)
		return
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(wait.Patience))
	if tlsConn, ok := c.(*tls.Conn); ok {
		if tcp, ok := tlsConn.NetConn().(*net.TCPConn); ok {
			_ = tcp.SetReadBuffer(4 << 10)
		}
	}
	_, err = fmt.Fprintf(c, "%s%d\r\n\r\n", requestHead, len(body))
	for rest := body; err == nil && len(rest) > 0; rest = rest[min(len(rest), 64<<10):] {
		_, err = c.Write(rest[:min(len(rest), 64<<10)])
	}
	// One that was refused has its connection closed while it writes; the others wait, and write
	// until that fails.
	for ; err == nil; wait.For(t, 100*time.Millisecond) {
		_, err = c.Write([]byte(" "))
		if t.Context().Err() != nil {
			return
		}
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("the server never closes the connection")
	}
}

// TestR4TooManyConnections leaves the process with few descriptors, and 500 silent connections that
// take them (I24): the silent ones are cut off, a client that is served goes on, another connects,
// and the log does not fill.
func TestR4TooManyConnections(t *testing.T) {
	t.Parallel()
	ca := tlstest.NewCA(t, "faults")
	config := &tls.Config{RootCAs: ca.Pool(), ServerName: apiclient.ServiceHost, NextProtos: []string{"http/1.1"}}
	p := process.Launch(t, process.Options{
		Binary: binary(t, "webhookd"), CA: ca, Ulimit: "-n 64",
		Tolerated: []string{"too many open files", "TLS handshake error", "cannot be watched", unusable},
	})
	single := reviewtest.Body(1, 3000)
	kept := posterFrom(t, ownAddress, p.Addr, config)
	l := load.Start(t, load.Options{Workers: 1, Rate: 50, Call: func(int, int) error { return kept.success(t.Context(), single) }})
	l.More(20)
	began := time.Now()
	for range 500 {
		c, err := from(crowdAddress, nil).NetDialer.DialContext(t.Context(), "tcp", p.Addr) // the kernel takes those that the process cannot
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
	}
	wait.Until(t, "the descriptors to be used up", func() bool { return len(p.Log("too many open files")) > 0 })
	if err := posterFrom(t, ownAddress, p.Addr, config).success(t.Context(), single); err != nil {
		t.Errorf("a new connection: %v", err)
	}
	l.More(100)
	l.NoFailures()
	if lines, most := len(p.Log("Accept error")), int(time.Since(began).Seconds())+2; lines > most {
		t.Errorf("%d lines about it, want at most %d", lines, most)
	}
}

// TestR6BurstOfConnections makes many connections at once.
func TestR6BurstOfConnections(t *testing.T) {
	t.Parallel()
	conns := scaled(500, 2000)
	ca := tlstest.NewCA(t, "faults")
	p := launch(t, ca)
	l := start(t, alone(p), ca)
	l.More(100)
	h := shakeHands(t, p, ca, 100, 0)
	began := time.Now()
	h.More(int64(conns))
	h.NoFailures()
	took := h.Durations()
	rate := float64(h.Calls()) / time.Since(began).Seconds()
	l.NoFailures()
	if p99 := load.Percentile(took, 99); *full && p99 > 500*time.Millisecond {
		t.Errorf("a handshake took %s (p99)", p99)
	}
	t.Logf("%d connections by 100 clients at once, %.0f/s: p50 %s, p99 %s; %d calls, none failed",
		len(took), rate, load.Percentile(took, 50), load.Percentile(took, 99), l.Calls())
}

// TestI39NodeIsLost swallows what goes to one of two replicas and comes from it, as where a node
// has gone. No client can know: the calls on these connections end with the client's timeout, and
// those after the balancer has left the node go through. The replica, if it is there after all,
// keeps nothing of them.
func TestI39NodeIsLost(t *testing.T) {
	t.Parallel()
	const lag, timeout = time.Second, 3 * time.Second
	s := newServiceOf(t, lag)
	s.tolerated = []string{"TLS handshake error"} // of one that was swallowed
	replicas := s.begin()
	hole := newBlackHole(t, replicas[0].Addr)
	a := s.client()
	a.Timeout = timeout
	pick := a.Redirect
	a.Redirect = func(addr string) string {
		if addr = pick(addr); addr == replicas[0].Addr {
			return hole.addr()
		}
		return addr
	}
	l := start(t, a, s.ca)
	l.More(20 * workers)
	if early := l.Failures(); len(early) > 0 {
		t.Fatalf("%d calls failed, such as\n%s", len(early), load.Texts(early))
	}
	hole.swallow()
	replicas[0].Terminate() // for the balancer: the node's other end of the network does not see it
	s.unused(replicas[0])
	left, connections := time.Now(), hole.accepted.Load()
	wait.For(t, 2*timeout)
	l.More(10 * workers)
	l.Stop()
	failures := l.Failures()
	for _, f := range failures {
		if took := f.Ended.Sub(f.Began); took > 10*timeout {
			t.Errorf("a call took %s with a timeout of %s: %v", took, timeout, f.Err)
		}
	}
	// A connection to the node may be taken from the client's pool to the last, and then is closed.
	if more := hole.accepted.Load() - connections; more > 0 || int64(len(failures)) > workers*connections {
		t.Errorf("%d calls failed on %d connections, and %d were opened since the balancer left the node", len(failures), connections, more)
	}
	t.Logf("%d of %d calls failed, the last one %s after the balancer had left the node", len(failures), l.Calls(), lastAfter(failures, left))
}

func lastAfter(failures []load.Failure, left time.Time) time.Duration {
	var most time.Duration
	for _, f := range failures {
		most = max(most, f.Ended.Sub(left))
	}
	return most
}

// A blackHole passes bytes on until it swallows them. Connections stay open.
type blackHole struct {
	listener net.Listener
	to       string
	full     chan struct{} // closed: nothing passes any more
	accepted atomic.Int64  // connections
	wg       sync.WaitGroup
}

func newBlackHole(t *testing.T, to string) *blackHole {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h := &blackHole{listener: listener, to: to, full: make(chan struct{})}
	h.wg.Go(func() { h.accept(t) })
	t.Cleanup(func() {
		listener.Close()
		h.wg.Wait()
	})
	return h
}

func (h *blackHole) addr() string { return h.listener.Addr().String() }

func (h *blackHole) swallow() { close(h.full) }

func (h *blackHole) accept(t *testing.T) {
	t.Helper()
	for {
		near, err := h.listener.Accept()
		if err != nil {
			return
		}
		h.accepted.Add(1)
		far, err := new(net.Dialer).DialContext(t.Context(), "tcp", h.to)
		if err != nil {
			near.Close()
			continue
		}
		h.wg.Go(func() { h.pass(t, near, far) })
		h.wg.Go(func() { h.pass(t, far, near) })
	}
}

func (h *blackHole) pass(t *testing.T, from, to net.Conn) {
	t.Helper()
	defer from.Close()
	defer to.Close()
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		select {
		case <-h.full:
			<-t.Context().Done() // what is lost is not told either
			return
		default:
		}
		if err != nil {
			return
		}
		if _, err := to.Write(buffer[:n]); err != nil {
			return
		}
	}
}
