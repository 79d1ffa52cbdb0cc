package scenario

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/crdconvert/webhookd/test/e2e/webhook"
)

// drainDelay is how long a replica that ends goes on: enough for the Service to know even on a slow
// machine.
const drainDelay = "8s"

const (
	crontabRules = "crontabs." + rulesGroup + ".yaml"
	lastRule     = `absent: "" # so a port whose host is given up still shows as ":80"`
	newerRule    = lastRule + "\n    - {spoke: .spec.image, hub: .spec.image, " + webhook.NewerKey + ": Hub}"
	// A later release may write annotations like these.
	laterName, laterValue = "conversion.webhookd.io/v1beta1.spec.image", `{"later":[1,{"form":"hunter2"}]}`
)

// Upgraded replaces two replicas by those of a newer release and its rules, and goes back again,
// under load. The older release refuses the newer rules, so a rollout to it stops. Annotations of a
// form that it does not know pass through it. No call may fail. The replicas are replaced as a
// rolling update does: SIGTERM comes first, and only some calls later does the Service know that
// the replica is going.
func Upgraded(t *testing.T, e *Env) {
	t.Helper()
	e = e.ByRules(t)
	older := webhook.Options{Program: webhook.Older(t), Flags: append(e.rules.flags(), "--drain-delay", drainDelay)}
	newer := older
	newer.Program = webhook.Build(t)

	replicas := e.Replicas(t, 2, older)
	e.rules.w = replicas.Processes[0]
	r := e.Install(t, e.CRD(t, "crontabs.example.com"), replicas)
	p := populate(t, r, 10)
	p.annotate(t, laterName, laterValue)
	was := p.snapshot(t)
	l := startLoad(t, r, p)
	u := &upgrade{replicas: replicas, r: r, l: l}

	for _, w := range replicas.Processes {
		w.Tolerate("rules cannot be used, the last good ones are kept")
	}
	e.rules.change(t, crontabRules, lastRule, newerRule, "failure")
	refusesNewerRules(t, older, u)
	for range replicas.Processes {
		u.replace(t, newer)
	}
	e.rules.w = replicas.Processes[0]
	p.unharmed(t, was)
	refusesNewerRules(t, older, u)
	e.rules.change(t, crontabRules, newerRule, lastRule, "success")
	older.Flags = e.rules.flags() // the last two have no one to drain for
	for range replicas.Processes {
		u.replace(t, older)
	}
	for _, gone := range u.ending {
		gone.Wait()
	}
	// None of those that began is left.
	r.MustConvert(t, replicas, 1, func() { l.lap(10) })
	l.noFailures()
	l.intact(t)
	p.unharmed(t, was)
	for _, w := range replicas.Processes {
		quotesNothing(t, w.Log(""), "hunter")
	}
}

// An upgrade replaces replicas under load.
type upgrade struct {
	replicas *Replicas
	r        *Resource
	l        *load
	ending   []*webhook.Process
}

func (u *upgrade) replace(t *testing.T, o webhook.Options) {
	t.Helper()
	o.CA, o.Hosts = u.replicas.CA(), []string{ServiceHost, "127.0.0.1"}
	old, stays, next := u.replicas.Processes[0], u.replicas.Processes[1], webhook.Start(t, o)
	u.l.lap(5)
	old.Terminate()
	Eventually(t, "the replica to say that it ends", func() bool {
		return old.Metrics(t).Sum("webhookd_draining") == 1
	})
	u.l.lap(2)
	u.replicas.Set(next.Addr(), stays.Addr())
	u.replicas.Processes = []*webhook.Process{stays, next}
	u.ending = append(u.ending, old)
	// Connections to the one that stays are kept, so that the new one may have to wait for the next
	// round.
	u.r.MustConvert(t, u.replicas, 1, func() { u.l.lap(5) })
}

// refusesNewerRules starts the older release with rules of the newer one. It is not ready, so that
// a rollout stops, and says why.
func refusesNewerRules(t *testing.T, older webhook.Options, u *upgrade) {
	t.Helper()
	older.CA, older.Hosts = u.replicas.CA(), []string{ServiceHost, "127.0.0.1"}
	older.Flags = slices.Concat(older.Flags, []string{"--wait-for-rules"})
	w := webhook.Start(t, older)
	w.Tolerate("rules have errors, only the kinds without any are served")
	code, text, err := w.Get(t.Context(), "/readyz")
	if want := "rules of some kinds have errors"; err != nil || code != http.StatusServiceUnavailable || !strings.Contains(text, want) {
		t.Errorf("readiness is %d, %s, %v; want 503 and %q", code, text, err, want)
	}
	log := strings.Join(w.Log(""), "\n")
	for _, want := range []string{crontabRules, webhook.NewerKey, "a newer webhookd may have more"} {
		if !strings.Contains(log, want) {
			t.Errorf("the log does not have %q:\n%s", want, log)
		}
	}
	w.Terminate()
	w.Wait()
}

// annotate gives each object an annotation.
func (p *population) annotate(t *testing.T, name, value string) {
	t.Helper()
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]string{name: value}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, object := range p.names {
		if _, err := p.r.At(p.r.Storage).Patch(t.Context(), object, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
			t.Fatalf("annotate %s: %v", object, err)
		}
	}
}
