// Package balancer does for tests what kube-proxy and the endpoint controllers do for a Service: it
// probes the endpoints, and sends new connections, in turn, to those that are ready. Both take
// their time. Connections that are there stay where they are, and no byte passes through it:
// kube-proxy, too, only says where a connection goes.
package balancer

import (
	"context"
	"sync"
	"testing"
	"time"
)

// probeEvery is the time between two probes. Everything else that takes time is the lag.
const probeEvery = 50 * time.Millisecond

// A Balancer has the endpoints of one Service. It is safe for concurrent use.
type Balancer struct {
	tb  testing.TB
	lag time.Duration
	wg  sync.WaitGroup

	mu        sync.Mutex
	endpoints []*endpoint
	turn      int
}

type endpoint struct {
	addr    string
	ready   func(context.Context) bool
	probed  bool      // what the probes say
	changed time.Time // when they began to say so
	used    bool      // whether new connections go there
	gone    bool      // is not to be probed any more
}

// New returns a Balancer that follows what its probes say with that lag.
func New(tb testing.TB, lag time.Duration) *Balancer {
	tb.Helper()
	b := &Balancer{tb: tb, lag: lag}
	tb.Cleanup(b.wg.Wait) // the end of the test's context ends the probes
	return b
}

// Add probes an endpoint from now on. New connections go there once it has been ready for the lag.
func (b *Balancer) Add(addr string, ready func(context.Context) bool) {
	e := &endpoint{addr: addr, ready: ready, changed: time.Now()}
	b.mu.Lock()
	b.endpoints = append(b.endpoints, e)
	b.mu.Unlock()
	b.wg.Go(func() { b.probe(e) })
}

// probe goes on until the endpoint is gone: it was used, and is no more.
func (b *Balancer) probe(e *endpoint) {
	ctx := b.tb.Context()
	ticker := time.NewTicker(probeEvery)
	defer ticker.Stop()
	for !b.judge(e, e.ready(ctx)) {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// judge takes over what a probe said once it has been so for the lag, and reports whether the
// endpoint is gone.
func (b *Balancer) judge(e *endpoint, ready bool) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	if ready != e.probed {
		e.probed, e.changed = ready, now
	}
	if e.used != e.probed && now.Sub(e.changed) >= b.lag {
		e.gone = e.used
		e.used = e.probed
	}
	return e.gone
}

// Pick returns where the next connection goes, or "" where no endpoint is ready.
func (b *Balancer) Pick() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	for range b.endpoints {
		b.turn++
		if e := b.endpoints[b.turn%len(b.endpoints)]; e.used {
			return e.addr
		}
	}
	return ""
}

// Used reports whether new connections go to an endpoint.
func (b *Balancer) Used(addr string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range b.endpoints {
		if e.addr == addr && e.used {
			return true
		}
	}
	return false
}
