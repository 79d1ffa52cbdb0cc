package scenario

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// MixedStoredVersions flips the storage version while there are objects, there and back. Etcd then
// holds both versions, and each reader sees one: alone, in whole lists and in pages. An object
// moves to the new version with its next write.
func MixedStoredVersions(t *testing.T, e *Env) {
	t.Helper()
	w := e.Webhookd(t)
	crd := CRD(t, "crontabs.example.com")
	SetStorage(t, crd, "v1beta1")
	r := e.Install(t, crd, w)
	p := &population{r: r}
	p.add(t, "old", 3)
	was := p.snapshot(t)
	p.storedAt(t, "v1beta1", p.names...)

	e.store(t, r, "v1")
	r.MustConvert(t, w, 3, func() { p.unharmed(t, was) })
	p.add(t, "new", 3)
	p.storedAt(t, "v1beta1", "old-0", "old-1", "old-2")
	p.storedAt(t, "v1", "new-0", "new-1", "new-2")
	mixed := p.snapshot(t)
	for _, version := range r.Served {
		for _, pageSize := range []int64{1, 4} {
			if diff := cmp.Diff(mixed.Read[version], p.pages(t, version, pageSize)); diff != "" {
				t.Errorf("at %s (-objects +pages of %d):\n%s", version, pageSize, diff)
			}
		}
	}

	r.annotate(t, "v1beta1", "old-0")
	r.annotate(t, "v1", "old-1")
	p.storedAt(t, "v1", "old-0", "old-1", "new-0", "new-1", "new-2")
	p.storedAt(t, "v1beta1", "old-2")

	was = p.snapshot(t)
	e.store(t, r, "v1beta1")
	p.unharmed(t, was)
	r.annotate(t, "v1", "new-0")
	p.storedAt(t, "v1beta1", "old-2", "new-0")
	p.storedAt(t, "v1", "old-0", "old-1", "new-1", "new-2")
	p.ports(t)
	if diff := cmp.Diff([]string{"v1beta1", "v1"}, e.storedVersions(t, r)); diff != "" {
		t.Errorf("status.storedVersions (-want +got):\n%s", diff)
	}
}

// add creates CronTabs, at each served version in turn.
func (p *population) add(t *testing.T, prefix string, n int) {
	t.Helper()
	for i := range n {
		name := fmt.Sprintf("%s-%d", prefix, i)
		version, fields := "v1beta1", fmt.Sprintf("{hostPort: '%s.example.com:80'}", name)
		if i%2 == 1 {
			version, fields = "v1", fmt.Sprintf("{host: %s.example.com, port: '80'}", name)
		}
		if _, err := p.r.At(version).Create(t.Context(), p.r.Object(t, version, name, fields), metav1.CreateOptions{}); err != nil {
			t.Fatalf("create %s at %s: %v", name, version, err)
		}
		p.names = append(p.names, name)
	}
}

// ports looks at the one field that the versions write differently.
func (p *population) ports(t *testing.T) {
	t.Helper()
	for _, version := range p.r.Served {
		for name, obj := range p.list(t, version) {
			want := map[string]any{"hostPort": name + ".example.com:80"}
			if version == "v1" {
				want = map[string]any{"host": name + ".example.com", "port": "80"}
			}
			got := map[string]any{}
			for _, field := range []string{"hostPort", "host", "port"} {
				if value, found := obj.Object[field]; found {
					got[field] = value
				}
			}
			if diff := cmp.Diff(want, got); diff != "" || obj.GroupVersionKind().Version != version {
				t.Errorf("%s at %s is at %s (-want +got):\n%s", name, version, obj.GetAPIVersion(), diff)
			}
		}
	}
}

// pages lists in pages of a size.
func (p *population) pages(t *testing.T, version string, size int64) map[string]*unstructured.Unstructured {
	t.Helper()
	found := map[string]*unstructured.Unstructured{}
	for o := (metav1.ListOptions{Limit: size}); ; {
		list, err := p.r.At(version).List(t.Context(), o)
		if err != nil {
			t.Fatalf("list at %s in pages of %d: %v", version, size, err)
		}
		for i := range list.Items {
			found[list.Items[i].GetName()] = &list.Items[i]
		}
		if o.Continue = list.GetContinue(); o.Continue == "" {
			return found
		}
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
