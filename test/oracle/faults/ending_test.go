package faults_test

import (
	"errors"
	"testing"
	"time"

	"github.com/crdconvert/webhookd/test/helpers/process"
	"github.com/crdconvert/webhookd/test/helpers/tlstest"
	"github.com/crdconvert/webhookd/test/helpers/wait"

	"github.com/crdconvert/webhookd/test/oracle/load"
)

// TestE2RollingRestart replaces both replicas, again and again, with none of them missing at any
// time: no call fails.
func TestE2RollingRestart(t *testing.T) {
	t.Parallel()
	const lag, drainDelay = time.Second, 10 * time.Second
	rollouts := scaled(2, 50)
	s, replicas := newService(t, lag, "--drain-delay="+drainDelay.String())
	l := start(t, s.client(), s.ca)
	var slowest time.Duration
	for range rollouts {
		for i, old := range replicas {
			replicas[i] = s.replica()
			s.used(replicas[i])
			old.Terminate()
			began := time.Now()
			s.unused(old)
			slowest = max(slowest, time.Since(began))
		}
	}
	l.NoFailures()
	t.Logf("%d rollouts, %d calls; the balancer left a replica after %s at most, which drains for %s", rollouts, l.Calls(), slowest, drainDelay)
}

// TestE4KillOfBothReplicas starts both again, with a thousand rules: they are ready at once, and no
// answer is wrong.
func TestE4KillOfBothReplicas(t *testing.T) {
	t.Parallel()
	rules, crds := manyRules(t, 1000)
	s, replicas := newService(t, 0, "--rules="+rules, "--crds="+crds)
	l := start(t, s.client(), s.ca)
	var slowest time.Duration
	for range scaled(2, 10) {
		l.More(10 * workers)
		if early := l.Failures(); len(early) > 0 {
			t.Errorf("%d calls failed before the kill, such as\n%s", len(early), load.Texts(early))
		}
		for _, p := range replicas {
			p.Kill()
		}
		for i := range replicas {
			began := time.Now()
			replicas[i] = s.replica()
			wait.Until(t, "readiness", func() bool { return replicas[i].Ready(t.Context()) })
			slowest = max(slowest, time.Since(began))
			s.used(replicas[i])
		}
		again := time.Now()
		l.More(10 * workers)
		for _, f := range l.Failures() {
			if wrong := wrongAnswerError(""); errors.As(f.Err, &wrong) || f.Began.After(again) {
				t.Errorf("once both replicas were there again: %v", f.Err)
			}
		}
	}
	l.NoFailures()
	if *full && slowest > 2*time.Second {
		t.Errorf("a replica was ready after %s", slowest)
	}
	t.Logf("ready after %s at most, %d calls", slowest, l.Calls())
}

// TestE6SecondSignal ends at once, whatever is in flight.
func TestE6SecondSignal(t *testing.T) {
	t.Parallel()
	p, answered := sleeping(t, 20*time.Second, "--drain-delay=20s")
	p.Terminate()
	wait.Until(t, "the drain", func() bool { return len(p.Log(`"msg":"draining"`)) > 0 })
	p.Terminate()
	wait.Within(t, scaled(wait.Patience, time.Second), "the end", func() bool { return !p.Alive() })
	if <-answered == nil {
		t.Error("the call that was in flight has an answer")
	}
}

// sleeping returns a process in which a call is in flight that takes so long, and where its error
// comes.
func sleeping(t *testing.T, takes time.Duration, flags ...string) (p *process.Process, answered <-chan error) {
	t.Helper()
	ca := tlstest.NewCA(t, "faults")
	p = launchHostile(t, ca, nil, flags...)
	c := strangeConverter(t, alone(p), ca, "Sleeping")
	done := make(chan error, 1)
	go func() {
		_, err := c.To(strange("Sleeping", "a", int(takes/time.Millisecond)), "v2")
		done <- err
	}()
	wait.Until(t, "a review in flight", func() bool { return p.Scrape()["webhookd_requests_in_flight"] == 1 })
	return p, done
}
