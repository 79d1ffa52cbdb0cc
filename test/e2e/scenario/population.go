package scenario

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// A population is CronTabs that no one writes while something goes wrong, so that they have to be
// the same afterwards, to the byte: as read at every version, and as etcd holds them.
type population struct {
	r     *Resource
	names []string
}

// populate creates n CronTabs, one at the one version and the next at the other. Two managers more
// apply to each at different versions, so that managedFields have something to lose.
func populate(t *testing.T, r *Resource, n int) *population {
	t.Helper()
	p := &population{r: r}
	for i := range n {
		name := fmt.Sprintf("settled-%d", i)
		p.names = append(p.names, name)
		version, fields := "v1beta1", fmt.Sprintf("{hostPort: '%s.example.com:%d', spec: {replicas: %d}}", name, 8000+i, i)
		if i%2 == 1 {
			version, fields = "v1", fmt.Sprintf("{host: %s.example.com, port: '%d', spec: {replicas: %d}}", name, 8000+i, i)
		}
		obj := r.Object(t, version, name, fields)
		if _, err := r.At(version).Create(t.Context(), obj, metav1.CreateOptions{FieldManager: "creator"}); err != nil {
			t.Fatalf("create %s at %s: %v", name, version, err)
		}
		p.apply(t, "v1beta1", name, "imager", "{spec: {image: cron}}")
		p.apply(t, "v1", name, "scheduler", "{spec: {cronSpec: '* * * * *'}}")
	}
	return p
}

func (p *population) apply(t *testing.T, version, name, manager, fields string) {
	t.Helper()
	obj := p.r.Object(t, version, name, fields)
	if _, err := p.r.At(version).Apply(t.Context(), name, obj, metav1.ApplyOptions{FieldManager: manager}); err != nil {
		t.Fatalf("%s applies %s at %s: %v", manager, name, version, err)
	}
}

// A snapshot is the texts that etcd holds, by name, and the objects as read, by version and name.
type snapshot struct {
	Stored map[string]string
	Read   map[string]map[string]*unstructured.Unstructured
}

// snapshot reads all objects, one by one and in a list of each version, which have to say the same.
func (p *population) snapshot(t *testing.T) snapshot {
	t.Helper()
	s := snapshot{map[string]string{}, map[string]map[string]*unstructured.Unstructured{}}
	for _, name := range p.names {
		s.Stored[name] = string(p.r.env.Cluster.Stored(t, p.r.Group, p.r.Plural, p.r.Namespace, name))
	}
	for _, version := range p.r.Served {
		s.Read[version] = map[string]*unstructured.Unstructured{}
		listed := p.list(t, version)
		for _, name := range p.names {
			obj := p.r.Get(t, version, name)
			if diff := cmp.Diff(obj, listed[name]); diff != "" {
				t.Errorf("%s at %s (-alone +in the list):\n%s", name, version, diff)
			}
			s.Read[version][name] = obj
		}
	}
	return s
}

func (p *population) list(t *testing.T, version string) map[string]*unstructured.Unstructured {
	t.Helper()
	list, err := p.r.At(version).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatalf("list at %s: %v", version, err)
	}
	found := map[string]*unstructured.Unstructured{}
	for i := range list.Items {
		found[list.Items[i].GetName()] = &list.Items[i]
	}
	return found
}

// unharmed fails the test unless all is as it was.
func (p *population) unharmed(t *testing.T, was snapshot) {
	t.Helper()
	if diff := cmp.Diff(was, p.snapshot(t)); diff != "" {
		t.Errorf("objects changed without a write (-before +after):\n%s", diff)
	}
}

// storedAt fails the test unless etcd holds these objects at the version.
func (p *population) storedAt(t *testing.T, version string, names ...string) {
	t.Helper()
	for _, name := range names {
		obj := p.r.Stored(t, name)
		if obj == nil || obj.GroupVersionKind().Version != version {
			t.Errorf("etcd holds %s as %v, want it at %s", name, obj, version)
		}
	}
}

// annotate writes an object, at a version.
func (r *Resource) annotate(t *testing.T, version, name string) {
	t.Helper()
	patch := []byte(`{"metadata":{"annotations":{"example.com/written-at":"` + version + `"}}}`)
	if _, err := r.At(version).Patch(t.Context(), name, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		t.Fatalf("patch %s at %s: %v", name, version, err)
	}
}
