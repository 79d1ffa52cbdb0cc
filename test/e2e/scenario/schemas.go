package scenario

import (
	"context"
	"errors"
	"testing"

	"github.com/crdconvert/webhookd/internal/document/jsondoc"
)

// Schemas has the API server apply what the schemas of the versions say to what a converter
// returns.
func Schemas(t *testing.T, e *Env) {
	t.Helper()
	w := e.InProcess(t, madeUp("Untidy", leaveBehind), madeUp("Tiered", unchanged))
	old := `{weight: {type: integer}}`
	untidy := e.subject(t, madeUpCRD(t, "Untidy", old, old, `{grams: {type: integer}}`), w)
	tiered := e.subject(t, madeUpCRD(t, "Tiered",
		`{tier: {type: string, default: of-v1alpha1}, oldest: {type: string, default: only-v1alpha1}}`,
		`{tier: {type: string, default: of-v1beta1}}`,
		`{tier: {type: string, default: of-v1}, newest: {type: string, default: only-v1}}`), w)
	untidy.run("what a version does not have is pruned", prunedBySchema)
	tiered.run("defaults are those of the version that an object comes in", defaultsOfSource)
}

// leaveBehind converts, and leaves fields in the object that the other version does not have.
func leaveBehind(_ context.Context, obj *jsondoc.Object, from, to string) error {
	before, now := "weight", "grams"
	if from == "v1" {
		before, now = now, before
	}
	value, err := obj.Get("spec", before)
	if err != nil || value == nil {
		return err
	}
	if from == "v1" || to == "v1" {
		err = obj.Set(value.Value(), "spec", now)
	}
	return errors.Join(err, setJSON(obj, `{"from":"`+from+`"}`, "spec", "scratch"), setJSON(obj, `1`, "scratch"))
}

// prunedBySchema holds for what is stored and for what is read.
func prunedBySchema(s subject) {
	s.create("v1", "new", `"spec":{"grams":250}`)
	s.storedAs("v1beta1", "new", `"spec":{"weight":250}`)
	s.create("v1alpha1", "old", `"spec":{"weight":260}`)
	s.storedAs("v1beta1", "old", `"spec":{"weight":260}`)
	for _, version := range []string{"v1alpha1", "v1beta1"} {
		s.wants(version, "new", `"spec":{"weight":250}`)
		s.lists(version, map[string]string{"new": `"spec":{"weight":250}`, "old": `"spec":{"weight":260}`})
	}
	s.wants("v1", "new", `"spec":{"grams":250}`)
	s.lists("v1", map[string]string{"new": `"spec":{"grams":250}`, "old": `"spec":{"grams":260}`})
}

// defaultsOfSource holds that a default is set before a conversion, by the version of the request
// or by that of what etcd holds, and that none is set behind one.
func defaultsOfSource(s subject) {
	s.create("v1alpha1", "alpha", `"spec":{}`)
	s.storedAs("v1beta1", "alpha", `"spec":{"tier":"of-v1alpha1"}`)
	s.create("v1", "new", `"spec":{}`)
	s.storedAs("v1beta1", "new", `"spec":{"tier":"of-v1"}`)
	s.create("v1", "set", `"spec":{"tier":"set","newest":"set"}`)
	s.storedAs("v1beta1", "set", `"spec":{"tier":"set"}`)
	s.wants("v1beta1", "alpha", `"spec":{"tier":"of-v1alpha1"}`)
	s.wants("v1", "alpha", `"spec":{"tier":"of-v1alpha1"}`)
	s.wants("v1alpha1", "new", `"spec":{"tier":"of-v1"}`)

	s.store("v1beta1", "stored", `"spec":{}`)
	for _, version := range s.Served {
		s.wants(version, "stored", `"spec":{"tier":"of-v1beta1"}`)
	}
}
