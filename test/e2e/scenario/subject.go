package scenario

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// A subject is a resource that a scenario works on, for the test that does it. Objects are written
// as JSON, without apiVersion, kind and metadata.
type subject struct {
	*Resource

	t *testing.T
	w subjectTarget
}

// A subjectTarget is what converts a subject.
type subjectTarget interface {
	Target
	Scraped
}

// subject installs a CRD that w converts.
func (e *Env) subject(t *testing.T, crd *apiextensionsv1.CustomResourceDefinition, w subjectTarget) subject {
	t.Helper()
	return subject{Resource: e.Install(t, crd, w), t: t, w: w}
}

// run runs a part of the scenario, in which webhookd has to be asked.
func (s subject) run(name string, part func(s subject)) {
	s.t.Run(name, func(t *testing.T) {
		s.t = t
		s.MustConvert(t, s.w, 1, func() { part(s) })
	})
}

// text returns an object as JSON.
func (s subject) text(version, name, members string) string {
	text := `{"apiVersion":"` + s.Group + "/" + version + `","kind":"` + s.Kind + `","metadata":{"name":"` + name + `"}`
	if members != "" {
		text += "," + members
	}
	return text + "}"
}

// object is text, decoded as the API server does.
func (s subject) object(version, name, members string) *unstructured.Unstructured {
	s.t.Helper()
	obj := &unstructured.Unstructured{}
	if err := obj.UnmarshalJSON([]byte(s.text(version, name, members))); err != nil {
		s.t.Fatalf("object: %v: %s", err, members)
	}
	return obj
}

// create creates an object at a version.
func (s subject) create(version, name, members string) *unstructured.Unstructured {
	s.t.Helper()
	obj, err := s.At(version).Create(s.t.Context(), s.object(version, name, members), metav1.CreateOptions{})
	if err != nil {
		s.t.Fatalf("create %s at %s: %v", name, version, err)
	}
	return obj
}

// update updates an object at a version.
func (s subject) update(version string, obj *unstructured.Unstructured) *unstructured.Unstructured {
	s.t.Helper()
	obj, err := s.At(version).Update(s.t.Context(), obj, metav1.UpdateOptions{})
	if err != nil {
		s.t.Fatalf("update at %s: %v", version, err)
	}
	return obj
}

// remove deletes an object at a version.
func (s subject) remove(version, name string) {
	s.t.Helper()
	if err := s.At(version).Delete(s.t.Context(), name, metav1.DeleteOptions{}); err != nil {
		s.t.Fatalf("delete %s at %s: %v", name, version, err)
	}
}

// read reads an object at a version.
func (s subject) read(version, name string) *unstructured.Unstructured {
	s.t.Helper()
	return s.Get(s.t, version, name)
}

// wants compares the members that a reader at a version sees.
func (s subject) wants(version, name, members string) {
	s.t.Helper()
	if diff := cmp.Diff(s.object(version, name, members).Object, withoutMetadata(s.read(version, name))); diff != "" {
		s.t.Errorf("%s as read at %s (-want +got):\n%s", name, version, diff)
	}
}

// storedAs compares the version and the members that etcd holds.
func (s subject) storedAs(version, name, members string) {
	s.t.Helper()
	if diff := cmp.Diff(s.object(version, name, members).Object, withoutMetadata(s.Stored(s.t, name))); diff != "" {
		s.t.Errorf("%s as etcd holds it (-want +got):\n%s", name, diff)
	}
}

// storedText returns the text that etcd holds.
func (s subject) storedText(name string) []byte {
	s.t.Helper()
	text := s.env.Cluster.Stored(s.t, s.Group, s.Plural, s.Namespace, name)
	if text == nil {
		s.t.Fatalf("etcd has no %s", name)
	}
	return text
}

// withoutMetadata returns what obj says, with the name alone in its metadata.
func withoutMetadata(obj *unstructured.Unstructured) map[string]any {
	c := obj.DeepCopy().Object
	c["metadata"] = map[string]any{"name": obj.GetName()}
	return c
}
