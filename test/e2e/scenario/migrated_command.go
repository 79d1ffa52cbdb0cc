package scenario

import (
	"bytes"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/crdconvert/webhookd/test/e2e/webhook"
)

// MigratedByCommand goes from one version to the next with webhookd migrate. While the objects are
// rewritten, users read and write at both versions, rules change, and the command is killed. No
// object is lost, and status.storedVersions names the old version as long as one is stored in it.
func MigratedByCommand(t *testing.T, e *Env) {
	t.Helper()
	e = e.ByRules(t)
	w := e.Webhookd(t)
	crd := e.CRD(t, "crontabs.example.com")
	SetStorage(t, crd, "v1beta1")
	r := e.Install(t, crd, w)
	p := populate(t, r, 60)
	was := p.snapshot(t).Read["v1"]
	c := commandLine{t, webhook.Build(t), Kubeconfig(t, e)}
	migrate := []string{"migrate", r.Name, "--to", "v1", "--settle", "1s"}

	c.run(append(migrate, "--dry-run"), "60 objects", "managers     v1beta1: imager applied 60 objects", "step 3 ")
	p.storedAt(t, "v1beta1", p.names...)

	l := startLoad(t, r, p)
	slow := exec.CommandContext(t.Context(), c.program, append(migrate, "--writes-per-second", "5", "--kubeconfig", c.kubeconfig)...) //nolint:gosec // webhookd
	var said bytes.Buffer
	slow.Stderr = &said
	if err := slow.Start(); err != nil {
		t.Fatal(err)
	}
	inV1 := func() (n int) {
		for _, name := range p.names {
			if r.Stored(t, name).GetAPIVersion() == r.Group+"/v1" {
				n++
			}
		}
		return n
	}
	Eventually(t, "the first objects to be rewritten", func() bool { return inV1() > 5 })
	e.rules.change(t, crontabRules, lastRule, newerRule, "success")
	rewritten := inV1()
	Eventually(t, "more objects to be rewritten by the new rules", func() bool { return inV1() > rewritten+5 })
	_ = slow.Process.Kill()
	_ = slow.Wait()
	if n := inV1(); n == len(p.names) {
		t.Errorf("it was not killed in time:\n%s", &said)
	}
	if got := e.storedVersions(t, r); !slices.Equal(got, []string{"v1beta1", "v1"}) {
		t.Errorf("status.storedVersions after it was killed: %q", got)
	}
	c.run(migrate, "64 of 64 objects written at v1", "remove v1beta1 from status.storedVersions")
	r.Storage = "v1"
	l.lap(5)
	l.noFailures()
	l.intact(t)
	p.storedAt(t, "v1", p.names...)
	if got := e.storedVersions(t, r); !slices.Equal(got, []string{"v1"}) {
		t.Errorf("status.storedVersions: %q", got)
	}
	p.unchanged(t, was)

	// The proof rests on this: a write that changes nothing stores only what is stored otherwise.
	before := p.list(t, "v1")[p.names[0]]
	after, err := r.At("v1").Patch(t.Context(), p.names[0], types.MergePatchType, []byte("{}"), metav1.PatchOptions{})
	if diff := cmp.Diff(before, after); diff != "" || err != nil {
		t.Errorf("an object that is stored in v1 was stored again: %v (-before +after):\n%s", err, diff)
	}

	stop := slices.Concat(migrate, []string{"--remove", "v1beta1", "--kubeconfig", c.kubeconfig})
	if out, err := exec.CommandContext(t.Context(), c.program, stop...).CombinedOutput(); //nolint:gosec // webhookd
	err == nil || !strings.Contains(string(out), "stopped before this step") {
		t.Errorf("without an answer: %v\n%s", err, out)
	}
	r.annotate(t, "v1", p.names[0])
	c.run(append(migrate, "--remove", "v1beta1", "--yes"),
		"64 of 64 objects no longer name v1beta1 in managedFields", "remove v1beta1 from spec.versions", "to do by hand: remove v1beta1 from the CRD")
	r.Served = []string{"v1"}
	converted := r.Converted(t, w)
	for name, obj := range p.list(t, "v1") {
		for _, m := range obj.GetManagedFields() {
			if m.APIVersion != r.Group+"/v1" {
				t.Errorf("%s has managedFields at %s", name, m.APIVersion)
			}
		}
	}
	// Managers still own what they applied at the old version: they can change it, and remove it.
	p.apply(t, "v1", p.names[1], "imager", "{spec: {image: cron:2}}")
	p.apply(t, "v1", p.names[2], "imager", "{}")
	for i, want := range map[int]any{1: "cron:2", 2: nil} {
		if spec, _ := r.Get(t, "v1", p.names[i]).Object["spec"].(map[string]any); spec["image"] != want {
			t.Errorf("%s after imager applied at v1: %v, want %v", p.names[i], spec["image"], want)
		}
	}
	// An API server keeps the watch cache of a version that is gone for a while.
	if got := r.Converted(t, w); got != converted && !e.Cluster.WatchCache() {
		t.Errorf("webhookd converted %g objects of a CRD with one version", got-converted)
	}
}

// unchanged fails the test unless the objects are the same but for what a write changes by itself.
func (p *population) unchanged(t *testing.T, was map[string]*unstructured.Unstructured) {
	t.Helper()
	plain := func(objects map[string]*unstructured.Unstructured) map[string]*unstructured.Unstructured {
		c := map[string]*unstructured.Unstructured{}
		for _, name := range p.names { // others may write more
			obj := objects[name]
			if obj == nil {
				continue
			}
			c[name] = obj.DeepCopy()
			c[name].SetResourceVersion("")
			c[name].SetManagedFields(nil)
			// Rewritten while the rules changed: the mark stays until the next conversion.
			unstructured.RemoveNestedField(c[name].Object, "metadata", "annotations", "conversion.webhookd.io/v1beta1.kind")
			if len(c[name].GetAnnotations()) == 0 {
				c[name].SetAnnotations(nil)
			}
		}
		return c
	}
	if diff := cmp.Diff(plain(was), plain(p.list(t, "v1"))); diff != "" {
		t.Errorf("(-before +after):\n%s", diff)
	}
}

func (e *Env) storedVersions(t *testing.T, r *Resource) []string {
	t.Helper()
	crd, err := e.CRDs(t).ApiextensionsV1().CustomResourceDefinitions().Get(t.Context(), r.Name, metav1.GetOptions{})
	if err != nil {
		t.Fatalf("read the CRD: %v", err)
	}
	return crd.Status.StoredVersions
}
