package controlplane_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/crdconvert/webhookd/test/e2e/scenario"
	"github.com/google/go-cmp/cmp"
	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crdconvert/webhookd/test/controlplane/plane"
)

// migration takes a kind from one version to the next, as an operator does: objects stored at both,
// the storage version changed, all migrated by the controller, the old version removed, and webhookd.
func migration(t *testing.T, p *plane.Plane) {
	t.Helper()
	e := byService(t, p)
	w := e.Webhookd(t)
	crd := scenario.CRD(t, "crontabs.example.com")
	scenario.SetStorage(t, crd, "v1beta1")
	r := e.Install(t, crd, w)
	const each = 25
	create(t, r, "old", each)
	e.UpdateCRD(t, r.Name, func(crd *apiextensionsv1.CustomResourceDefinition) { scenario.SetStorage(t, crd, "v1") })
	create(t, r, "new", each)
	if diff := cmp.Diff(map[string]int{"example.com/v1beta1": each, "example.com/v1": each}, storedAt(t, r, each)); diff != "" {
		t.Fatalf("versions in etcd before the migration (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"v1beta1", "v1"}, storedVersions(t, e, r)); diff != "" {
		t.Fatalf("status.storedVersions before the migration (-want +got):\n%s", diff)
	}

	p.StartControllers(t)
	r.MustConvert(t, w, each, func() { migrate(t, p, r) })
	scenario.Eventually(t, "status.storedVersions with v1 alone", func() bool {
		return slices.Equal(storedVersions(t, e, r), []string{"v1"})
	})
	if diff := cmp.Diff(map[string]int{"example.com/v1": 2 * each}, storedAt(t, r, each)); diff != "" {
		t.Errorf("versions in etcd after the migration (-want +got):\n%s", diff)
	}

	e.UpdateCRD(t, r.Name, func(crd *apiextensionsv1.CustomResourceDefinition) {
		crd.Spec.Versions = slices.DeleteFunc(crd.Spec.Versions,
			func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return v.Name == "v1beta1" })
	})
	w.Terminate(t)
	w.Wait(t)
	list, err := r.At("v1").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatalf("list without webhookd: %v", err)
	}
	if len(list.Items) != 2*each {
		t.Errorf("%d objects are left, want %d", len(list.Items), 2*each)
	}
	for i := range list.Items {
		if o := list.Items[i].Object; o["host"] != "localhost" || o["port"] != "80" {
			t.Errorf("%s was changed: %v %v", list.Items[i].GetName(), o["host"], o["port"])
		}
	}
}

// create makes n objects at v1beta1.
func create(t *testing.T, r *scenario.Resource, prefix string, n int) {
	t.Helper()
	for i := range n {
		obj := r.Object(t, "v1beta1", fmt.Sprintf("%s-%d", prefix, i), `{hostPort: "localhost:80"}`)
		if _, err := r.At("v1beta1").Create(t.Context(), obj, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
}

// storedAt counts the objects in etcd by their apiVersion.
func storedAt(t *testing.T, r *scenario.Resource, each int) map[string]int {
	t.Helper()
	count := map[string]int{}
	for _, prefix := range []string{"old", "new"} {
		for i := range each {
			count[r.Stored(t, fmt.Sprintf("%s-%d", prefix, i)).GetAPIVersion()]++
		}
	}
	return count
}

func storedVersions(t *testing.T, e *scenario.Env, r *scenario.Resource) []string {
	t.Helper()
	crd, err := e.CRDs(t).ApiextensionsV1().CustomResourceDefinitions().Get(t.Context(), r.Name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return crd.Status.StoredVersions
}

// migrate has the controller write each object again, and waits until it has.
func migrate(t *testing.T, p *plane.Plane, r *scenario.Resource) {
	t.Helper()
	migrations := p.Kube(t).StoragemigrationV1().StorageVersionMigrations()
	_, err := migrations.Create(t.Context(), &storagemigrationv1.StorageVersionMigration{
		ObjectMeta: metav1.ObjectMeta{Name: "crontabs"},
		Spec:       storagemigrationv1.StorageVersionMigrationSpec{Resource: metav1.GroupResource{Group: r.Group, Resource: r.Plural}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	scenario.Succeeds(t, "the migration", func() error {
		m, err := migrations.Get(t.Context(), "crontabs", metav1.GetOptions{})
		if err != nil {
			return err
		}
		for _, c := range m.Status.Conditions {
			if c.Type == string(storagemigrationv1.MigrationSucceeded) && c.Status == metav1.ConditionTrue {
				return nil
			}
		}
		return fmt.Errorf("not yet: %v", m.Status.Conditions)
	})
}
