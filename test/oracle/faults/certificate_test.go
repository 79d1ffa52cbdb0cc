package faults_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/crdconvert/webhookd/test/helpers/process"
	"github.com/crdconvert/webhookd/test/helpers/tlstest"
	"github.com/crdconvert/webhookd/test/helpers/wait"

	"github.com/crdconvert/webhookd/test/oracle/apiclient"
	"github.com/crdconvert/webhookd/test/oracle/load"
)

// unusable is what the log says while the files are not what they should be.
const unusable = "certificate on disk cannot be used"

func issue(t *testing.T, ca *tlstest.CA) tlstest.Pair {
	t.Helper()
	return ca.Issue(t, tlstest.Leaf{Hosts: []string{apiclient.ServiceHost, "127.0.0.1"}})
}

// TestC1SwapUnderLoad replaces the certificate again and again while connections are made, and
// calls: none fails, and each certificate is served at once.
func TestC1SwapUnderLoad(t *testing.T) {
	t.Parallel()
	swaps := scaled(200, 10000)
	ca := tlstest.NewCA(t, "faults")
	p := launchHostile(t, ca, nil) // it looks for a new one more often
	calls := start(t, alone(p), ca)
	h := shakeHands(t, p, ca, 4, 400)
	took := make([]time.Duration, swaps)
	began := time.Now()
	for i := range took {
		pair := issue(t, ca)
		tlstest.SwapSecretDir(t, p.Secret, pair.Files())
		took[i] = wait.Within(t, wait.Patience, "the new certificate", func() bool { return h.shows(pair) })
	}
	rate := float64(h.Calls()) / time.Since(began).Seconds()
	h.NoFailures()
	calls.NoFailures()
	slices.Sort(took)
	if p99 := load.Percentile(took, 99); *full && p99 > time.Second {
		t.Errorf("a new certificate was seen after %s (p99)", p99)
	}
	if *full && rate < 200 {
		t.Errorf("%.0f handshakes a second, want 200 at least", rate)
	}
	t.Logf("%d swaps, %d handshakes (%.0f/s), %d calls, none failed; seen after %s (p50) and %s (p99)",
		swaps, h.Calls(), rate, calls.Calls(), load.Percentile(took, 50), load.Percentile(took, 99))
}

// TestX3FIPS runs the binary in both modes of FIPS 140-3: calls and a change of the certificate go
// as ever.
func TestX3FIPS(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"on", "only"} {
		ca := tlstest.NewCA(t, "faults")
		p := run(t, process.Options{
			CA: ca, Flags: []string{"--drain-delay=0s"}, Env: []string{"GODEBUG=fips140=" + mode},
		})
		calls := start(t, alone(p), ca)
		h := shakeHands(t, p, ca, 1, 50)
		for range scaled(2, 10) {
			pair := issue(t, ca)
			tlstest.SwapSecretDir(t, p.Secret, pair.Files())
			wait.Until(t, "the new certificate", func() bool { return h.shows(pair) })
		}
		calls.More(int64(scaled(200, 5000)))
		h.NoFailures()
		calls.NoFailures()
		if m := p.Scrape(); m.Sum("webhookd_converter_panics_total")+m.Sum("webhookd_handler_panics_total") > 0 {
			t.Error("there were panics")
		}
		p.Terminate()
		p.Wait()
		if said := p.Log("panic"); len(said) > 0 {
			t.Errorf("the log: %s", fmt.Sprint(said))
		}
	}
}
