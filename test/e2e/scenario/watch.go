package scenario

import (
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
)

// Watch watches at each version that is served, the storage version and others, through creates,
// updates and deletes at all of them.
func Watch(t *testing.T, e *Env) {
	t.Helper()
	w := e.Webhookd(t)
	for _, s := range e.subjects(t, w) {
		p := s.specimen
		s.run(p.crd, func(s subject) {
			watching{subject: s, specimen: p}.all()
		})
	}
}

// watching watches objects of a specimen.
type watching struct {
	subject
	specimen
}

// all runs the parts, in which webhookd has to be asked.
func (w watching) all() {
	parts := []struct {
		name string
		run  func(w watching)
	}{
		{"creates, updates and deletes, and a resumed watch", watching.changes},
		{"a label comes and goes", watching.selected},
		{"what there is and then what comes", watching.initial},
	}
	if minor := w.env.Cluster.Minor(); minor < 32 || minor == 33 {
		parts = parts[:2] // WatchList is off
	}
	for _, part := range parts {
		w.run(part.name, func(s subject) { part.run(watching{subject: s, specimen: w.specimen}) })
	}
}

// changes watches what is done at each version, from the beginning and from each event on.
func (w watching) changes() {
	begin := w.now()
	watchers := map[string]*watcher{}
	for _, version := range w.Served {
		watchers[version] = w.watch(version, metav1.ListOptions{ResourceVersion: begin})
	}
	want := make([]event, 0, 3*len(w.Served))
	for _, version := range w.Served {
		name := "by-" + version
		created := w.create(version, name, w.before(version))
		updated := w.update(version, withMembers(created, w.object(version, name, w.after(version))))
		if err := w.At(version).Delete(w.t.Context(), name, metav1.DeleteOptions{}); err != nil {
			w.t.Fatalf("delete at %s: %v", version, err)
		}
		want = append(want, event{watch.Added, name, w.before}, event{watch.Modified, name, w.after}, event{watch.Deleted, name, w.after})
		if created.GetResourceVersion() == updated.GetResourceVersion() {
			w.t.Error("the update has changed nothing")
		}
	}
	var revisions []string
	for _, version := range w.Served {
		got := watchers[version].wants(want...)
		if revisions == nil {
			revisions = got
		}
		if !slices.Equal(revisions, got) {
			w.t.Errorf("the events at %s have the resourceVersions %q, those at %s %q", w.Served[0], revisions, version, got)
		}
	}
	for i, revision := range revisions[:len(revisions)-1] {
		version := w.Served[i%len(w.Served)]
		w.watch(version, metav1.ListOptions{ResourceVersion: revision}).wants(want[i+1:]...)
	}
}

// selected watches the objects that have a label. An object that loses it is deleted for the
// watcher.
func (w watching) selected() {
	begin := w.now()
	storage := w.Storage
	w.create(storage, "labelled", w.before(storage))
	for _, version := range w.Served {
		label := func(value string) {
			w.t.Helper()
			patch := []byte(`{"metadata":{"labels":{"watched":` + value + `}}}`)
			if _, err := w.At(version).Patch(w.t.Context(), "labelled", types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
				w.t.Fatalf("patch at %s: %v", version, err)
			}
		}
		label(`"by-` + version + `"`)
		label("null")
		for _, watched := range w.Served {
			w.watch(watched, metav1.ListOptions{ResourceVersion: begin, LabelSelector: "watched=by-" + version}).wants(
				event{watch.Added, "labelled", w.before}, event{watch.Deleted, "labelled", w.before})
		}
	}
	w.empty()
}

// initial watches without a list before: events for what there is, a bookmark, and what comes then.
func (w watching) initial() {
	storage := w.Storage
	w.create(storage, "first", w.before(storage))
	yes := true
	for _, version := range w.Served {
		watcher := w.watch(version, metav1.ListOptions{
			SendInitialEvents: &yes, ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan, AllowWatchBookmarks: true,
		})
		watcher.wants(event{watch.Added, "first", w.before})
		if bookmark := watcher.next(); bookmark.Type != watch.Bookmark {
			w.t.Fatalf("%s at %s, want a bookmark", bookmark.Type, version)
		} else if got := watcher.object(bookmark); got.GetAnnotations()[metav1.InitialEventsAnnotationKey] != "true" {
			w.t.Errorf("bookmark at %s: %v, want the end of the initial events", version, got)
		}
		created := w.create(version, "second", w.after(version))
		watcher.wants(event{watch.Added, "second", w.after})
		if err := w.At(version).Delete(w.t.Context(), created.GetName(), metav1.DeleteOptions{}); err != nil {
			w.t.Fatalf("delete at %s: %v", version, err)
		}
		watcher.wants(event{watch.Deleted, "second", w.after})
	}
	w.empty()
}

// now returns the resourceVersion from which a watch sees everything that comes.
func (w watching) now() string {
	w.t.Helper()
	list, err := w.At(w.Storage).List(w.t.Context(), metav1.ListOptions{})
	if err != nil {
		w.t.Fatalf("list: %v", err)
	}
	return list.GetResourceVersion()
}

// empty deletes all objects.
func (w watching) empty() {
	w.t.Helper()
	if err := w.At(w.Storage).DeleteCollection(w.t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
		w.t.Fatalf("deletecollection: %v", err)
	}
}
