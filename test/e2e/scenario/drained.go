package scenario

import (
	"testing"

	"github.com/crdconvert/webhookd/test/e2e/webhook"
)

// drainDelay is how long a replica that ends goes on: enough for the Service to know even on a slow
// machine.
const drainDelay = "8s"

// Drained ends one replica of two after the other under load, as a rolling update does: SIGTERM
// comes first, and only some calls later does the Service know that the replica is going. No call
// may fail.
func Drained(t *testing.T, e *Env) {
	t.Helper()
	const rounds = 4
	replicas := e.Replicas(t, 2, "--drain-delay", drainDelay)
	r := e.Install(t, CRD(t, "crontabs.example.com"), replicas)
	p := populate(t, r, 10)
	was := p.snapshot(t)
	l := startLoad(t, r, p)

	ending := make([]*webhook.Process, 0, rounds)
	for round := range rounds {
		o := webhook.Options{Hosts: e.Options(t).Hosts, CA: replicas.CA()}
		if round < rounds-2 { // the last two have no one to drain for
			o.Flags = []string{"--drain-delay", drainDelay}
		}
		old, stays, next := replicas.Processes[0], replicas.Processes[1], webhook.Start(t, o)
		l.lap(5)
		old.Terminate(t)
		Eventually(t, "the replica to say that it ends", func() bool {
			return old.Metrics(t).Sum("webhookd_draining") == 1
		})
		l.lap(2)
		replicas.Set(next.Addr(), stays.Addr())
		replicas.Processes = []*webhook.Process{stays, next}
		ending = append(ending, old)
		// Connections to the one that stays are kept, so that the new one may have to wait for the
		// next round.
		r.MustConvert(t, replicas, 1, func() { l.lap(5) })
	}
	for _, old := range ending {
		old.Wait(t)
	}
	// None of those that began is left.
	r.MustConvert(t, replicas, 1, func() { l.lap(10) })
	l.noFailures()
	l.intact(t)
	p.unharmed(t, was)
}
