package scenario

import (
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"
)

// An event is what a watch should report: an object, and its state at the version.
type event struct {
	kind  watch.EventType
	name  string
	state func(version string) string
}

// A watcher reads the events of a watch at one version.
type watcher struct {
	subject

	version string
	events  <-chan watch.Event
	last    uint64 // resourceVersion
}

// watch watches until the test ends.
func (w watching) watch(version string, o metav1.ListOptions) *watcher {
	w.t.Helper()
	i, err := w.At(version).Watch(w.t.Context(), o)
	if err != nil {
		w.t.Fatalf("watch at %s: %v", version, err)
	}
	w.t.Cleanup(i.Stop)
	return &watcher{subject: w.subject, version: version, events: i.ResultChan()}
}

// next waits for an event.
func (w *watcher) next() watch.Event {
	w.t.Helper()
	select {
	case e, open := <-w.events:
		if !open {
			w.t.Fatalf("the watch at %s has ended", w.version)
		}
		return e
	case <-time.After(Patience):
		w.t.Fatalf("no event at %s", w.version)
	}
	return watch.Event{}
}

// object returns an event's object, which has to be at the watched version and of a resourceVersion
// behind that of the event before, or the same for a bookmark.
func (w *watcher) object(e watch.Event) *unstructured.Unstructured {
	w.t.Helper()
	obj, ok := e.Object.(*unstructured.Unstructured)
	if !ok {
		w.t.Fatalf("%s at %s of a %T: %v", e.Type, w.version, e.Object, e.Object)
	}
	if want := w.Group + "/" + w.version; obj.GetAPIVersion() != want || obj.GetKind() != w.Kind {
		w.t.Errorf("%s at %s of a %s of %s, want one of %s", e.Type, w.version, obj.GetKind(), obj.GetAPIVersion(), want)
	}
	revision := number(w.t, obj.GetResourceVersion())
	if revision < w.last || revision == w.last && e.Type != watch.Bookmark {
		w.t.Errorf("%s at %s of the resourceVersion %d after %d", e.Type, w.version, revision, w.last)
	}
	w.last = revision
	return obj
}

// wants waits for these events, among which bookmarks may come, and returns their resourceVersions.
func (w *watcher) wants(events ...event) []string {
	w.t.Helper()
	revisions := make([]string, 0, len(events))
	for _, want := range events {
		e := w.next()
		obj := w.object(e)
		for e.Type == watch.Bookmark {
			e = w.next()
			obj = w.object(e)
		}
		revisions = append(revisions, obj.GetResourceVersion())
		if e.Type != want.kind || obj.GetName() != want.name {
			w.t.Fatalf("%s of %s at %s, want %s of %s", e.Type, obj.GetName(), w.version, want.kind, want.name)
		}
		members := w.subject.object(w.version, want.name, want.state(w.version)).Object
		if diff := cmp.Diff(members, withoutMetadata(obj)); diff != "" {
			w.t.Errorf("%s of %s at %s (-want +got):\n%s", e.Type, want.name, w.version, diff)
		}
	}
	return revisions
}

func number(t *testing.T, revision string) uint64 {
	t.Helper()
	n, err := strconv.ParseUint(revision, 10, 64)
	if err != nil {
		t.Fatalf("resourceVersion: %v", err)
	}
	return n
}
