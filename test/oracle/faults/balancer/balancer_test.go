package balancer_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/crdconvert/webhookd/test/oracle/faults/balancer"
)

// pass lets the bubble's clock advance.
func pass(d time.Duration) {
	time.Sleep(d) //nolint:forbidigo // in a bubble
	synctest.Wait()
}

// TestBalancerLags holds that new connections go to what has been ready for the lag, and no longer
// than the lag to what is not.
func TestBalancerLags(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const lag = 10 * time.Second
		b := balancer.New(t, lag)
		var first, second atomic.Bool
		add := func(addr string, ready *atomic.Bool) {
			ready.Store(true)
			b.Add(addr, func(context.Context) bool { return ready.Load() })
		}
		add("a", &first)
		pass(lag - time.Second)
		if at := b.Pick(); at != "" {
			t.Errorf("a connection goes to %q before the lag is over", at)
		}
		pass(2 * time.Second)
		add("b", &second)
		if one, other := b.Pick(), b.Pick(); one != "a" || other != "a" {
			t.Error("connections do not go to the one that is ready")
		}
		pass(lag + time.Second)
		if one, other := b.Pick(), b.Pick(); one == other {
			t.Errorf("two connections go to %q, want one each", one)
		}
		first.Store(false)
		pass(lag - time.Second)
		if !b.Used("a") {
			t.Error("the lag has not passed")
		}
		pass(2 * time.Second)
		if one, other := b.Pick(), b.Pick(); b.Used("a") || one != "b" || other != "b" {
			t.Error("connections go to one that is not ready")
		}
	})
}
