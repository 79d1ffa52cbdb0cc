package scenario

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// ThreeVersions has objects of two kinds created, read, updated and listed at each of three
// versions, each of which is the stored one in turn, so that in the end objects are stored at all
// of them. The versions of the one kind have the same fields. Those of the other do not: what v1
// calls grams and recipient is weight and to in the versions before.
func ThreeVersions(t *testing.T, e *Env) {
	t.Helper()
	w := e.InProcess(t, madeUp("Letter", unchanged),
		madeUp("Parcel", convertParcel))
	const same = `{text: {type: string}, pages: {type: integer}}`
	letters := e.subject(t, madeUpCRD(t, "Letter", same, same, same), w)
	const old = `{to: {type: string}, weight: {type: integer}}`
	parcels := e.subject(t, madeUpCRD(t, "Parcel", old, old, `{recipient: {type: string}, grams: {type: integer}}`), w)
	letters.run("versions with the same fields", func(s subject) {
		eachVersionStored(s, e, func(_, text string, number int) string {
			return fmt.Sprintf(`"spec":{"text":%q,"pages":%d}`, text, number)
		})
	})
	parcels.run("versions with other fields", func(s subject) { eachVersionStored(s, e, parcel) })
}

// parcel returns a Parcel's members at a version.
func parcel(version, text string, number int) string {
	if version == "v1" {
		return fmt.Sprintf(`"spec":{"recipient":%q,"grams":%d}`, text, number)
	}
	return fmt.Sprintf(`"spec":{"to":%q,"weight":%d}`, text, number)
}

func convertParcel(_ context.Context, obj *jsondoc.Object, from, to string) error {
	for before, now := range map[string]string{"to": "recipient", "weight": "grams"} {
		switch {
		case from == "v1":
			before, now = now, before
		case to != "v1":
			continue
		}
		if _, err := obj.Move([]string{"spec", before}, []string{"spec", now}); err != nil {
			return err
		}
	}
	return nil
}

// eachVersionStored makes each version the stored one and works with objects at all of them.
// Members writes an object at a version.
func eachVersionStored(s subject, e *Env, members func(version, text string, number int) string) {
	want := map[string]func(version string) string{}
	for i, storage := range madeUpVersions() {
		e.UpdateCRD(s.t, s.Name, func(crd *apiextensionsv1.CustomResourceDefinition) { SetStorage(s.t, crd, storage) })
		for j, version := range s.Served {
			name, number := "stored-"+storage+"-created-"+version, 10*i+j
			s.create(version, name, members(version, name, number))
			s.storedAs(storage, name, members(storage, name, number))
			for _, reader := range s.Served {
				s.wants(reader, name, members(reader, name, number))
			}
			// A client that reads at a version updates there.
			for _, writer := range s.Served {
				number++
				obj := s.read(writer, name)
				obj.Object["spec"] = s.object(writer, name, members(writer, name, number)).Object["spec"]
				s.update(writer, obj)
				s.storedAs(storage, name, members(storage, name, number))
			}
			want[name] = func(version string) string { return members(version, name, number) }
		}
	}
	stored := map[string]bool{}
	for name := range want {
		stored[s.Stored(s.t, name).GetAPIVersion()] = true
	}
	if len(stored) != len(madeUpVersions()) {
		s.t.Errorf("objects are stored at %v, want all versions", slices.Sorted(maps.Keys(stored)))
	}
	for _, version := range s.Served {
		all := map[string]string{}
		for name, at := range want {
			all[name] = at(version)
		}
		s.lists(version, all)
	}
}
