package scenario

import (
	"encoding/base64"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// KeptOverflow puts Crates among others that have more in fields of one version than annotations
// hold. Where they need no conversion they are read, listed, made smaller and deleted. Where they
// need one, users read which object it is and at which version to edit which field, and all others
// can be read. What annotations do hold is kept.
func KeptOverflow(t *testing.T, e *Env) {
	t.Helper()
	e = e.ByRules(t)
	w := e.Webhookd(t)
	w.Tolerate("review failed")
	s := e.subject(t, crateCRD(t), w)
	part := func(name string, do func(s subject)) {
		s.run(name, func(s subject) {
			s.clear("v1") // whatever the one before has left
			do(s)
		})
	}
	const element = `{"name":"hunter2","protocol":"`
	part("150 KiB of one version are kept", func(s subject) { largeKept(s, "") })
	part("and next to 100 KiB of the user's own", func(s subject) { largeKept(s, random(100<<10)) })
	part("300 KiB are reported where they cannot be", func(s subject) {
		tooLarge(s, "", `"owner":"`+random(300<<10)+`"`, ".spec.owner")
	})
	part("20 KiB next to 250 KiB of the user's own are, too", func(s subject) {
		tooLarge(s, random(250<<10), `"owner":"`+random(20<<10)+`"`, ".spec.owner")
	})
	part("in elements and entries", func(s subject) {
		tooLarge(s, "", `"quota":{"hunter2":"`+random(200<<10)+`"},"ports":[`+element+random(200<<10)+`"}]`, ".spec.")
	})
	part("what would not fit is refused where it would be stored", func(s subject) { refusedAtOnce(s, e) })
	m := w.Metrics(t)
	for _, name := range []string{"webhookd_kept_too_large_total", "webhookd_kept_bytes_count", "webhookd_largest_annotations_bytes"} {
		if m.Sum(name, "kind", s.Kind+"."+s.Group) == 0 {
			t.Errorf("%s is 0", name)
		}
	}
	quotesNothing(t, w.Log(""), "hunter2")
	quotesNothing(t, w.Log(""), random(40))
}

// random is a text of n characters that nothing makes shorter, the same one each time.
func random(n int) string {
	raw := make([]byte, n)
	if _, err := rand.NewChaCha8([32]byte{}).Read(raw); err != nil {
		panic(err) // it never fails
	}
	return base64.RawURLEncoding.EncodeToString(raw)[:n]
}

// crate creates an object at v1, with an annotation unless that is empty.
func (s subject) crate(name, annotation, fields string) *unstructured.Unstructured {
	s.t.Helper()
	obj := s.object("v1", name, `"spec":{"image":"i",`+fields+`}`)
	if annotation != "" {
		obj.SetAnnotations(map[string]string{"example.com/theirs": annotation})
	}
	created, err := s.At("v1").Create(s.t.Context(), obj, metav1.CreateOptions{})
	if err != nil {
		s.t.Fatalf("create %s at v1: %v", name, err)
	}
	return created
}

// clear deletes all objects, at a version that needs no conversion.
func (s subject) clear(version string) {
	s.t.Helper()
	if err := s.At(version).DeleteCollection(s.t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
		s.t.Fatalf("delete all at %s: %v", version, err)
	}
}

func largeKept(s subject, annotation string) {
	large := `"owner":"` + random(150<<10) + `"`
	s.crate("large", annotation, large)
	s.wants("v1beta1", "large", `"spec":{"image":"i"}`)
	p := skewed{s, "v1", "v1beta1", "large", "image"}
	p.set("v1beta1", "j")
	s.wants("v1", "large", p.spec("j", large))
	s.lists("v1beta1", map[string]string{"large": `"spec":{"image":"j"}`})
	s.remove("v1beta1", "large")
}

// tooLarge creates an object that cannot be read at the other version, and one next to it that can.
func tooLarge(s subject, annotation, fields, path string) {
	s.crate("good", "", `"owner":"o"`)
	s.crate("big", annotation, fields)
	s.wants("v1", "big", `"spec":{"image":"i",`+fields+`}`)
	s.lists("v1", map[string]string{"big": `"spec":{"image":"i",` + fields + `}`, "good": `"spec":{"image":"i","owner":"o"}`})

	_, err := s.At("v1beta1").Get(s.t.Context(), "big", metav1.GetOptions{})
	if problem := tellsWhy(err, "big", path); problem != nil {
		s.t.Errorf("get at v1beta1: %v", problem)
	}
	// A watch cache may answer from before for a moment.
	Succeeds(s.t, "a list at v1beta1 to tell why it fails", func() error {
		_, err := s.At("v1beta1").List(s.t.Context(), metav1.ListOptions{})
		return tellsWhy(err, "big", path)
	})
	s.wants("v1beta1", "good", `"spec":{"image":"i"}`)

	obj := s.read("v1", "big")
	obj.SetAnnotations(nil)
	obj.Object["spec"] = map[string]any{"image": "i", "owner": "small"}
	s.update("v1", obj)
	s.wants("v1beta1", "big", `"spec":{"image":"i"}`)
	s.remove("v1", "big")
	s.crate("again", annotation, fields)
	s.remove("v1", "again")
	Succeeds(s.t, "a list at v1beta1 once it is deleted", func() error {
		_, err := s.At("v1beta1").List(s.t.Context(), metav1.ListOptions{})
		return err
	})
}

// tellsWhy returns what is wrong with an error that should name the object, the version to edit it
// at and the field, and quote nothing of it.
func tellsWhy(err error, name, path string) error {
	if err == nil {
		return errors.New("no error")
	}
	const pair = " v1 -> v1beta1: "
	who, why, found := strings.Cut(err.Error(), pair)
	if !found || !strings.HasSuffix(who, "Crate "+metav1.NamespaceDefault+"/"+name) || !strings.Contains(why, path) ||
		!regexp.MustCompile(`\bv1\b`).MatchString(why) {
		return fmt.Errorf("it does not tell of %s, %s and v1: %w", name, path, err)
	}
	if strings.Contains(why, "hunter2") || strings.Contains(why, random(40)) {
		return fmt.Errorf("it quotes the object: %.500s", why)
	}
	return nil
}

// refusedAtOnce has the other version stored: there it would have to be kept.
func refusedAtOnce(s subject, e *Env) {
	e.UpdateCRD(s.t, s.Name, func(crd *apiextensionsv1.CustomResourceDefinition) { SetStorage(s.t, crd, "v1beta1") })
	for i, spec := range []string{`{"owner":"` + random(300<<10) + `"}`, `{"quota":{"hunter2":"` + random(300<<10) + `"}}`} {
		name := fmt.Sprint("refused-", i)
		_, err := s.At("v1").Create(s.t.Context(), s.object("v1", name, `"spec":`+spec), metav1.CreateOptions{})
		if problem := tellsWhy(err, name, ".spec."); problem != nil {
			s.t.Errorf("create at v1: %v", problem)
		}
		if s.Stored(s.t, name) != nil {
			s.t.Errorf("etcd has %s", name)
		}
	}
	s.lists("v1", map[string]string{})
	s.create("v1", "fits", `"spec":{"owner":"`+random(150<<10)+`"}`)
	s.lists("v1beta1", map[string]string{"fits": `"spec":{}`})
	s.remove("v1", "fits")
}
