package controlplane_test

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/crdconvert/webhookd/internal/cluster"
	"github.com/crdconvert/webhookd/internal/cluster/crdwire"
	"github.com/crdconvert/webhookd/internal/cluster/selfmanaged"
	"github.com/crdconvert/webhookd/test/e2e/scenario"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// rotateSelfManaged replaces the CA in three runs of certs ensure, as the CronJob has them: the
// first one is a Job of it, the others take place when a clock says that others have had the time
// to take notice. Nothing that reads notices.
func rotateSelfManaged(t *testing.T, i *installation) {
	t.Helper()
	old := i.bundle(t)
	if len(old) != 1 {
		t.Fatalf("the CRD trusts %d CAs to begin with, want 1", len(old))
	}
	r := i.startReading(t)
	wasServed := i.served(t)

	i.runCertsJob(t, "--rotate-ca")
	both := i.bundle(t)
	if len(both) != 2 || !both.HasAll(old) {
		t.Errorf("a run after a new CA is asked for, the CRD trusts %d CAs, want the old one and the new one", len(both))
	}
	if !i.served(t).Equal(wasServed) {
		t.Error("the new CA issued a leaf before anyone had the time to trust it")
	}
	r.lap(t)

	const settle = 10 * time.Minute // the least that certs ensure takes
	i.ensure(t, settle, time.Now().Add(settle+time.Minute))
	scenario.Eventually(t, "a leaf of the new CA", func() bool { return !i.served(t).Equal(wasServed) })
	if now := i.bundle(t); !now.Same(both) {
		t.Errorf("with the new leaf the CRD trusts %d CAs, want both", len(now))
	}
	if err := i.served(t).CheckSignatureFrom(old[0]); err == nil {
		t.Error("the new leaf is of the old CA")
	}
	r.lap(t)

	i.ensure(t, settle, time.Now().Add(2*(settle+time.Minute)))
	if now := i.bundle(t); len(now) != 1 || now.Same(old) {
		t.Errorf("in the end the CRD trusts %d CAs, want the new one alone", len(now))
	}
	r.lap(t)
	sharedBundle(t, i, settle, time.Now().Add(3*(settle+time.Minute)))
	r.lap(t)
	r.end(t)
}

// sharedBundle has another manager apply a copy of the caBundle. An admin who wants a new CA does
// what certs ensure prints. The bundle is there all the time.
func sharedBundle(t *testing.T, i *installation, settle time.Duration, at time.Time) {
	t.Helper()
	old := i.bundle(t)
	i.kubectl.Write(t, "with.yaml", i.manifest(t, base64.StdEncoding.EncodeToString(append([]byte("# copied\n"), old.PEM()...))))
	i.kubectl.Write(t, "without.yaml", i.manifest(t, ""))
	apply := []string{"apply", "--server-side", "--field-manager=flux", "--force-conflicts", "-f"}
	i.kubectl.Run(t, append(apply, "with.yaml")...)

	err := i.tryEnsure(t, settle, at, true)
	if err == nil || !strings.Contains(err.Error(), "take caBundle out of what that manager applies, and run this again") {
		t.Fatalf("the field belongs to another manager: %v", err)
	}
	i.kubectl.Run(t, append(apply, "without.yaml")...)
	if now := i.bundle(t); !now.Same(old) {
		t.Fatalf("the CRD trusts %d CAs once that manager has given the field up", len(now))
	}
	i.ensure(t, settle, at.Add(time.Minute))
	if now := i.bundle(t); len(now) != 2 || !now.HasAll(old) {
		t.Errorf("the CRD trusts %d CAs, want the old one and the new one", len(now))
	}
}

// manifest returns the CRD as a tool applies it, with a caBundle or without any.
func (i *installation) manifest(t *testing.T, bundle string) string {
	t.Helper()
	crd := &unstructured.Unstructured{}
	if err := json.Unmarshal([]byte(i.kubectl.Run(t, "get", "crd", i.crd(), "-o", "json")), crd); err != nil {
		t.Fatal(err)
	}
	crd.Object["metadata"] = map[string]any{"name": i.crd()}
	delete(crd.Object, "status")
	path := []string{"spec", "conversion", "webhook", "clientConfig", "caBundle"}
	unstructured.RemoveNestedField(crd.Object, path...)
	if bundle != "" {
		if err := unstructured.SetNestedField(crd.Object, bundle, path...); err != nil {
			t.Fatal(err)
		}
	}
	return textOf(t, crd)
}

// runCertsJob runs a Job of the chart's CronJob, as `kubectl create job --from` does, with more
// arguments.
func (i *installation) runCertsJob(t *testing.T, args ...string) {
	t.Helper()
	client := i.plane.Kube(t).BatchV1()
	cron, err := client.CronJobs(i.namespace).Get(t.Context(), "webhookd-certs", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "rotate"}, Spec: cron.Spec.JobTemplate.Spec}
	container := &job.Spec.Template.Spec.Containers[0]
	container.Args = append(container.Args, args...)
	if _, err := client.Jobs(i.namespace).Create(t.Context(), job, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	i.kubectl.Run(t, i.args("wait", "--for=condition=complete", "job/rotate", "--timeout=60s")...)
}

// ensure runs certs ensure with the rights of the Job, at another time.
func (i *installation) ensure(t *testing.T, settle time.Duration, at time.Time) {
	t.Helper()
	if err := i.tryEnsure(t, settle, at, false); err != nil {
		t.Error(err)
	}
}

func (i *installation) tryEnsure(t *testing.T, settle time.Duration, at time.Time, rotate bool) error {
	t.Helper()
	token := strings.TrimSpace(i.kubectl.Run(t, i.args("create", "token", "webhookd-certs")...))
	api, err := cluster.New(cluster.Options{Kubeconfig: i.plane.Kubeconfig(t, token)})
	if err != nil {
		t.Fatal(err)
	}
	service, err := crdwire.ParseService(i.namespace + "/webhookd")
	if err != nil {
		t.Fatal(err)
	}
	const day = 24 * time.Hour
	return selfmanaged.Ensure(t.Context(), api, selfmanaged.Options{ //nolint:gosec // the name of a Secret
		Namespace: i.namespace, Secret: "webhookd-self-managed", Service: service, CRDs: []string{i.crd()},
		Policy: selfmanaged.Policy{CAValidity: 3650 * day, LeafValidity: 90 * day, RenewBefore: 30 * day, StepDelay: settle},
		Now:    func() time.Time { return at }, Log: t.Logf, Rotate: rotate,
	})
}

// rotateCertManager renews the CA as cert-manager does: with the key that it had, and the leaf in
// the same moment as what the injector reads. Nothing that reads notices.
func rotateCertManager(t *testing.T, i *installation, a *authority) {
	t.Helper()
	old := i.bundle(t)
	r := i.startReading(t)
	leaf := i.issue(t, a.renewed(t))
	scenario.Eventually(t, "the new leaf", func() bool { return i.served(t).Equal(leaf) })
	scenario.Eventually(t, "the renewed CA next to the old one", func() bool {
		now := i.bundle(t)
		return len(now) == 2 && now.HasAll(old)
	})
	r.lap(t)
	r.end(t)
}
