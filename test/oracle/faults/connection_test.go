package faults_test

import (
	"crypto/tls"
	"net"
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

// requestHead is that of a review; what follows is the length of its body and the empty line.
const requestHead = "POST " + server.DefaultPath + " HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: "

// TestR4TooManyConnections leaves the process with few descriptors, and 500 silent connections that
// take them (I24): the silent ones are cut off, a client that is served goes on, another connects,
// and the log does not fill.
func TestR4TooManyConnections(t *testing.T) {
	t.Parallel()
	ca := tlstest.NewCA(t, "faults")
	config := &tls.Config{RootCAs: ca.Pool(), ServerName: apiclient.ServiceHost, NextProtos: []string{"http/1.1"}}
	p := run(t, process.Options{
		CA: ca, Ulimit: "-n 64",
		Tolerated: []string{"too many open files", "TLS handshake error", unusable},
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
