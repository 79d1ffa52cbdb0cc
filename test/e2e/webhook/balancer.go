package webhook

import (
	"context"
	"io"
	"net"
	"slices"
	"sync"
	"testing"
	"time"
)

// A Balancer spreads TCP connections over replicas, one after the other, as a Service does. Which
// replicas there are can change at any time; connections that exist stay. It is safe for concurrent
// use.
type Balancer struct {
	listener net.Listener
	ctx      context.Context //nolint:containedctx // of all connections, until the test ends
	wg       sync.WaitGroup

	mu      sync.Mutex
	targets []string
	next    int
	open    map[net.Conn]struct{}
}

// NewBalancer listens on a host:port until the test ends and forwards to the targets.
func NewBalancer(t *testing.T, listen string, targets ...string) *Balancer {
	t.Helper()
	// Not the test's own context, which ends before the cleanups that still need the webhook.
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", listen)
	if err != nil {
		stop()
		t.Fatalf("balancer: %v", err)
	}
	b := &Balancer{listener: listener, ctx: ctx, open: map[net.Conn]struct{}{}}
	b.Set(targets...)
	b.wg.Go(b.accept)
	t.Cleanup(func() {
		stop()
		listener.Close()
		b.drop()
		b.wg.Wait()
	})
	return b
}

// Addr returns the host:port where the balancer listens.
func (b *Balancer) Addr() string { return b.listener.Addr().String() }

// Set replaces the targets. Without any, connections are closed as they come.
func (b *Balancer) Set(targets ...string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.targets, b.next = slices.Clone(targets), 0
}

// drop closes all connections that are open now.
func (b *Balancer) drop() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for conn := range b.open {
		conn.Close()
	}
}

func (b *Balancer) accept() {
	for {
		conn, err := b.listener.Accept()
		if err != nil {
			return
		}
		b.wg.Go(func() { b.forward(conn) })
	}
}

// forward connects a client with a target until both have closed their side.
func (b *Balancer) forward(client net.Conn) {
	defer client.Close()
	backend, err := b.dial()
	if err != nil {
		return
	}
	defer backend.Close()
	if !b.keep(client, backend) {
		return
	}
	defer b.forget(client, backend)
	var back sync.WaitGroup
	back.Go(func() { pump(client, backend) })
	pump(backend, client)
	back.Wait()
}

// dial tries each target once, starting with the one whose turn it is.
func (b *Balancer) dial() (net.Conn, error) {
	b.mu.Lock()
	order := slices.Clone(b.targets)
	if len(order) > 0 {
		first := b.next % len(order)
		order = slices.Concat(order[first:], order[:first])
		b.next++
	}
	b.mu.Unlock()
	dialer := net.Dialer{Timeout: 5 * time.Second}
	err := net.ErrClosed
	for _, target := range order {
		var conn net.Conn
		if conn, err = dialer.DialContext(b.ctx, "tcp", target); err == nil {
			return conn, nil
		}
	}
	return nil, err
}

// keep notes connections for drop. It is false when the balancer has ended.
func (b *Balancer) keep(conns ...net.Conn) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, conn := range conns {
		b.open[conn] = struct{}{}
	}
	return b.ctx.Err() == nil
}

func (b *Balancer) forget(conns ...net.Conn) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, conn := range conns {
		delete(b.open, conn)
	}
}

// pump copies one direction to its end and passes the end on.
func pump(to, from net.Conn) {
	_, err := io.Copy(to, from)
	if half, ok := to.(*net.TCPConn); ok && err == nil {
		_ = half.CloseWrite()
		return
	}
	to.Close()
	from.Close()
}
