package scenario

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	loadUsers = 4
	// loadInterval keeps the load at 250 calls a second: enough to have calls in progress all the
	// time, and room for what is tested on a small machine.
	loadInterval = 4 * time.Millisecond
)

// A load is users who read and write CronTabs at all versions all the time, until it is stopped.
// Each has an object of their own and looks at what they get.
type load struct {
	t     *testing.T
	r     *Resource
	ctx   context.Context //nolint:containedctx // of all calls; a call in progress is not cut off by the end of the load
	users []*user
	pace  *time.Ticker

	calls   atomic.Int64
	outages atomic.Int64 // begun and ended ones: odd during an outage
	excused atomic.Int64 // failures due to an outage

	stop context.CancelFunc
	wg   sync.WaitGroup

	mu       sync.Mutex
	failures []string
	texts    map[string]string // of the first excused failure of each kind of call
}

// startLoad creates the users' objects and sets the users to work. A list has to have all objects
// of the population as well.
func startLoad(t *testing.T, r *Resource, p *population) *load {
	t.Helper()
	running, stop := context.WithCancel(t.Context())
	l := &load{
		t: t, r: r, ctx: context.WithoutCancel(t.Context()), pace: time.NewTicker(loadInterval), stop: stop,
		texts: map[string]string{},
	}
	for i := range loadUsers {
		u := &user{l: l, name: fmt.Sprintf("load-%d", i), listed: p.names}
		u.create(t)
		l.users = append(l.users, u)
	}
	for _, u := range l.users {
		l.wg.Go(func() { u.work(running) })
	}
	t.Cleanup(func() {
		if l.end(); t.Failed() { // the scenario gave up earlier
			l.noFailures()
		}
		l.pace.Stop()
	})
	return l
}

// call makes a call. One that needs no webhookd may not even fail during an outage.
func (l *load) call(needsWebhookd bool, what string, do func() error) {
	began := l.outages.Load()
	err := do()
	l.calls.Add(1)
	if err == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if needsWebhookd && (began%2 == 1 || l.outages.Load() != began) {
		l.excused.Add(1)
		if l.texts[what] == "" {
			l.texts[what] = err.Error()
		}
		return
	}
	l.failures = append(l.failures, fmt.Sprintf("call %d: %s: %v", l.calls.Load(), what, err))
}

// lap waits until each user has made n more calls, so that no call is in progress that began
// before.
func (l *load) lap(n int64) {
	l.t.Helper()
	want := make([]int64, len(l.users))
	for i, u := range l.users {
		want[i] = u.calls.Load() + n + 1
	}
	Eventually(l.t, "more calls of each user", func() bool {
		for i, u := range l.users {
			if u.calls.Load() < want[i] {
				return false
			}
		}
		return true
	})
}

// outage makes an outage of webhookd and ends it again, and fails the test if no user noticed.
func (l *load) outage(do func()) {
	l.t.Helper()
	before := l.excused.Load()
	l.outages.Add(1)
	do()
	l.outages.Add(1)
	if l.excused.Load() == before {
		l.t.Error("no call failed during the outage: there was none, or no load")
	}
}

// end stops the users and waits for the calls in progress.
func (l *load) end() {
	l.stop()
	l.wg.Wait()
}

// noFailures ends the load and fails the test if any call failed that should not have.
func (l *load) noFailures() {
	l.t.Helper()
	l.end()
	l.mu.Lock()
	defer l.mu.Unlock()
	if n := len(l.failures); n > 0 {
		l.t.Errorf("%d of %d calls failed, such as\n%s", n, l.calls.Load(), strings.Join(l.failures[:min(n, 5)], "\n"))
		l.failures = nil
	}
	l.t.Logf("%d calls of users, %d of which failed during an outage", l.calls.Load(), l.excused.Load())
	for _, what := range slices.Sorted(maps.Keys(l.texts)) {
		l.t.Logf("during an outage: %s: %s", what, l.texts[what])
	}
}

// intact fails the test if a user's object is not what the user's last calls made it.
func (l *load) intact(t *testing.T) {
	t.Helper()
	for _, u := range l.users {
		u.intact(t)
	}
}

// A user works on one object.
type user struct {
	l      *load
	name   string
	listed []string // objects that are in each list
	calls  atomic.Int64

	// The number that the user's object has: the last one written, or one that a failed call may
	// have written.
	written, tried int64
}

func (u *user) create(t *testing.T) {
	t.Helper()
	obj := u.l.r.Object(t, "v1beta1", u.name, "{hostPort: '"+u.name+".example.com:80', spec: {replicas: 0, image: "+u.name+"}}")
	if _, err := u.l.r.At("v1beta1").Create(t.Context(), obj, metav1.CreateOptions{FieldManager: "owner"}); err != nil {
		t.Fatalf("create %s: %v", u.name, err)
	}
}

// work makes one kind of call after the other, each at every version.
func (u *user) work(running context.Context) {
	type step struct {
		name   string
		writes bool
		call   func(version string) error
	}
	steps := []step{
		{"get", false, u.get},
		{"update", true, u.update},
		{"list", false, u.list},
		{"patch", true, u.patch},
		{"apply", true, u.apply},
	}
	versions := u.l.r.Served
	for n := 0; ; n++ {
		select {
		case <-running.Done():
			return
		case <-u.l.pace.C:
		}
		version, s := versions[n%len(versions)], steps[n/len(versions)%len(steps)]
		u.l.call(s.writes || version != u.l.r.Storage, s.name+" at "+version, func() error { return s.call(version) })
		u.calls.Add(1)
	}
}
