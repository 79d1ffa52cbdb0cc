package scenario

import (
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// list lists objects that were created at all versions: by label, in pages and by name.
func (c crud) list() {
	label := c.version + "-listed"
	want := c.labelled(label, 5)
	selected := metav1.ListOptions{LabelSelector: "set=" + label}
	if got := c.names(selected); !slices.Equal(got, want) {
		c.t.Errorf("list of all: %q, want %q", got, want)
	}
	if got := c.names(metav1.ListOptions{LabelSelector: "set=" + label, Limit: 2}); !slices.Equal(got, want) {
		c.t.Errorf("list in pages: %q, want %q", got, want)
	}
	if got := c.names(metav1.ListOptions{FieldSelector: "metadata.name=" + want[3]}); !slices.Equal(got, want[3:4]) {
		c.t.Errorf("list by name: %q, want %q", got, want[3:4])
	}
}

// remove deletes one object.
func (c crud) remove() {
	name := c.version + "-deleted"
	c.create(c.version, name, c.before(c.version))
	c.subject.remove(c.version, name)
	c.gone(name)
}

// removeCollection deletes the objects with a label, and then all.
func (c crud) removeCollection() {
	label := c.version + "-collected"
	removed := c.labelled(label, 4)
	kept := c.labelled(c.version+"-kept", 1)
	remove := func(selector string) {
		c.t.Helper()
		err := c.At(c.version).DeleteCollection(c.t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: selector})
		if err != nil {
			c.t.Fatalf("deletecollection: %v", err)
		}
	}
	remove("set=" + label)
	for _, name := range removed {
		c.gone(name)
	}
	c.is(kept[0], c.before)
	remove("")
	c.gone(kept[0])
	if got := c.names(metav1.ListOptions{}); len(got) > 0 {
		c.t.Errorf("objects after deletecollection of all: %q", got)
	}
}

// finalize deletes an object that waits for its controller: each version shows that it does, and
// the controller may work at any.
func (c crud) finalize() {
	for _, controller := range c.Served {
		name := c.version + "-finalized-at-" + controller
		obj := c.object(c.version, name, c.before(c.version))
		obj.SetFinalizers([]string{"example.com/controller"})
		if _, err := c.At(c.version).Create(c.t.Context(), obj, metav1.CreateOptions{}); err != nil {
			c.t.Fatalf("create with a finalizer: %v", err)
		}
		if err := c.At(c.version).Delete(c.t.Context(), name, metav1.DeleteOptions{}); err != nil {
			c.t.Fatalf("delete with a finalizer: %v", err)
		}
		for _, version := range c.Served {
			obj := c.read(version, name)
			if obj.GetDeletionTimestamp() == nil || !slices.Equal(obj.GetFinalizers(), []string{"example.com/controller"}) {
				c.t.Errorf("%s at %s does not tell that it is being deleted", name, version)
			}
		}
		c.is(name, c.before)
		patch := []byte(`[{"op":"remove","path":"/metadata/finalizers"}]`)
		if _, err := c.At(controller).Patch(c.t.Context(), name, types.JSONPatchType, patch, metav1.PatchOptions{}); err != nil {
			c.t.Fatalf("remove the finalizer: %v", err)
		}
		c.gone(name)
	}
}

// labelled creates n objects with the label set=LABEL, each at another version than the one before.
func (c crud) labelled(label string, n int) []string {
	c.t.Helper()
	names := make([]string, 0, n)
	for i := range n {
		version := c.Served[i%len(c.Served)]
		obj := c.object(version, fmt.Sprintf("%s-%d", label, i), c.before(version))
		obj.SetLabels(map[string]string{"set": label})
		if _, err := c.At(version).Create(c.t.Context(), obj, metav1.CreateOptions{}); err != nil {
			c.t.Fatalf("create at %s: %v", version, err)
		}
		names = append(names, obj.GetName())
	}
	return names
}

// names lists objects at the version and returns their names. Each has to be at that version, as
// the list is, and in the state before.
func (c crud) names(o metav1.ListOptions) []string {
	c.t.Helper()
	list, err := c.At(c.version).List(c.t.Context(), o)
	if err != nil {
		c.t.Fatalf("list: %v", err)
	}
	if want := c.Group + "/" + c.version; list.GetAPIVersion() != want || !strings.HasSuffix(list.GetKind(), "List") {
		c.t.Errorf("the list is a %s of %s, want a list of %s", list.GetKind(), list.GetAPIVersion(), want)
	}
	names := make([]string, 0, len(list.Items))
	for i := range list.Items {
		names = append(names, list.Items[i].GetName())
		c.same("object of a list", c.before(c.version), &list.Items[i])
	}
	if o.Continue = list.GetContinue(); o.Continue != "" {
		return append(names, c.names(o)...)
	}
	return names
}

// gone fails the test if an object is there, at any version or in etcd.
func (c crud) gone(name string) {
	c.t.Helper()
	for _, version := range c.Served {
		if _, err := c.At(version).Get(c.t.Context(), name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			c.t.Errorf("get %s at %s: %v, want not found", name, version, err)
		}
	}
	if c.Stored(c.t, name) != nil {
		c.t.Errorf("etcd holds %s still", name)
	}
}
