package scenario

import (
	"slices"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// An applier is a field manager that applies one object, always at the same version, as the
// pipeline of a team does that has not moved to another version yet.
type applier struct {
	subject

	manager string
	version string
	name    string // of the object
	labels  map[string]string
}

// apply applies what the applier wants, given as the object's members beside apiVersion, kind and
// name.
func (a applier) apply(members string) *unstructured.Unstructured {
	a.t.Helper()
	obj, err := a.try(members, false)
	if err != nil {
		a.t.Fatalf("%s applies at %s: %v", a.manager, a.version, err)
	}
	return obj
}

// force applies and takes what others own.
func (a applier) force(members string) *unstructured.Unstructured {
	a.t.Helper()
	obj, err := a.try(members, true)
	if err != nil {
		a.t.Fatalf("%s applies by force at %s: %v", a.manager, a.version, err)
	}
	return obj
}

// conflicts applies and wants to be refused because of these fields, each given with who owns it as
// the user reads it.
func (a applier) conflicts(members string, want ...string) {
	a.t.Helper()
	before := a.read(a.version, a.name)
	_, err := a.try(members, false)
	if !apierrors.IsConflict(err) {
		a.t.Fatalf("%s applies at %s: %v, want a conflict", a.manager, a.version, err)
	}
	var got []string
	if status, ok := err.(apierrors.APIStatus); ok {
		for _, cause := range status.Status().Details.Causes {
			got = append(got, cause.Field+": "+cause.Message)
		}
	}
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		a.t.Errorf("conflicts of %s at %s (-want +got):\n%s", a.manager, a.version, diff)
	}
	if diff := cmp.Diff(before, a.read(a.version, a.name)); diff != "" {
		a.t.Errorf("a conflict changed the object (-want +got):\n%s", diff)
	}
}

// again applies what the applier has applied before and wants nothing to change, as often as it
// does.
func (a applier) again(members string) {
	a.t.Helper()
	before := a.read(a.version, a.name)
	for range 3 {
		if diff := cmp.Diff(before, a.apply(members)); diff != "" {
			a.t.Errorf("%s applies the same again at %s (-before +after):\n%s", a.manager, a.version, diff)
		}
	}
}

func (a applier) try(members string, force bool) (*unstructured.Unstructured, error) {
	a.t.Helper()
	obj := a.object(a.version, a.name, members)
	if len(a.labels) > 0 {
		obj.SetLabels(a.labels)
	}
	return a.At(a.version).Apply(a.t.Context(), a.name, obj, metav1.ApplyOptions{FieldManager: a.manager, Force: force})
}

// owners compares what managedFields say, whichever version they are read at.
func (a applier) owners(want map[string]string) {
	a.t.Helper()
	for _, version := range a.Served {
		if diff := cmp.Diff(want, ownership(a.t, a.read(version, a.name))); diff != "" {
			a.t.Errorf("owners as read at %s (-want +got):\n%s", version, diff)
		}
	}
}
