package controlplane_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/crdconvert/webhookd/test/e2e/scenario"
	"github.com/google/go-cmp/cmp"
	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crdconvert/webhookd/test/controlplane/plane"
)

// A migrant is a kind that goes from v1beta1 to v1.
type migrant struct {
	*scenario.Resource

	fields string // of each object, at v1beta1
	// before has the objects at v1, before the migration.
	before map[string]map[string]any
}

// each is how many objects are stored at each version.
const each = 25

func install(t *testing.T, e *scenario.Env, w scenario.Target, crd *apiextensionsv1.CustomResourceDefinition, fields string) *migrant {
	t.Helper()
	scenario.SetStorage(t, crd, "v1beta1")
	return &migrant{Resource: e.Install(t, crd, w), fields: fields}
}

// store makes objects that are stored at v1beta1, calls a function, and makes such that are stored
// at v1.
func (m *migrant) store(t *testing.T, e *scenario.Env, between func()) {
	t.Helper()
	m.create(t, "old")
	between()
	e.UpdateCRD(t, m.Name, func(crd *apiextensionsv1.CustomResourceDefinition) { scenario.SetStorage(t, crd, "v1") })
	m.create(t, "new")
	if diff := cmp.Diff(map[string]int{"example.com/v1beta1": each, "example.com/v1": each}, m.storedAt(t)); diff != "" {
		t.Fatalf("versions of %s in etcd before the migration (-want +got):\n%s", m.Name, diff)
	}
	if diff := cmp.Diff([]string{"v1beta1", "v1"}, storedVersions(t, e, m.Resource)); diff != "" {
		t.Fatalf("status.storedVersions of %s before the migration (-want +got):\n%s", m.Name, diff)
	}
	m.before = m.objects(t)
}

// create makes objects at v1beta1.
func (m *migrant) create(t *testing.T, prefix string) {
	t.Helper()
	for i := range each {
		m.Create(t, "v1beta1", fmt.Sprintf("%s-%d", prefix, i), m.fields)
	}
}

// storedAt counts the objects in etcd by their apiVersion.
func (m *migrant) storedAt(t *testing.T) map[string]int {
	t.Helper()
	count := map[string]int{}
	for _, prefix := range []string{"old", "new"} {
		for i := range each {
			count[m.Stored(t, fmt.Sprintf("%s-%d", prefix, i)).GetAPIVersion()]++
		}
	}
	return count
}

// objects returns the objects at v1 by their names, without what every write changes.
func (m *migrant) objects(t *testing.T) map[string]map[string]any {
	t.Helper()
	list, err := m.At("v1").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	objects := map[string]map[string]any{}
	for i := range list.Items {
		o := &list.Items[i]
		o.SetResourceVersion("")
		o.SetManagedFields(nil)
		objects[o.GetName()] = o.Object
	}
	return objects
}

func storedVersions(t *testing.T, e *scenario.Env, r *scenario.Resource) []string {
	t.Helper()
	crd, err := e.CRDs(t).ApiextensionsV1().CustomResourceDefinitions().Get(t.Context(), r.Name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return crd.Status.StoredVersions
}

// migrate has the controller write each object again, and waits until it has. The controller does
// so once its own watch of the kind has come to the time of the request. Where no one writes, it
// comes to know of the time about once a minute; the test does, so as not to wait for it.
func (m *migrant) migrate(t *testing.T, p *plane.Plane) {
	t.Helper()
	migrations := p.Kube(t).StoragemigrationV1().StorageVersionMigrations()
	_, err := migrations.Create(t.Context(), &storagemigrationv1.StorageVersionMigration{
		ObjectMeta: metav1.ObjectMeta{Name: m.Plural},
		Spec:       storagemigrationv1.StorageVersionMigrationSpec{Resource: metav1.GroupResource{Group: m.Group, Resource: m.Plural}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	wrote := time.Now()
	// The controller waits for the garbage collector, which waits half a minute for CRDs that have
	// just gone.
	scenario.SucceedsWithin(t, 4*scenario.Patience, "the migration of "+m.Name, func() error {
		state, err := migrations.Get(t.Context(), m.Plural, metav1.GetOptions{})
		if err != nil {
			return err
		}
		for _, c := range state.Status.Conditions {
			if c.Type == string(storagemigrationv1.MigrationSucceeded) && c.Status == metav1.ConditionTrue {
				return nil
			}
		}
		if time.Since(wrote) > time.Second {
			wrote = time.Now()
			m.write(t)
		}
		return fmt.Errorf("not yet: %v", state.Status.Conditions)
	})
}

// write makes an object, and takes it away.
func (m *migrant) write(t *testing.T) {
	t.Helper()
	m.Create(t, "v1", "of-the-moment", "{}")
	if err := m.At("v1").Delete(t.Context(), "of-the-moment", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
}
