package scenario

import (
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// KeptSkew gives one version of a CRD a field that webhookd's copy of the CRD lacks, as it is when
// a CRD was upgraded and the copy was not yet. The field survives, whichever version is written and
// stored, and the copy catching up.
func KeptSkew(t *testing.T, e *Env) {
	t.Helper()
	e = e.ByRules(t)
	w := e.Webhookd(t)
	w.Tolerate("CRD") // whose copy is old
	crd := crateCRD(t)
	s := e.subject(t, crd, w)
	const ports, plain = `"ports":[{"name":"a","port":1,"fresh":"hunter2"},{"name":"b","fresh":"hunter3"}]`,
		`"ports":[{"name":"a","port":1},{"name":"b"}]`
	for _, storage := range s.Served {
		for _, version := range s.Served {
			s.run("a field of "+version+" alone, stored at "+storage, func(s subject) {
				e.freshField(s, version, storage, "ports")
				p := skewed{s, version, otherCrate(version), version + "-" + storage, "image"}
				p.survives(`"fresh":"hunter2",` + ports)
				p.goes(plain)
			})
			s.run("a field of "+version+" next to a manager elsewhere, stored at "+storage, func(s subject) {
				p := skewed{s, version, otherCrate(version), version + "-" + storage + "-applied", "image"}
				p.applied(`"fresh":"hunter2",` + plain) // the API server refuses to merge elements with fields that it does not know
			})
		}
	}
	s.outdated(w.Log(""), 1)
	s.run("the copy catches up", func(s subject) {
		e.freshField(s, "v1", "v1beta1", "ports")
		p := skewed{s, "v1", "v1beta1", "caught-up", "image"}
		s.create("v1", p.name, p.spec("i", `"fresh":"f",`+ports))
		newer := crd.DeepCopy()
		addFresh(newer, "v1", "ports")
		e.rules.knows(s.t, newer)
		s.outdated(w.Log(""), 0)
		s.wants("v1", p.name, p.spec("i", `"fresh":"f",`+ports))
		p.set("v1beta1", "j")
		s.wants("v1", p.name, p.spec("j", `"fresh":"f",`+ports))
	})
	quotesNothing(t, w.Log(""), "hunter")
}

// outdated holds what the gauge says of the kind's copy of the CRD, and that the log has said so
// once.
func (s subject) outdated(log []string, want float64) {
	s.t.Helper()
	kind := s.Kind + "." + s.Group
	if got := s.w.Metrics(s.t).Sum("webhookd_crd_outdated", "kind", kind); got != want {
		s.t.Errorf("webhookd_crd_outdated of %s is %v, want %v", kind, got, want)
	}
	const told = "objects have fields that the copy of their CRD lacks"
	if n := strings.Count(strings.Join(log, "\n"), told); n != 1 {
		s.t.Errorf("the log tells %d times that the copy of the CRD is old", n)
	}
}

// KeptSkewOfTypes does so with a kind whose versions are Go types, which lack the field.
func KeptSkewOfTypes(t *testing.T, e *Env) {
	t.Helper()
	w := e.Webhookd(t)
	w.Tolerate("CRD")
	s := e.subject(t, e.CRD(t, "databases.example.com"), w)
	for _, storage := range s.Served {
		for version, to := range map[string]string{"v1alpha1": "v1", "v1beta1": "v1alpha1", "v1": "v1alpha1"} {
			s.run("a field of "+version+" alone, stored at "+storage, func(s subject) {
				e.freshField(s, version, storage)
				p := skewed{s, version, to, version + "-" + storage, "engine"}
				p.survives(`"fresh":"hunter2"`)
				p.goes(``)
			})
			s.run("a field of "+version+" next to a manager elsewhere, stored at "+storage, func(s subject) {
				p := skewed{s, version, to, version + "-" + storage + "-applied", "engine"}
				p.applied(`"fresh":"hunter2"`)
			})
		}
	}
	quotesNothing(t, w.Log(""), "hunter")
}

// freshField has the API server store one version, and gives another one, and none else, a field of
// spec and one of the elements of lists in it.
func (e *Env) freshField(s subject, version, storage string, lists ...string) {
	s.t.Helper()
	e.UpdateCRD(s.t, s.Name, func(crd *apiextensionsv1.CustomResourceDefinition) {
		SetStorage(s.t, crd, storage)
		for i := range crd.Spec.Versions {
			spec := crd.Spec.Versions[i].Schema.OpenAPIV3Schema.Properties["spec"]
			delete(spec.Properties, "fresh")
			for _, list := range lists {
				delete(spec.Properties[list].Items.Schema.Properties, "fresh")
			}
		}
		addFresh(crd, version, lists...)
	})
}

func addFresh(crd *apiextensionsv1.CustomResourceDefinition, version string, lists ...string) {
	for i := range crd.Spec.Versions {
		if crd.Spec.Versions[i].Name != version {
			continue
		}
		text := apiextensionsv1.JSONSchemaProps{Type: "string"}
		spec := crd.Spec.Versions[i].Schema.OpenAPIV3Schema.Properties["spec"]
		spec.Properties["fresh"] = text
		for _, list := range lists {
			spec.Properties[list].Items.Schema.Properties["fresh"] = text
		}
	}
}

// skewed is an object with fields that only one version has, and one by the same name at both.
type skewed struct {
	subject

	version, to string
	name        string
	field       string // that both have
}

// spec returns members: the field that both versions have, and others of the spec.
func (p skewed) spec(value, others string) string {
	if others != "" {
		others = "," + others
	}
	return `"spec":{"` + p.field + `":"` + value + `"` + others + `}`
}

// survives creates the object at its version and writes at both in turn, in each way there is.
func (p skewed) survives(fresh string) {
	p.t.Helper()
	p.create(p.version, p.name, p.spec("a", fresh))
	p.wants(p.version, p.name, p.spec("a", fresh))
	p.set(p.to, "b")
	p.wants(p.version, p.name, p.spec("b", fresh))
	p.set(p.version, "c")
	p.wants(p.version, p.name, p.spec("c", fresh))
	patch := []byte("{" + p.spec("d", "") + "}")
	if _, err := p.At(p.to).Patch(p.t.Context(), p.name, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		p.t.Fatalf("patch at %s: %v", p.to, err)
	}
	p.wants(p.version, p.name, p.spec("d", fresh))

	later := p
	later.name += "-later"
	p.create(p.to, later.name, p.spec("a", ""))
	later.rewrite(p.version, later.name, p.spec("b", fresh))
	later.set(p.to, "c")
	p.wants(p.version, later.name, p.spec("c", fresh))
	list, err := p.At(p.to).List(p.t.Context(), metav1.ListOptions{})
	if err != nil || len(list.Items) == 0 {
		p.t.Errorf("list at %s: %d objects, %v", p.to, len(list.Items), err)
	}
}

// applied has a manager apply the fields at their version, and another one something else at the
// other version. The API server does not prune what it converts for that, and fails for a field
// that a version lacks.
func (p skewed) applied(fresh string) {
	p.t.Helper()
	alice := applier{subject: p.subject, manager: "alice", version: p.version, name: p.name}
	bob := applier{subject: p.subject, manager: "bob", version: p.to, name: p.name}
	alice.apply(`"spec":{` + fresh + `}`)
	bob.apply(p.spec("a", ""))
	p.wants(p.version, p.name, p.spec("a", fresh))
	bob.apply(p.spec("b", ""))
	p.wants(p.version, p.name, p.spec("b", fresh))
	alice.again(`"spec":{` + fresh + `}`)
	bob.again(p.spec("b", ""))
}

// goes removes the fields at their version.
func (p skewed) goes(plain string) {
	p.t.Helper()
	p.rewrite(p.version, p.name, p.spec("f", plain))
	p.wants(p.version, p.name, p.spec("f", plain))
	p.set(p.to, "g")
	p.wants(p.version, p.name, p.spec("g", plain))
}

// set updates the object at a version to have a value of the field that both have.
func (p skewed) set(version, value string) {
	p.t.Helper()
	obj := p.read(version, p.name)
	if err := unstructured.SetNestedField(obj.Object, value, "spec", p.field); err != nil {
		p.t.Fatal(err)
	}
	p.update(version, obj)
}

// quotesNothing looks for a text of an object in a log.
func quotesNothing(t *testing.T, log []string, secret string) {
	t.Helper()
	for _, line := range log {
		if strings.Contains(line, secret) {
			t.Errorf("webhookd's log quotes an object: %s", line)
		}
	}
}
