package oracle_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/crdconvert/webhookd/internal/converters"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// A load calls all the time until it is stopped.
type load struct {
	t      *testing.T
	calls  atomic.Int64
	cancel context.CancelFunc
	wg     sync.WaitGroup

	mu       sync.Mutex
	failures []string
}

// newLoad starts the workers. Call gets the number of a worker's call and is not called after the
// load was stopped.
func newLoad(t *testing.T, workers int, call func(n int) error) *load {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	l := &load{t: t, cancel: cancel}
	for range workers {
		l.wg.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				if err := call(n); err != nil {
					l.failed(err)
				}
				l.calls.Add(1)
			}
		})
	}
	t.Cleanup(l.noFailures) // where the test gives up earlier
	return l
}

func (l *load) failed(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failures = append(l.failures, fmt.Sprintf("call %d: %v", l.calls.Load(), err))
}

// more waits until n more calls have been made.
func (l *load) more(n int64) {
	l.t.Helper()
	enough := l.calls.Load() + n
	eventually(l.t, "more calls", func() bool { return l.calls.Load() >= enough })
}

// stop ends the load and waits for the calls in progress.
func (l *load) stop() {
	l.cancel()
	l.wg.Wait()
}

// noFailures stops the load and fails the test if any call did.
func (l *load) noFailures() {
	l.t.Helper()
	l.stop()
	if n := len(l.failures); n > 0 {
		l.t.Errorf("%d of %d calls failed, such as\n%s", n, l.calls.Load(), strings.Join(l.failures[:min(n, 5)], "\n"))
		l.failures = nil
	}
}

// mixed returns a call that converts single objects and, now and then, a list of fifty.
func mixed(t *testing.T, c *converter) func(n int) error {
	t.Helper()
	single := named(t, group+"/v1", "Plain", "a")
	many := list(group+"/v2", "Plain", slices.Repeat([]*unstructured.Unstructured{single}, 50)...)
	return func(n int) error {
		if n%16 == 15 {
			_, err := c.to(many, "v2")
			return err
		}
		_, err := c.to(single, "v2")
		return err
	}
}

func withPlain(s *setup) { s.kinds = []converters.Kind{plain()} }
