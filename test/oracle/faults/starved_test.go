package faults_test

import (
	"errors"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/crdconvert/webhookd/test/helpers/process"
	"github.com/crdconvert/webhookd/test/helpers/tlstest"
	"github.com/crdconvert/webhookd/test/helpers/wait"

	"github.com/crdconvert/webhookd/test/oracle/load"
)

// TestR8NoFileCanBeWritten runs the process where no file can be written, as on a full disk or a
// read-only one: it needs none.
func TestR8NoFileCanBeWritten(t *testing.T) {
	t.Parallel()
	ca := tlstest.NewCA(t, "faults")
	p := run(t, process.Options{
		CA: ca, Ulimit: "-f 0", Env: []string{"HOME=/nowhere", "TMPDIR=/nowhere"},
		Flags: []string{"--drain-delay=0s"},
	})
	l := start(t, alone(p), ca)
	h := shakeHands(t, p, ca, 1, 50)
	pair := issue(t, ca)
	tlstest.SwapSecretDir(t, p.Secret, pair.Files())
	wait.Until(t, "the new certificate", func() bool { return h.shows(pair) })
	l.More(500)
	h.NoFailures()
	l.NoFailures()
	for _, path := range p.OpenFiles() {
		if !strings.HasPrefix(path, "/dev/") && !strings.HasPrefix(path, "/proc/") && !strings.HasPrefix(path, "/sys/") {
			t.Errorf("has a file open: %s", path)
		}
	}
	p.Terminate()
	p.Wait()
}

// TestR10ProcessIsStopped stops the process for longer than its clients wait, and lets it go on: it
// is there again at once, and what it was asked in the meantime delays no one.
func TestR10ProcessIsStopped(t *testing.T) {
	t.Parallel()
	stopped := scaled(4*time.Second, 40*time.Second)
	ca := tlstest.NewCA(t, "faults")
	p := run(t, process.Options{
		CA:        ca,
		Tolerated: []string{"TLS handshake error", "deadline of the request exceeded"}, // of requests without a client
	})
	wait.Until(t, "readiness", func() bool { return p.Ready(t.Context()) })
	a := alone(p)
	a.Timeout = scaled(2*time.Second, 0) // of -full: the API server's own
	l := start(t, a, ca)
	l.More(100)
	if early := l.Failures(); len(early) > 0 {
		t.Fatalf("%d calls failed, such as\n%s", len(early), load.Texts(early))
	}
	p.Signal(syscall.SIGSTOP)
	wait.For(t, stopped)
	p.Signal(syscall.SIGCONT)
	again := time.Now()
	took := wait.Within(t, scaled(wait.Patience, 2*time.Second), "readiness", func() bool { return p.Ready(t.Context()) })
	l.More(10 * workers)
	failures := l.Failures()
	for _, f := range failures {
		if wrong := wrongAnswerError(""); errors.As(f.Err, &wrong) || f.Began.After(again) {
			t.Errorf("once the process went on: %v", f.Err)
		}
	}
	l.NoFailures()
	if left := p.Scrape()["webhookd_requests_in_flight"]; left != 0 {
		t.Errorf("%v requests are left", left)
	}
	t.Logf("stopped for %s: ready after %s, %d of %d calls failed", stopped, took, len(failures), l.Calls())
}
