package scenario

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/internal/converters/keep/annotation"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Rules has rules alone convert a Relay between three versions: they rename fields, move them into
// an object and out of it, join and split them by a template, map their values, and keep two fields
// that other versions lack.
func Rules(t *testing.T, e *Env) {
	t.Helper()
	e = e.ByRules(t)
	s := e.subject(t, relayCRD(t), e.Webhookd(t))
	s.run("an edit wins over what is kept", ruleEditWins)
	s.run("what a version has no field for is kept in etcd", keptByRules)
	s.run("a manager with labels moves to another version", labelsMove)
	s.run("another version becomes the stored one", func(s subject) { relayStored(s, e) })
}

// byRules has a scenario's kinds of the examples converted by rules, where all has to be as with
// the converters that are compiled in.
func byRules(run func(t *testing.T, e *Env)) func(t *testing.T, e *Env) {
	return func(t *testing.T, e *Env) {
		t.Helper()
		run(t, e.ByRules(t))
	}
}

// ruleEditWins changes, at a version that has one value for two, the value that an annotation
// keeps.
func ruleEditWins(s subject) {
	s.create("v1alpha1", "edited", `"spec":{"host":"localhost","mode":"manual","note":"mine"}`)
	s.wants("v1", "edited", `"spec":{"upstream":{"host":"localhost"},"policy":"Preview"}`)
	s.rewrite("v1", "edited", `"spec":{"upstream":{"host":"localhost"},"policy":"Apply"}`)
	s.wants("v1alpha1", "edited", `"spec":{"host":"localhost","mode":"all","note":"mine"}`)
	// v1beta1 has no way to say a host without a port.
	s.wants("v1beta1", "edited", `"spec":{"applyMode":"Always"}`)
	s.rewrite("v1beta1", "edited", `"spec":{"hostPort":"example.com:80","applyMode":"Dry"}`)
	s.wants("v1", "edited", `"spec":{"upstream":{"host":"example.com","port":"80"},"policy":"Preview"}`)
	s.storedAs("v1beta1", "edited", `"spec":{"hostPort":"example.com:80","applyMode":"Dry"}`)
}

// rewrite updates an object to have these members.
func (s subject) rewrite(version, name, members string) {
	s.t.Helper()
	s.update(version, withMembers(s.read(version, name), s.object(version, name, members)))
}

// keptByRules has two users work on an object at versions that each have a field that neither
// the other nor the stored one has.
func keptByRules(s subject) {
	const (
		created = `"spec":{"image":"a","size":9007199254740993,"host":"h","port":"1","mode":"manual","note":"mine"}`
		stored  = `"spec":{"image":"a","size":9007199254740993,"hostPort":"h:1","applyMode":"Dry"}`
	)
	s.create("v1alpha1", "kept", created)
	s.storedAs("v1beta1", "kept", stored)
	s.keeps("kept", map[string]string{"v1alpha1.spec.mode": `"manual"`, "v1alpha1.spec.note": `"mine"`})
	text := s.storedText("kept")
	if !bytes.Contains(text, []byte(`"size":9007199254740993`)) {
		s.t.Errorf("etcd holds %s", text)
	}

	obj := s.read("v1", "kept")
	if err := unstructured.SetNestedField(obj.Object, int64(9007199254740993), "spec", "limits", "burst"); err != nil {
		s.t.Fatal(err)
	}
	s.update("v1", obj)
	s.storedAs("v1beta1", "kept", stored)
	s.keeps("kept", map[string]string{
		"v1alpha1.spec.mode": `"manual"`, "v1alpha1.spec.note": `"mine"`,
		"v1.spec.limits.burst": "9007199254740993",
	})
	s.wants("v1alpha1", "kept", created)
	s.wants("v1", "kept", `"spec":{"image":"a","replicas":9007199254740993,"upstream":{"host":"h","port":"1"},`+
		`"limits":{"burst":9007199254740993},"policy":"Preview"}`)

	text = s.storedText("kept")
	for _, version := range s.Served {
		s.update(version, s.read(version, "kept"))
		if diff := cmp.Diff(string(text), string(s.storedText("kept"))); diff != "" {
			s.t.Errorf("a write of what was read at %s changes what etcd holds (-before +after):\n%s", version, diff)
		}
	}
}

// keeps compares what etcd keeps of other versions in annotations: see keptIn.
func (s subject) keeps(name string, want map[string]string) {
	s.t.Helper()
	if diff := cmp.Diff(want, keptIn(s.t, s.Stored(s.t, name)), cmpopts.EquateEmpty()); diff != "" {
		s.t.Errorf("kept in annotations of %s in etcd (-want +got):\n%s", name, diff)
	}
}

// keptIn returns the values that the annotations of an object keep, by version and path, as JSON:
// null for what was not there. It has no other annotations.
func keptIn(t *testing.T, obj *unstructured.Unstructured) map[string]string {
	t.Helper()
	kept := map[string]string{}
	for name, text := range obj.GetAnnotations() {
		if !annotation.IsOwn(name) {
			t.Errorf("annotation %s: %s", name, text)
		}
		entry := struct {
			Value json.RawMessage `json:"value"`
		}{json.RawMessage("null")}
		if err := json.Unmarshal([]byte(text), &entry); err != nil {
			t.Errorf("annotation %s: %v: %s", name, err, text)
		}
		_, place, _ := strings.Cut(name, "/")
		kept[place] = string(entry.Value)
	}
	return kept
}

// relayStored has the hub stored, and then the oldest version: objects that are there stay as they
// are until they are written, and are the same for each reader.
func relayStored(s subject, e *Env) {
	p := relay()
	s.create("v1", "moves", `"spec":{"limits":{"burst":1}}`)
	s.create("v1beta1", "stays", p["v1beta1"])
	for _, storage := range []string{"v1", "v1alpha1", "v1beta1"} {
		e.UpdateCRD(s.t, s.Name, func(crd *apiextensionsv1.CustomResourceDefinition) { SetStorage(s.t, crd, storage) })
		s.storedAs("v1beta1", "stays", p["v1beta1"])
		s.annotate(s.t, storage, "moves")
		if got := s.Stored(s.t, "moves").GroupVersionKind().Version; got != storage {
			s.t.Errorf("etcd holds an object at %s after a write, want %s", got, storage)
		}
		for _, version := range s.Served {
			s.wants(version, "stays", p[version])
		}
		s.wants("v1", "moves", `"spec":{"limits":{"burst":1}}`)
		s.wants("v1alpha1", "moves", `"spec":{}`)
	}
}
