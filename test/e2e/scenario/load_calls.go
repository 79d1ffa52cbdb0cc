package scenario

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

func (u *user) get(version string) error {
	obj, err := u.l.r.At(version).Get(u.l.ctx, u.name, metav1.GetOptions{})
	return errors.Join(err, u.check(obj))
}

func (u *user) list(version string) error {
	list, err := u.l.r.At(version).List(u.l.ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	found := map[string]*unstructured.Unstructured{}
	for i := range list.Items {
		found[list.Items[i].GetName()] = &list.Items[i]
	}
	for _, name := range u.listed {
		if found[name] == nil {
			return fmt.Errorf("the list of %d objects lacks %s", len(list.Items), name)
		}
	}
	if found[u.name] == nil {
		return fmt.Errorf("the list of %d objects lacks %s", len(list.Items), u.name)
	}
	return u.check(found[u.name])
}

func (u *user) update(version string) error {
	obj, err := u.l.r.At(version).Get(u.l.ctx, u.name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	return u.write(func() (*unstructured.Unstructured, error) {
		if err := unstructured.SetNestedField(obj.Object, u.tried, "spec", "replicas"); err != nil {
			return nil, err
		}
		return u.l.r.At(version).Update(u.l.ctx, obj, metav1.UpdateOptions{FieldManager: "updater"})
	})
}

func (u *user) patch(version string) error {
	return u.write(func() (*unstructured.Unstructured, error) {
		patch := `{"spec":{"replicas":` + strconv.FormatInt(u.tried, 10) + `}}`
		return u.l.r.At(version).Patch(u.l.ctx, u.name, types.MergePatchType, []byte(patch), metav1.PatchOptions{FieldManager: "patcher"})
	})
}

func (u *user) apply(version string) error {
	return u.write(func() (*unstructured.Unstructured, error) {
		obj := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"replicas": u.tried}}}
		obj.SetAPIVersion(u.l.r.Group + "/" + version)
		obj.SetKind(u.l.r.Kind)
		obj.SetName(u.name)
		return u.l.r.At(version).Apply(u.l.ctx, u.name, obj, metav1.ApplyOptions{FieldManager: "applier", Force: true})
	})
}

// write writes the next number.
func (u *user) write(do func() (*unstructured.Unstructured, error)) error {
	u.tried++
	obj, err := do()
	if err != nil {
		return err
	}
	u.written = u.tried
	return u.check(obj)
}

// check compares an answer with what the user knows of the object. There is no answer where the
// call failed.
func (u *user) check(obj *unstructured.Unstructured) error {
	if obj == nil {
		return nil
	}
	if n, _, _ := unstructured.NestedInt64(obj.Object, "spec", "replicas"); n < u.written || n > u.tried {
		return fmt.Errorf("spec.replicas of %s is %d, want %d, or up to %d of calls that failed", u.name, n, u.written, u.tried)
	}
	host := u.name + ".example.com"
	want := map[string]any{"hostPort": host + ":80"}
	if obj.GroupVersionKind().Version == "v1" {
		want = map[string]any{"host": host, "port": "80"}
	}
	for _, field := range []string{"hostPort", "host", "port"} {
		if got := obj.Object[field]; got != want[field] {
			return fmt.Errorf("%s of %s is %v at %s, want %v", field, u.name, got, obj.GetAPIVersion(), want[field])
		}
	}
	return nil
}

// intact fails the test unless the object is as the user left it, at all versions, and
// managedFields name all its writers.
func (u *user) intact(t *testing.T) {
	t.Helper()
	for _, version := range u.l.r.Served {
		obj, err := u.l.r.At(version).Get(t.Context(), u.name, metav1.GetOptions{})
		if err != nil {
			t.Errorf("read %s at %s: %v", u.name, version, err)
			continue
		}
		if err := u.check(obj); err != nil {
			t.Errorf("as left by the load: %v", err)
		}
		if u.l.r.env.Cluster.Minor() < 37 && u.l.outages.Load() > 0 {
			continue // an update without webhookd has dropped managedFields: docs/explanation/reliability.md
		}
		owned := map[string]any{}
		for _, entry := range obj.GetManagedFields() {
			if entry.Manager == "owner" && entry.APIVersion == u.l.r.Group+"/v1beta1" {
				if err := json.Unmarshal(entry.FieldsV1.GetRawBytes(), &owned); err != nil {
					t.Errorf("managedFields of %s: %v", u.name, err)
				}
			}
		}
		spec, _ := owned["f:spec"].(map[string]any)
		if owned["f:hostPort"] == nil || spec["f:image"] == nil {
			t.Errorf("%s at %s: managedFields say that the owner has %v, want hostPort and spec.image", u.name, version, owned)
		}
	}
}
