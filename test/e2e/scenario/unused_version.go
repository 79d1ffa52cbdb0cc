package scenario

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// UnusedVersion has a CRD keep a version that is not served any more, and no object stored at it:
// webhookd is never asked for it, whatever users do at the others (kubernetes#129979).
func UnusedVersion(t *testing.T, e *Env) {
	t.Helper()
	w := e.InProcess(t, madeUp("Letter", unchanged))
	const spec = `{text: {type: string}, pages: {type: integer}}`
	crd := madeUpCRD(t, "Letter", spec, spec, spec)
	Version(t, crd, "v1alpha1").Served = false
	s := e.subject(t, crd, w)
	s.run("apply at each version", unusedByApply)
	s.run("update, patch, list and delete at each version", unusedByOthers)

	m := w.Metrics(t)
	for _, label := range []string{"from", "to"} {
		for _, name := range []string{"webhookd_objects_total", "webhookd_reviews_total"} {
			if n := m.Sum(name, "kind", "Letter."+madeUpGroup, label, "v1alpha1"); n != 0 {
				t.Errorf("%s with %s=v1alpha1 is %g", name, label, n)
			}
		}
	}
}

func unusedByApply(s subject) {
	for _, version := range s.Served {
		a := applier{subject: s, manager: "of-" + version, version: version, name: "applied"}
		a.apply(`"spec":{"text":"a"}`)
		a.apply(`"spec":{"text":"a","pages":1}`)
		a.again(`"spec":{"text":"a","pages":1}`)
	}
	for _, version := range s.Served {
		s.wants(version, "applied", `"spec":{"text":"a","pages":1}`)
	}
}

func unusedByOthers(s subject) {
	ctx := s.t.Context()
	for i, version := range s.Served {
		name := "of-" + version
		s.create(version, name, `"spec":{"text":"a"}`)
		for _, other := range s.Served {
			obj := s.read(other, name)
			obj.Object["spec"] = map[string]any{"text": other, "pages": int64(i)}
			s.update(other, obj)
			patch := []byte(`{"spec":{"text":"patched at ` + other + `"}}`)
			if _, err := s.At(other).Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
				s.t.Errorf("patch: %v", err)
			}
			if _, err := s.At(other).List(ctx, metav1.ListOptions{}); err != nil {
				s.t.Errorf("list: %v", err)
			}
		}
		s.remove(version, name)
	}
}
