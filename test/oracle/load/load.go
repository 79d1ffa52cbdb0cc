// Package load keeps calling from many goroutines at once, counts, and keeps what went wrong.
package load

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/crdconvert/webhookd/test/helpers/wait"
)

// A Load calls all the time until it is stopped. Its methods are safe for concurrent use but for
// those that fail the test, which belong on the test's own goroutine.
type Load struct {
	tb     testing.TB
	calls  atomic.Int64
	cancel context.CancelFunc
	wg     sync.WaitGroup

	mu       sync.Mutex
	failures []Failure
	took     []time.Duration
}

// Options say what a Load does.
type Options struct {
	Workers int
	// Rate is how many calls all workers make a second, at most. 0: as many as they can.
	Rate int
	// Durations keeps how long each call took. One that takes longer than the rate allows counts
	// again for each call that it delays, with the time that was left of it when that was due.
	Durations bool
	// Call makes one call. It gets the worker's number and that of the worker's call, and is not
	// called after the load was stopped.
	Call func(worker, n int) error
}

// A Failure is a call that failed.
type Failure struct {
	Began, Ended time.Time
	Err          error
}

// Start starts the workers. Unless the test has taken the failures by then, any that there is at
// its end fails it.
func Start(tb testing.TB, o Options) *Load {
	tb.Helper()
	ctx, cancel := context.WithCancel(tb.Context())
	l := &Load{tb: tb, cancel: cancel}
	pace := newPace(o.Rate)
	for worker := range o.Workers {
		l.wg.Go(func() {
			for n := 0; pace.next(ctx); n++ {
				l.call(&o, worker, n)
			}
		})
	}
	tb.Cleanup(l.NoFailures) // where the test gives up earlier
	return l
}

func (l *Load) call(o *Options, worker, n int) {
	began := time.Now()
	err := o.Call(worker, n)
	if err != nil || o.Durations {
		ended := time.Now()
		l.mu.Lock()
		if err != nil {
			l.failures = append(l.failures, Failure{Began: began, Ended: ended, Err: err})
		}
		if o.Durations {
			took := ended.Sub(began)
			l.took = append(l.took, took)
			if o.Rate > 0 {
				between := time.Second * time.Duration(o.Workers) / time.Duration(o.Rate)
				for took -= between; took > 0; took -= between {
					l.took = append(l.took, took)
				}
			}
		}
		l.mu.Unlock()
	}
	l.calls.Add(1)
}

// Calls returns how many calls have ended.
func (l *Load) Calls() int64 { return l.calls.Load() }

// More waits until n more calls have been made. It ends the test where there is none for
// [wait.Patience].
func (l *Load) More(n int64) {
	l.tb.Helper()
	for enough := l.Calls() + n; l.Calls() < enough; {
		next := min(l.Calls()+100, enough)
		wait.Until(l.tb, "more calls", func() bool { return l.Calls() >= next })
	}
}

// Stop ends the load and waits for the calls in progress.
func (l *Load) Stop() {
	l.cancel()
	l.wg.Wait()
}

// Failures returns those so far, which are no longer held against the test.
func (l *Load) Failures() []Failure {
	l.mu.Lock()
	defer l.mu.Unlock()
	taken := l.failures
	l.failures = nil
	return taken
}

// Durations returns how long the calls took that have ended since it was asked last, the shortest
// first.
func (l *Load) Durations() []time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	taken := l.took
	l.took = nil
	slices.Sort(taken)
	return taken
}

// NoFailures stops the load and fails the test if any call did.
func (l *Load) NoFailures() {
	l.tb.Helper()
	l.Stop()
	if failures := l.Failures(); len(failures) > 0 {
		l.tb.Errorf("%d of %d calls failed, such as\n%s", len(failures), l.Calls(), Texts(failures))
	}
}

// Texts returns what some of the failures say, a line each.
func Texts(failures []Failure) string {
	var lines strings.Builder
	for _, f := range failures[:min(len(failures), 5)] {
		fmt.Fprintf(&lines, "%s after %s: %v\n", f.Ended.Format("15:04:05.000"), f.Ended.Sub(f.Began), f.Err)
	}
	return strings.TrimSuffix(lines.String(), "\n")
}

// Percentile returns the p-th percentile of sorted durations, or 0 where there are none.
func Percentile(sorted []time.Duration, p int) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(len(sorted)*p/100, len(sorted)-1)]
}
