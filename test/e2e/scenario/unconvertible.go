package scenario

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/crdconvert/webhookd/test/e2e/webhook"
)

// Unconvertible puts Databases into etcd that no converter can convert, among others: some at the
// storage version, some at an older one. Where users need a conversion, they read which object it
// is and why, alone and in lists; the others can be read alone. The version that an object is
// stored at repairs it, and deletes it.
func Unconvertible(t *testing.T, e *Env) {
	t.Helper()
	w := e.Webhookd(t)
	w.AllowLog("review failed")
	r := e.Install(t, CRD(t, "databases.example.com"), w)
	const good = 5
	for i := range good {
		name := fmt.Sprint("good-", i)
		obj := r.Object(t, "v1", name, "{spec: {engine: postgres-17, storageGiB: 20}}")
		if _, err := r.At("v1").Create(t.Context(), obj, metav1.CreateOptions{}); err != nil {
			t.Fatalf("create %s: %v", name, err)
		}
	}
	inNew, inOld := broken{r, "v1beta1"}, broken{r, "v1alpha1"}
	for i, b := range []broken{inNew, inOld} {
		b.put(t, "fixed-"+b.storedAt, 1)
		b.put(t, "removed-"+b.storedAt, 2)
		if i == 0 {
			b.tried(t, "v1alpha1")
		}
	}
	inNew.seen(t, "v1alpha1")
	inOld.seen(t, "v1beta1")
	inNew.seen(t, "v1")
	inOld.seen(t, "v1")
	if failed := w.Metrics(t).Sum("webhookd_objects_total", "kind", "Database.example.com", "result", "failed"); failed == 0 {
		t.Error("webhookd's metrics know of no failed conversion")
	}

	inNew.repair(t)
	inOld.repair(t)
	began := time.Now()
	r.MustConvert(t, w, 1, func() {
		for _, version := range r.Served {
			Succeeds(t, "a list at "+version, func() error {
				list, err := r.At(version).List(t.Context(), metav1.ListOptions{})
				if err == nil && len(list.Items) != good+2 {
					err = fmt.Errorf("it has %d objects", len(list.Items))
				}
				return err
			})
			inNew.repaired(t, version)
			inOld.repaired(t, version)
		}
	})
	t.Logf("all versions can be listed %s after the repair", time.Since(began).Round(time.Millisecond))
}

// broken is objects that cannot be converted from the version that they are stored at to another:
// one to fix and one to delete.
type broken struct {
	r        *Resource
	storedAt string
}

// put writes into etcd what validation does not let in.
func (b broken) put(t *testing.T, name string, number int) {
	t.Helper()
	b.r.env.Cluster.PutStored(t, b.r.Group, b.r.Plural, b.r.Namespace, name, fmt.Appendf(nil,
		`{"apiVersion":"example.com/%s","kind":"Database","metadata":{"name":"%s","namespace":"%s","uid":"%08d-0000-4000-8000-%012d",`+
			`"generation":1,"creationTimestamp":"2026-01-02T03:04:05Z"},"spec":{"engine":"postgres-17","storageGB":"twenty"}}`,
		b.storedAt, name, b.r.Namespace, number, len(b.storedAt)))
}

// tried has webhookd migrate try to store all objects in a version. It names each that it cannot.
func (b broken) tried(t *testing.T, version string) {
	t.Helper()
	args := []string{"migrate", b.r.Name, "--to", version, "--dry-run", "--kubeconfig", Kubeconfig(t, b.r.env)}
	out, err := exec.CommandContext(t.Context(), webhook.Build(t), args...).CombinedOutput() //nolint:gosec // webhookd
	for _, text := range []string{"step 1 ", "objects that cannot be written, correct them", "/fixed-" + b.storedAt + ": ", "/removed-" + b.storedAt + ": "} {
		if err == nil || !strings.Contains(string(out), text) {
			t.Errorf("does not say %q: %v\n%s", text, err, out)
		}
	}
}

// seen looks at what users see at a version that needs a conversion.
func (b broken) seen(t *testing.T, version string) {
	t.Helper()
	const remedy = "cannot be decoded into the Go type int64, correct the object or the type: .spec.storageGB"
	name := "fixed-" + b.storedAt
	why := "conversion webhook for example.com/" + b.storedAt + ", Kind=Database failed: objects[0] Database " +
		b.r.Namespace + "/" + name + " " + b.storedAt + " -> " + version + ": " + remedy

	_, err := b.r.At(version).Get(t.Context(), name, metav1.GetOptions{})
	failsWith(t, "get at "+version, err, why)
	patch := []byte(`{"spec":{"engine":"postgres-18"}}`)
	_, err = b.r.At(version).Patch(t.Context(), name, types.MergePatchType, patch, metav1.PatchOptions{})
	failsWith(t, "patch at "+version, err, why)
	err = b.r.At(version).Delete(t.Context(), name, metav1.DeleteOptions{})
	failsWith(t, "delete at "+version, err, why)
	if b.r.Stored(t, name) == nil {
		t.Error("the object is gone after a delete that failed")
	}
	// A watch cache may answer from before for a moment.
	Eventually(t, "a list at "+version+" to fail", func() bool {
		_, err = b.r.At(version).List(t.Context(), metav1.ListOptions{})
		return err != nil
	})
	failsWith(t, "list at "+version, err, "failed to read one or more databases.example.com from the storage: ", remedy)
	if _, err := b.r.At(version).Get(t.Context(), "good-0", metav1.GetOptions{}); err != nil {
		t.Errorf("get another object at %s: %v", version, err)
	}
	if _, err := b.r.At(b.storedAt).Get(t.Context(), name, metav1.GetOptions{}); err != nil {
		t.Errorf("get at the version that it is stored at: %v", err)
	}
}

// repair puts right what was wrong, where no conversion is needed.
func (b broken) repair(t *testing.T) {
	t.Helper()
	fix := []byte(`{"spec":{"storageGB":30}}`)
	if _, err := b.r.At(b.storedAt).Patch(t.Context(), "fixed-"+b.storedAt, types.MergePatchType, fix, metav1.PatchOptions{}); err != nil {
		t.Errorf("fix the object at %s: %v", b.storedAt, err)
	}
	if err := b.r.At(b.storedAt).Delete(t.Context(), "removed-"+b.storedAt, metav1.DeleteOptions{}); err != nil {
		t.Errorf("delete the object at %s: %v", b.storedAt, err)
	}
}

// repaired looks at the objects again.
func (b broken) repaired(t *testing.T, version string) {
	t.Helper()
	if _, err := b.r.At(version).Get(t.Context(), "fixed-"+b.storedAt, metav1.GetOptions{}); err != nil {
		t.Errorf("get what was fixed at %s: %v", version, err)
	}
	if _, err := b.r.At(version).Get(t.Context(), "removed-"+b.storedAt, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("get what was deleted at %s: %v", version, err)
	}
}
