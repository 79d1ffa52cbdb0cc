package scenario

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Conformance does what Kubernetes' conformance test for conversion webhooks asks of one: hostPort
// at v1 of stable.example.com is host and port at v2, for an object and for a list of objects that
// are stored at both.
func Conformance(t *testing.T, e *Env) {
	t.Helper()
	crd := e.CRD(t, "crontabs.stable.example.com")
	SetStorage(t, crd, "v1")
	s := e.subject(t, crd, e.Webhookd(t))
	s.run("an object without any field", bareObject)
	s.run("an object of v1 is read at v2", readAtNewVersion)
	s.run("a list of objects of both versions is read at each", func(s subject) { mixedList(s, e) })
}

// bareObject is how the conformance test finds out whether the webhook is there.
func bareObject(s subject) {
	s.create("v2", "bare", ``)
	s.storedAs("v1", "bare", ``)
	s.wants("v2", "bare", ``)
	s.remove("v2", "bare")
}

func readAtNewVersion(s subject) {
	s.create("v1", "old", `"hostPort":"localhost:8080"`)
	s.storedAs("v1", "old", `"hostPort":"localhost:8080"`)
	s.wants("v2", "old", `"host":"localhost","port":"8080"`)
}

func mixedList(s subject, e *Env) {
	e.UpdateCRD(s.t, s.Name, func(crd *apiextensionsv1.CustomResourceDefinition) { SetStorage(s.t, crd, "v2") })
	s.create("v2", "new", `"host":"example.com","port":"80"`)
	s.storedAs("v1", "old", `"hostPort":"localhost:8080"`)
	s.storedAs("v2", "new", `"host":"example.com","port":"80"`)
	s.lists("v1", map[string]string{"old": `"hostPort":"localhost:8080"`, "new": `"hostPort":"example.com:80"`})
	s.lists("v2", map[string]string{"old": `"host":"localhost","port":"8080"`, "new": `"host":"example.com","port":"80"`})
}

// lists compares the objects, by their names, that a list at a version has.
func (s subject) lists(version string, want map[string]string) {
	s.t.Helper()
	list, err := s.At(version).List(s.t.Context(), metav1.ListOptions{})
	if err != nil {
		s.t.Fatalf("list at %s: %v", version, err)
	}
	got, wanted := map[string]any{}, map[string]any{}
	for i := range list.Items {
		got[list.Items[i].GetName()] = withoutMetadata(&list.Items[i])
	}
	for name, members := range want {
		wanted[name] = s.object(version, name, members).Object
	}
	if diff := cmp.Diff(wanted, got); diff != "" {
		s.t.Errorf("list at %s (-want +got):\n%s", version, diff)
	}
}
