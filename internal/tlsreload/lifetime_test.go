package tlsreload

import (
	"context"
	"crypto/tls"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/crdconvert/webhookd/test/helpers/tlstest"
)

const day = 24 * time.Hour

func TestJudge(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC)
	lasting := func(from, to time.Duration) *pair {
		return &pair{event: Event{NotBefore: now.Add(from), NotAfter: now.Add(to)}}
	}
	valid, gone := lasting(-day, day), lasting(-2*day, -time.Hour)
	for _, test := range []struct {
		name          string
		current, disk *pair
		want          verdict
	}{
		{"first pair", nil, valid, serve},
		{"first pair, expired", nil, gone, serve},
		{"first pair, not valid yet", nil, lasting(day, 2*day), serve},
		{"valid", valid, lasting(-time.Hour, day), serve},
		{"the one that is served, expired", gone, gone, serve},
		{"valid from this moment", valid, lasting(0, day), serve},
		{"valid to this moment", valid, lasting(-day, 0), serve},
		{"valid, current expired", gone, valid, serve},
		{"not valid yet", valid, lasting(time.Hour, day), wait},
		{"not valid yet by a second", valid, lasting(time.Second, day), wait},
		{"not valid yet within the skew, current expired", gone, lasting(skew, day), serve},
		{"not valid yet beyond the skew, current expired", gone, lasting(skew+time.Second, day), wait},
		{"not valid yet within the skew, current later still", lasting(day, 2*day), lasting(skew, day), serve},
		{"expired, current valid", valid, gone, expired},
		{"expired, current expired", gone, lasting(-3*day, -time.Minute), serve},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := judge(test.current, test.disk, now); got != test.want {
				t.Errorf("got %d, want %d", got, test.want)
			}
		})
	}
}

// A clockCase is a combination of the wall clock and the pairs on disk.
type clockCase struct {
	name  string
	first tlstest.Leaf
	steps []clockStep
}

type clockStep struct {
	jump  time.Duration       // step of the wall clock
	pass  time.Duration       // time that passes; 0: one poll
	leaf  func() tlstest.Leaf // swapped in; may be nil
	want  int                 // the pair that is then served: 0 the first, 1 the first swapped in
	calls []string
}

// C9, I35: the wall clock jumps by a day.
func TestWallClockJumps(t *testing.T) {
	t.Parallel()
	from := func(notBefore, notAfter time.Duration) func() tlstest.Leaf {
		return func() tlstest.Leaf {
			return tlstest.Leaf{NotBefore: time.Now().Add(notBefore), NotAfter: time.Now().Add(notAfter)}
		}
	}
	for _, test := range []clockCase{
		{name: "forward past the end of the only pair", steps: []clockStep{
			{jump: day, calls: []string{"reloaded"}},
			{pass: time.Hour, calls: []string{"reloaded"}},
		}},
		{name: "back before the start of the only pair, and forward again", steps: []clockStep{
			{jump: -day, calls: []string{"reloaded"}},
			{jump: day, calls: []string{"reloaded"}},
		}},
		{name: "forward, then a pair of the new time", steps: []clockStep{
			{jump: day},
			{leaf: from(day-time.Minute, 3*day), want: 1, calls: []string{"reloaded", "reloaded"}},
		}},
		{name: "back, then a pair of the true time waits until the clock is right", steps: []clockStep{
			{jump: -10 * time.Minute},
			{leaf: from(-time.Minute, 3*day), want: 0, calls: []string{"reloaded", "waiting"}},
			{jump: 10 * time.Minute, want: 1, calls: []string{"reloaded", "waiting", "reloaded"}},
		}},
		{name: "forward while a pair waits", steps: []clockStep{
			{leaf: from(12*time.Hour, 3*day), want: 0, calls: []string{"reloaded", "waiting"}},
			{jump: day, want: 1, calls: []string{"reloaded", "waiting", "reloaded"}},
		}},
		{name: "back while an expired pair is refused", steps: []clockStep{
			{leaf: from(-2*day, -50*time.Minute), want: 0, calls: []string{"reloaded", "failed"}},
			{jump: -30 * time.Minute, want: 0, calls: []string{"reloaded", "failed"}},
			{jump: -30 * time.Minute, want: 1, calls: []string{"reloaded", "failed", "reloaded", "recovered"}},
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { runClockCase(t, test) })
		})
	}
}

