package scenario

import (
	"strconv"
	"strings"
	"testing"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// KeptApply has managers apply one object at two versions, each of which has fields that the other
// one keeps in annotations. Each of these fields can be given up, whatever is kept next to it and
// whichever version is stored, as it can be where there is one version.
func KeptApply(t *testing.T, e *Env) {
	t.Helper()
	e = e.ByRules(t)
	s := e.subject(t, crateCRD(t), e.Webhookd(t))
	for _, storage := range s.Served {
		e.UpdateCRD(t, s.Name, func(crd *apiextensionsv1.CustomResourceDefinition) { SetStorage(t, crd, storage) })
		for _, version := range s.Served {
			for _, path := range crates()[version].fields {
				name := "of " + version + " stored at " + storage
				s.run("given up, "+path+" "+name, func(s subject) { givenUpAlone(s, version, path, storage) })
				s.run("given up by one of two, "+path+" "+name, func(s subject) { givenUpByOne(s, version, path, storage) })
			}
		}
		s.run("a value that another manager says in other words stays, stored at "+storage, func(s subject) { givenUpValue(s, storage) })
		s.run("conflicts are those of one version, stored at "+storage, func(s subject) { keptConflicts(s, storage) })
	}
}

// crateCRD is that of a kind whose versions have much that only one of them has.
func crateCRD(t *testing.T) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	return ParseCRD(t, string(embedded(t, "crds")["crates."+rulesGroup+".yaml"]))
}

// A crate is what the managers of Crates apply at a version.
type crate struct {
	all    string   // what alice applies: each field that only this version has
	fields []string // of these, those that she gives up
	other  string   // what bob applies at the other version
	seen   string   // and what that is at this one
}

func crates() map[string]crate {
	return map[string]crate{
		"v1": {
			all: `"spec":{"owner":"ops","tags":["x","y"],"quota":{"cpu":"1","memory":"2"},` +
				`"policy":{"mode":"m","window":{"start":"1","end":"2"}},` +
				`"ports":[{"name":"a","port":1,"protocol":"UDP"},{"name":"b","port":2,"protocol":"TCP"}],` +
				`"volumes":[{"name":"v","path":"/v"},{"name":"w"}]}`,
			fields: []string{
				"/spec/owner", "/spec/tags", "/spec/quota/cpu", "/spec/quota", "/spec/policy/mode", "/spec/policy/window/end", "/spec/policy/window",
				"/spec/policy", "/spec/ports/0/protocol", "/spec/ports/0/port", "/spec/ports/1", "/spec/volumes/0/path", "/spec/volumes/1", "/spec/volumes",
			},
			other: `"spec":{"image":"i","size":2}`, seen: `"spec":{"image":"i","replicas":2}`,
		},
		"v1beta1": {
			all: `"spec":{"legacy":"l","applyMode":"Manual","marks":["x","y"],"hints":{"h":"1","i":"2"},` +
				`"old":{"a":"1","deep":{"b":"2","c":"3"}},` +
				`"ports":[{"name":"a","port":1,"alias":"aa"},{"name":"b","port":2,"alias":"bb"}]}`,
			fields: []string{
				"/spec/legacy", "/spec/applyMode", "/spec/marks", "/spec/hints/h", "/spec/hints", "/spec/old/a", "/spec/old/deep/c", "/spec/old/deep",
				"/spec/old", "/spec/ports/0/alias", "/spec/ports/0/port", "/spec/ports/1",
			},
			other: `"spec":{"image":"i","replicas":2}`, seen: `"spec":{"image":"i","size":2}`,
		},
	}
}

func otherCrate(version string) string {
	if version == "v1" {
		return "v1beta1"
	}
	return "v1"
}

// objectName makes a name of a path and of what else tells objects apart.
func objectName(path string, more ...string) string {
	return strings.ToLower(strings.Trim(strings.ReplaceAll(path, "/", "-"), "-") + "-" + strings.Join(more, "-"))
}

// givenUpAlone has alice give up a field that no one else applies, without force and with it.
func givenUpAlone(s subject, version, path, storage string) {
	c := crates()[version]
	for _, force := range []bool{false, true} {
		name := objectName(path, version, storage, strconv.FormatBool(force))
		alice := applier{subject: s, manager: "alice", version: version, name: name}
		bob := applier{subject: s, manager: "bob", version: otherCrate(version), name: name}
		less := removed(s.t, c.all, path)
		alice.apply(c.all)
		bob.apply(c.other)
		s.wants(version, name, merged(s.t, c.all, c.seen))
		if force {
			alice.force(less)
		} else {
			alice.apply(less)
		}
		s.wants(version, name, merged(s.t, less, c.seen))
		alice.again(less)
		bob.again(c.other)
		s.wants(version, name, merged(s.t, less, c.seen))
		if s.t.Failed() {
			return // once is enough to read
		}
		bob.apply(``)
		s.wants(version, name, less)
		alice.apply(``)
		if kept := s.Stored(s.t, name).GetAnnotations(); len(kept) > 0 {
			s.t.Errorf("who applied %s has given up all of it, and etcd keeps %v", name, kept)
		}
	}
}

