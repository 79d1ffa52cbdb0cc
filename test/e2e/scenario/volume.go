package scenario

import (
	"flag"
	"fmt"
	"syscall"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crdconvert/webhookd/test/e2e/cluster"
	"github.com/crdconvert/webhookd/test/e2e/webhook"
)

var volume = flag.Int("volume", 1000, "objects in the scenario Volume") //nolint:gochecknoglobals // a flag of the test binary

// Volume measures what many objects that are stored at an old version cost: a list of them at the
// new version and, with a watch cache, filling it from nothing. The figures are in the test's log.
func Volume(t *testing.T, e *Env) {
	t.Helper()
	n := *volume
	w := e.Webhookd(t)
	r := e.Install(t, e.CRD(t, "crontabs.example.com"), w)
	began := time.Now()
	for i := range n {
		name := fmt.Sprintf("many-%06d", i)
		e.Cluster.PutStored(t, r.Group, r.Plural, r.Namespace, name, oldCronTab(r, name, i))
	}
	t.Logf("%d objects written to etcd at v1beta1 in %s", n, time.Since(began).Round(time.Millisecond))
	if e.Cluster.WatchCache() {
		// The caches that are there took part in the writing; now they begin with nothing.
		e.chill(t, r)
		measure(t, w, "the watch cache filled at v1", n, n, func() { r.fill(t, w, n) })
		measure(t, w, "listed at v1 from the watch cache", n, 0, func() { r.listAll(t, "v1", n, 0) })
	} else {
		measure(t, w, "listed at v1beta1, as stored", n, 0, func() { r.listAll(t, "v1beta1", n, 0) })
		measure(t, w, "listed at v1", n, n, func() { r.listAll(t, "v1", n, 0) })
		measure(t, w, "listed at v1 in pages of 500", n, n, func() { r.listAll(t, "v1", n, 500) })
	}
	r.clear(t)
}

// oldCronTab returns the text of a CronTab as etcd has it, of 1.2 KB with two managers.
func oldCronTab(r *Resource, name string, i int) []byte {
	const managed = `{"manager":"%s","operation":"Apply","apiVersion":"%s/v1beta1","time":"2026-01-02T03:04:05Z","fieldsType":"FieldsV1",` +
		`"fieldsV1":{"f:metadata":{"f:labels":{"f:app.kubernetes.io/name":{},"f:app.kubernetes.io/part-of":{}}},"f:spec":{"f:cronSpec":{},"f:image":{}}}}`
	return fmt.Appendf(nil, `{"apiVersion":"%s/v1beta1","hostPort":"%s.example.com:%d","kind":"CronTab",`+
		`"metadata":{"annotations":{"example.com/owner":"team-%d","example.com/description":"one of many jobs that run once in a while"},`+
		`"creationTimestamp":"2026-01-02T03:04:05Z","generation":1,`+
		`"labels":{"app.kubernetes.io/name":"%s","app.kubernetes.io/part-of":"the-many"},`+
		`"managedFields":[`+managed+`,`+managed+`],"name":"%s","namespace":"%s","uid":"%08d-0000-4000-8000-000000000000"},`+
		`"spec":{"cronSpec":"* * * * */5","image":"registry.example.com/jobs/my-awesome-cron-image:1.2.3","replicas":3}}`,
		r.Group, name, 1024+i%60000, i%10, name, "kubectl", r.Group, "helm", r.Group, name, r.Namespace, i)
}

// chill empties the watch cache: the API server starts again, or at least serves the resource
// again.
func (e *Env) chill(t *testing.T, r *Resource) {
	t.Helper()
	if restarter, ok := e.Cluster.(cluster.Restarter); ok {
		restarter.Restart(t)
		return
	}
	e.UpdateCRD(t, r.Name, func(*apiextensionsv1.CustomResourceDefinition) {})
}

// fill asks for an object at v1, which makes the API server serve the resource and so fill its
// watch cache, and waits until each object has been converted.
func (r *Resource) fill(t *testing.T, w *webhook.Process, n int) {
	t.Helper()
	before := r.Converted(t, w)
	Succeeds(t, "an object", func() error {
		_, err := r.At("v1").Get(t.Context(), "many-000000", metav1.GetOptions{})
		return err
	})
	// Not as often as Eventually looks: reading the metrics is work for webhookd too.
	look := time.NewTicker(100 * time.Millisecond)
	defer look.Stop()
	for deadline := time.Now().Add(5 * Patience); r.Converted(t, w)-before < float64(n); <-look.C {
		if time.Now().After(deadline) {
			t.Fatal("the watch cache is not filled")
		}
	}
	// "0" is served from the cache, once that is there.
	Succeeds(t, "a list from the watch cache", func() error {
		list, err := r.At("v1").List(t.Context(), metav1.ListOptions{ResourceVersion: "0"})
		if err == nil && len(list.Items) != n {
			err = fmt.Errorf("it has %d objects, want %d", len(list.Items), n)
		}
		return err
	})
}

func (r *Resource) listAll(t *testing.T, version string, n int, page int64) {
	t.Helper()
	seen := 0
	for o := (metav1.ListOptions{Limit: page}); ; {
		list, err := r.At(version).List(t.Context(), o)
		if err != nil {
			t.Fatalf("list at %s: %v", version, err)
		}
		seen += len(list.Items)
		if o.Continue = list.GetContinue(); o.Continue == "" {
			break
		}
	}
	if seen != n {
		t.Errorf("the list at %s has %d objects, want %d", version, seen, n)
	}
}

// clear deletes all objects, which may take more than one call has time for.
func (r *Resource) clear(t *testing.T) {
	t.Helper()
	for deadline := time.Now().Add(10 * Patience); ; {
		err := r.At("v1beta1").DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{})
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("delete all objects: %v", err)
		}
	}
}

// measure logs what n objects cost, and fails the test unless webhookd converted as many as it had
// to.
func measure(t *testing.T, w *webhook.Process, what string, n, converted int, do func()) {
	t.Helper()
	const objects, cpu = "webhookd_objects_total", "process_cpu_seconds_total"
	before, ownBefore, began := w.Metrics(t), ownCPU(t), time.Now()
	do()
	took, own, after := time.Since(began), ownCPU(t)-ownBefore, w.Metrics(t)
	calls := after.Sum(objects) - before.Sum(objects)
	if calls < float64(converted) || converted == 0 && calls > float64(n)/10 {
		t.Errorf("%s: webhookd converted %g objects, want %d", what, calls, converted)
	}
	t.Logf("%d objects %s: %s, %.0f objects/s; the test's process used %.2f s of CPU",
		n, what, took.Round(time.Millisecond), float64(n)/took.Seconds(), own.Seconds())
	if used := after.Sum(cpu) - before.Sum(cpu); calls > 0 {
		t.Logf("\twebhookd: %.0f calls, %.2f s of CPU, %.0f µs a call, %.0f %% of a processor, %.0f %% of both processes' CPU",
			calls, used, 1e6*used/calls, 100*used/took.Seconds(), 100*used/(used+own.Seconds()))
	}
}

// ownCPU returns the CPU time of this process: of the API server and etcd as well where they are in
// it.
func ownCPU(t *testing.T) time.Duration {
	t.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		t.Fatalf("CPU time: %v", err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