func runClockCase(t *testing.T, test clockCase) {
	t.Helper()
	ca := tlstest.NewCA(t, "ca")
	pairs := []tlstest.Pair{ca.Issue(t, test.first)}
	dir := secretDir(t, pairs[0])
	var offset atomic.Int64
	var calls log
	s := open(t, Options{Dir: dir, Hooks: calls.hooks(), Now: func() time.Time {
		return time.Now().Add(time.Duration(offset.Load()))
	}})
	run(t, s)
	for i, step := range test.steps {
		offset.Add(int64(step.jump))
		if step.leaf != nil {
			pairs = append(pairs, ca.Issue(t, step.leaf()))
			tlstest.SwapSecretDir(t, dir, pairs[len(pairs)-1].Files())
		}
		pass(max(step.pass, DefaultPollInterval))
		t.Logf("step %d", i+1)
		expectServed(t, s, pairs[step.want])
		if step.calls != nil {
			calls.expect(t, step.calls...)
		}
	}
}

// C10: a CA whose clock is ahead.
func TestLeafNotYetValidWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ca := tlstest.NewCA(t, "ca")
		pair := ca.Issue(t, tlstest.Leaf{})
		early := ca.Issue(t, tlstest.Leaf{NotBefore: time.Now().Add(10 * time.Minute)})
		dir := secretDir(t, pair)
		var calls log
		s := open(t, Options{Dir: dir, Hooks: calls.hooks()})
		run(t, s)
		tlstest.SwapSecretDir(t, dir, early.Files())

		pass(10*time.Minute - time.Second)
		expectServed(t, s, pair)
		calls.expect(t, "reloaded", "waiting")

		pass(DefaultPollInterval)
		expectServed(t, s, early)
		calls.expect(t, "reloaded", "waiting", "reloaded")
	})
}

// C12: the expired leaf is served, and a client with another clock can still accept it.
func TestExpiredLeafIsServed(t *testing.T) {
	t.Parallel()
	ca := tlstest.NewCA(t, "ca")
	end := time.Now().Add(-time.Hour)
	pair := ca.Issue(t, tlstest.Leaf{NotBefore: end.Add(-day), NotAfter: end})
	var calls log
	s := open(t, Options{Dir: secretDir(t, pair), Hooks: calls.hooks()})
	run(t, s)
	addr := listen(t, s.TLSConfig())
	mustDial(t, addr, &tls.Config{RootCAs: ca.Pool(), ServerName: "localhost", Time: func() time.Time { return end.Add(-time.Minute) }})
	if _, err := dial(t.Context(), addr, &tls.Config{RootCAs: ca.Pool(), ServerName: "localhost"}); err == nil {
		t.Error("a client with the right time took an expired leaf")
	}
	if !s.Served().NotAfter.Before(time.Now()) {
		t.Errorf("NotAfter for readiness and metrics: %s", s.Served().NotAfter)
	}
	calls.expect(t, "reloaded")
}

// C8, C12: readiness follows the time, and fails if the files are no longer read.
func TestReady(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ca, begins := tlstest.NewCA(t, "ca"), time.Now().Add(10*time.Minute)
		dir := secretDir(t, ca.Issue(t, tlstest.Leaf{NotBefore: begins, NotAfter: begins.Add(day)}))
		s := open(t, Options{Dir: dir}) // hooks are optional
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			s.Run(ctx)
		}()
		want := func(says string) {
			t.Helper()
			if err := s.Ready(); (err == nil) != (says == "") || err != nil && !strings.Contains(err.Error(), says) {
				t.Errorf("%v, want %q", err, says)
			}
		}
		want("not valid before " + begins.UTC().Format(time.RFC3339))
		pass(20 * time.Minute)
		want("")
		for _, move := range [][2]string{{dir, dir + ".away"}, {dir + ".away", dir}} {
			noError(t, os.Rename(move[0], move[1]))
			pass(2 * DefaultPollInterval)
			want("")
		}
		stop()
		<-ended
		pass(unreadFor + time.Second)
		want("has not been read for 1m0s")
		run(t, s)
		synctest.Wait()
		want("")
		pass(day)
		want("expired at " + begins.Add(day).UTC().Format(time.RFC3339))
	})
}