// givenUpByOne has alice give up a field that carol applies, too, and then carol.
func givenUpByOne(s subject, version, path, storage string) {
	c := crates()[version]
	name := objectName(path, version, storage, "two")
	alice := applier{subject: s, manager: "alice", version: version, name: name}
	carol := applier{subject: s, manager: "carol", version: version, name: name}
	bob := applier{subject: s, manager: "bob", version: otherCrate(version), name: name}
	less := removed(s.t, c.all, path)
	carol.apply(c.all)
	alice.apply(c.all)
	bob.apply(c.other)
	alice.apply(less)
	s.wants(version, name, merged(s.t, c.all, c.seen))
	carol.again(c.all)
	carol.apply(less)
	s.wants(version, name, merged(s.t, less, c.seen))
	bob.again(c.other)
}

// givenUpValue has the one who said Manual give it up. The other one has said Preview, which is the
// same in the words of v1: as where two own a field at one version, it stays until both have given
// it up, and as it was.
func givenUpValue(s subject, storage string) {
	name := "value-" + storage
	alice := applier{subject: s, manager: "alice", version: "v1beta1", name: name}
	bob := applier{subject: s, manager: "bob", version: "v1", name: name}
	const bobs = `"spec":{"mode":"Preview"}`
	alice.apply(`"spec":{"image":"i","applyMode":"Manual","legacy":"l"}`)
	bob.apply(bobs)
	s.wants("v1beta1", name, `"spec":{"image":"i","applyMode":"Manual","legacy":"l"}`)
	alice.apply(`"spec":{"image":"i","legacy":"l"}`)
	s.wants("v1", name, `"spec":{"image":"i","mode":"Preview"}`)
	s.wants("v1beta1", name, `"spec":{"image":"i","applyMode":"Manual","legacy":"l"}`)
	bob.again(bobs)
	bob.apply(``)
	s.wants("v1", name, `"spec":{"image":"i"}`)
	s.wants("v1beta1", name, `"spec":{"image":"i","legacy":"l"}`)
	alice.apply(`"spec":{"image":"i","legacy":"l"}`) // with which the last of Manual goes
	alice.again(`"spec":{"image":"i","legacy":"l"}`)
}

// keptConflicts has two managers want another value of a field that only their version has, while a
// third one works at the other version.
func keptConflicts(s subject, storage string) {
	name := "conflict-" + storage
	alice := applier{subject: s, manager: "alice", version: "v1", name: name}
	carol := applier{subject: s, manager: "carol", version: "v1", name: name}
	bob := applier{subject: s, manager: "bob", version: "v1beta1", name: name}
	const all = `"spec":{"owner":"ops","quota":{"cpu":"1"},"ports":[{"name":"a","protocol":"UDP"}]}`
	alice.apply(all)
	bob.apply(`"spec":{"size":2,"applyMode":"Manual"}`)
	carol.conflicts(`"spec":{"owner":"dev","quota":{"cpu":"2","memory":"1"},"ports":[{"name":"a","protocol":"TCP"}]}`,
		`.spec.owner: conflict with "alice"`, `.spec.ports[name="a"].protocol: conflict with "alice"`, `.spec.quota.cpu: conflict with "alice"`)
	carol.conflicts(`"spec":{"mode":"Apply"}`, `.spec.applyMode: conflict with "bob"`)
	carol.apply(`"spec":{"owner":"ops","mode":"Preview"}`) // the same is none
	bob.again(`"spec":{"size":2,"applyMode":"Manual"}`)
	carol.force(`"spec":{"owner":"dev","quota":{"cpu":"2"}}`)
	s.wants("v1", name, `"spec":{"owner":"dev","quota":{"cpu":"2"},"ports":[{"name":"a","protocol":"UDP"}],"replicas":2,"mode":"Preview"}`)
	carol.owners(map[string]string{
		"alice v1":    `.spec.ports.k:{"name":"a"}.name .spec.ports.k:{"name":"a"}.protocol`,
		"bob v1beta1": ".spec.applyMode .spec.size",
		"carol v1":    ".spec.owner .spec.quota.cpu",
	})
	alice.conflicts(all, `.spec.owner: conflict with "carol"`, `.spec.quota.cpu: conflict with "carol"`)
}

// removed returns members without the field, or the element, at a JSON pointer.
func removed(t *testing.T, members, pointer string) string {
	t.Helper()
	patch, err := jsonpatch.DecodePatch([]byte(`[{"op":"remove","path":"` + pointer + `"}]`))
	if err != nil {
		t.Fatal(err)
	}
	text, err := patch.Apply([]byte("{" + members + "}"))
	if err != nil {
		t.Fatalf("%v: %s", err, members)
	}
	return string(text[1 : len(text)-1])
}

// merged returns the members of both, where the specs have no field in common.
func merged(t *testing.T, a, b string) string {
	t.Helper()
	text, err := jsonpatch.MergePatch([]byte("{"+a+"}"), []byte("{"+b+"}"))
	if err != nil {
		t.Fatalf("%v: %s, %s", err, a, b)
	}
	return string(text[1 : len(text)-1])
}
