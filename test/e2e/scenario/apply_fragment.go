package scenario

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/test/helpers/exampletest"
)

// ApplyFragment has a manager apply at another version than it did before. The API server then
// sends webhookd what is left of the object without the manager's fields: no metadata, no name, and
// of the rest what others own (kubernetes#117356).
func ApplyFragment(t *testing.T, e *Env) {
	t.Helper()
	const group = "apply.example.com"
	kind := exampletest.CronTab(group)
	seen := &fragments{Converter: kind.Converter}
	kind.Converter = seen
	crd := CRD(t, "crontabs.example.com")
	regroup(crd, group)

	s := e.subject(t, crd, e.InProcess(t, kind))
	s.run("a manager that moves to another version", func(s subject) { applyAtAnotherVersion(s, seen) })
}

func applyAtAnotherVersion(s subject, seen *fragments) {
	alice, bob := aliceAndBob(s, "moved")
	bob.version = alice.version
	alice.labels = map[string]string{"team": "alice"}
	alice.apply(`"hostPort":"localhost:1234","spec":{"image":"a"}`)
	bob.apply(`"spec":{"replicas":2}`)
	if n := seen.count.Load(); n > 0 {
		s.t.Errorf("%d objects without metadata before any was to be expected", n)
	}

	alice.version = "v1"
	const moved = `"host":"localhost","port":"1234","spec":{"image":"b"}`
	alice.apply(moved)
	if seen.count.Load() == 0 {
		s.t.Error("the API server sent no object without metadata, which is what this scenario is about")
	}
	alice.owners(map[string]string{
		"alice v1":    ".host .metadata.labels.team .port .spec.image",
		"bob v1beta1": ".spec.replicas",
	})
	s.storedAs("v1", "moved", `"host":"localhost","port":"1234","spec":{"image":"b","replicas":2}`)
	alice.again(moved)
	bob.again(`"spec":{"replicas":2}`)
	if labels := s.read("v1beta1", "moved").GetLabels(); labels["team"] != "alice" {
		s.t.Errorf("labels %v", labels)
	}
}

// fragments counts objects that come without metadata.
type fragments struct {
	converters.Converter

	count atomic.Int64
}

// Convert implements converters.Converter.
func (f *fragments) Convert(ctx context.Context, obj *jsondoc.Object, from, to string) error {
	meta, err := obj.Get("metadata")
	if err != nil {
		return err
	}
	if meta == nil {
		f.count.Add(1)
	}
	return f.Converter.Convert(ctx, obj, from, to)
}
