package scenario

import (
	"fmt"
	"testing"

	"github.com/crdconvert/webhookd/test/helpers/tlstest"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crdconvert/webhookd/test/e2e/webhook"
)

// RulesRolledOut gives two replicas other rules one after the other. Clients read objects through
// one and write a label through the other. Nothing that is stored changes.
func RulesRolledOut(t *testing.T, e *Env) {
	t.Helper()
	const rate, none = "    - {spoke: .spec.rate, hub: .spec.limits.rate}\n    - {spoke: .spec.applyMode", "    - {spoke: .spec.applyMode"
	const hostPort, otherHostPort = `template: "{host}:{port}"`, `template: "{port}/{host}"`
	e = e.ByRules(t)
	r := newRollout(t, e)
	for i := range 20 {
		version := r.Served[i%len(r.Served)]
		fields := relayFields()[version]
		r.create(version, fmt.Sprintf("relay-%d", i), fields[len(fields)-1-i/len(r.Served)%3])
	}
	for _, change := range [][2]string{{rate, none}, {none, rate}, {hostPort, otherHostPort}} {
		for _, f := range r.folders {
			f.change(t, relayRules, change[0], change[1], "success")
			r.writeLabels()
		}
	}
}

// A rollout has two replicas, each with its own copy of the rules.
type rollout struct {
	subject

	balancer *webhook.Balancer
	folders  [2]*ruleFolders
	writes   int
}

func newRollout(t *testing.T, e *Env) *rollout {
	t.Helper()
	r := &rollout{folders: [2]*ruleFolders{e.rules, newRuleFolders(t)}}
	o := webhook.Options{Hosts: e.Options(t).Hosts, CA: tlstest.NewCA(t, "webhookd rollout")}
	replicas := &Replicas{}
	for _, f := range r.folders {
		o.Flags = f.flags()
		f.w = webhook.Start(t, o)
		replicas.Processes = append(replicas.Processes, f.w)
	}
	r.balancer = webhook.NewBalancer(t, e.Address(t), r.folders[0].w.Addr())
	replicas.Balancer = r.balancer
	r.subject = e.subject(t, relayCRD(t), replicas)
	return r
}

// through has the API server ask one replica. A request fails that it writes to a connection while
// that is dropped, so one object is read until the API server has another connection.
func (r *rollout) through(f *ruleFolders) {
	r.t.Helper()
	r.balancer.Set(f.w.Addr())
	r.balancer.Drop()
	Succeeds(r.t, "the API server to ask the other replica", func() error {
		_, err := r.At("v1").List(r.t.Context(), metav1.ListOptions{Limit: 1})
		return err
	})
}

// writeLabels reads all objects at each version that is not stored through each replica, and writes
// them through the other.
func (r *rollout) writeLabels() {
	r.t.Helper()
	for _, version := range []string{"v1alpha1", "v1"} {
		for i, reads := range r.folders {
			r.through(reads)
			list, err := r.At(version).List(r.t.Context(), metav1.ListOptions{})
			if err != nil {
				r.t.Fatal(err)
			}
			r.through(r.folders[1-i])
			for k := range list.Items {
				r.writeLabel(version, &list.Items[k])
			}
		}
	}
}

func (r *rollout) writeLabel(version string, obj *unstructured.Unstructured) {
	r.t.Helper()
	was := r.Stored(r.t, obj.GetName()).Object["spec"]
	r.writes++
	obj.SetLabels(map[string]string{"writes": fmt.Sprint(r.writes)})
	if _, err := r.At(version).Update(r.t.Context(), obj, metav1.UpdateOptions{}); err != nil {
		r.t.Fatal(err)
	}
	if diff := cmp.Diff(was, r.Stored(r.t, obj.GetName()).Object["spec"]); diff != "" {
		r.t.Errorf("%s, written at %s (-want +got):\n%s", obj.GetName(), version, diff)
	}
}
