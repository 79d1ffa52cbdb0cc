package scenario

import (
	"encoding/json"
	"errors"
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"
)

// tables watches as `kubectl get --watch` does: each event is a table of one row, and that row
// holds the object at the version.
func (w watching) tables() {
	begin := w.now()
	storage := w.Storage
	created := w.create(storage, "shown", w.before(storage))
	w.update(storage, withMembers(created, w.object(storage, "shown", w.after(storage))))
	for _, version := range w.Served {
		stream, err := w.raw.Get().
			RequestURI(w.Path(version)+"?watch=true&includeObject=Object&timeoutSeconds=30&resourceVersion="+begin).
			SetHeader("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io").Stream(w.t.Context())
		if err != nil {
			w.t.Fatalf("watch of tables at %s: %v", version, err)
		}
		events := json.NewDecoder(stream)
		for _, want := range []event{{watch.Added, "shown", w.before}, {watch.Modified, "shown", w.after}} {
			w.tableIs(version, events, want)
		}
		if err := stream.Close(); err != nil && !errors.Is(err, io.EOF) {
			w.t.Errorf("end of a watch of tables: %v", err)
		}
	}
	w.empty()
}

// tableIs reads the next table and compares the object of its row.
func (w watching) tableIs(version string, events *json.Decoder, want event) {
	w.t.Helper()
	var e metav1.WatchEvent
	if err := events.Decode(&e); err != nil {
		w.t.Fatalf("watch of tables at %s: %v", version, err)
	}
	var table metav1.Table
	if err := json.Unmarshal(e.Object.Raw, &table); err != nil || len(table.Rows) != 1 {
		w.t.Fatalf("watch of tables at %s: %d rows, %v", version, len(table.Rows), err)
	}
	row := &unstructured.Unstructured{}
	if err := row.UnmarshalJSON(table.Rows[0].Object.Raw); err != nil {
		w.t.Fatalf("object of a row: %v", err)
	}
	one := make(chan watch.Event, 1)
	one <- watch.Event{Type: watch.EventType(e.Type), Object: row}
	(&watcher{subject: w.subject, version: version, events: one}).wants(want)
	if table.Rows[0].Cells[0] != want.name {
		w.t.Errorf("a row at %s for %v, want %s", version, table.Rows[0].Cells[0], want.name)
	}
}
