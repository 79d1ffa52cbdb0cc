package rules_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// The prefixes of the annotations that keep values of another version.
const specPrefix, statusPrefix = "conversion.webhookd.io/", "status.conversion.webhookd.io/"

// A row is what is done to an object of a world, and what is seen of it then.
type row struct {
	world

	steps   []step
	storage string // the only version that the row is about to be stored at; each of them if empty
}

type rows map[string]row

// hold walks each row at each version at which the object may be stored.
func (all rows) hold(t *testing.T) {
	t.Helper()
	for name, r := range all {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, storage := range r.storages(t) {
				t.Run("stored at "+storage, func(t *testing.T) { r.walk(t, storage) })
			}
		})
	}
}

func (r row) storages(tb testing.TB) []string {
	tb.Helper()
	if r.storage != "" {
		return []string{r.storage}
	}
	return r.kind(tb).Versions
}

// A walk is one object behind an API server, which prunes and defaults as a real one does: each
// object that it reads, from a client or from its storage, by the schema of its version, and each
// converted one. It fills in no defaults after a conversion.
type walk struct {
	t        *testing.T
	api      *crdschema.CRD   // as the API server knows it
	webhookd *converters.Kind // which may have another copy of the CRD
	storage  string           // the version that is written to storage
	stored   map[string]any
	at       int // the step, from 1
}

// walk does the steps of a row.
func (r row) walk(t *testing.T, storage string) *walk {
	t.Helper()
	w := &walk{t: t, api: r.crd(t), webhookd: r.kind(t), storage: storage}
	w.take(r.steps)
	return w
}

func (w *walk) take(steps []step) {
	w.t.Helper()
	for i, s := range steps {
		w.at = i + 1
		s(w)
	}
}

type step func(w *walk)

// create creates the object at a version. Its members are written as YAML.
func create(version, members string) step {
	return func(w *walk) {
		w.t.Helper()
		obj := fromYAML(w.t, members)
		obj["apiVersion"], obj["kind"] = w.webhookd.Group+"/"+version, w.webhookd.Kind
		meta := childOf(obj, "metadata")
		meta["name"], meta["namespace"], meta["uid"] = "n", "ns", "u"
		w.write(version, obj)
	}
}

// edit changes the object as a user reads it at a version, by a merge patch.
func edit(version, patch string) step {
	return func(w *walk) {
		w.t.Helper()
		obj := w.read(version)
		mergePatch(obj, fromYAML(w.t, patch))
		w.write(version, obj)
	}
}

// shows compares all that a user sees at a version, with the defaults that the API server fills in
// when the object is written there.
func shows(version, members string) step {
	return func(w *walk) {
		w.t.Helper()
		got, want := w.read(version), fromYAML(w.t, members)
		w.api.Version(version).Default(got)
		w.api.Version(version).Default(want)
		if diff := cmp.Diff(visible(want), visible(got)); diff != "" {
			w.t.Fatalf("step %d: at %s (-want +got):\n%.4000s\nstored: %.2000s", w.at, version, diff, encoded(w.t, w.stored))
		}
	}
}

// storedAt changes the version that the API server writes to its storage. What is there stays as it
// is.
func storedAt(version string) step { return func(w *walk) { w.storage = version } }

// rewritten is a write that changes nothing, like those of a storage migration.
func rewritten(version string) step { return edit(version, `{}`) }

// becomes changes what the API server and webhookd know.
func becomes(now world) step {
	return func(w *walk) {
		w.t.Helper()
		clusterHas(now)(w)
		webhookdHas(now)(w)
	}
}

func clusterHas(now world) step  { return func(w *walk) { w.t.Helper(); w.api = now.crd(w.t) } }
func webhookdHas(now world) step { return func(w *walk) { w.t.Helper(); w.webhookd = now.kind(w.t) } }

// annotated sets annotations of the stored object, as any client may that can write the object.
func annotated(annotations map[string]string) step {
	return func(w *walk) {
		all := childOf(childOf(w.stored, "metadata"), "annotations")
		for key, text := range annotations {
			all[key] = text
		}
	}
}

// keepsNothing checks that the stored object has no kept values.
func keepsNothing(w *walk) {
	w.t.Helper()
	if kept := keptIn(w.stored); len(kept) > 0 {
		w.t.Fatalf("step %d: kept at %s: %v", w.at, w.storage, kept)
	}
}

// read returns the object as a user reads it.
func (w *walk) read(version string) map[string]any {
	w.t.Helper()
	at, obj := versionOf(w.stored), asStored(w.t, encoded(w.t, w.stored))
	w.api.Version(at).Prune(obj)
	w.api.Version(at).Default(obj)
	return w.convert(obj, at, version)
}

// write takes an object from a user.
func (w *walk) write(version string, obj map[string]any) {
	w.t.Helper()
	obj = asStored(w.t, encoded(w.t, obj))
	w.api.Version(version).Prune(obj)
	w.api.Version(version).Default(obj)
	if errs := w.api.Version(version).Validate(obj); len(errs) > 0 {
		w.t.Fatalf("step %d: what is written at %s is not valid: %v", w.at, version, errs.ToAggregate())
	}
	w.stored = w.convert(obj, version, w.storage)
}

// convert has webhookd convert an object, and checks the answer as the API server does.
func (w *walk) convert(obj map[string]any, from, to string) map[string]any {
	w.t.Helper()
	after, err := w.tried(obj, from, to)
	if err != nil {
		w.t.Fatalf("step %d: %s -> %s: %v: %.500s", w.at, from, to, err, encoded(w.t, obj))
	}
	return after
}

func (w *walk) tried(obj map[string]any, from, to string) (map[string]any, error) {
	w.t.Helper()
	if from == to {
		return obj, nil
	}
	in, err := jsondoc.ParseObject(encoded(w.t, obj))
	if err != nil {
		return nil, err
	}
	if err := w.webhookd.Convert(w.t.Context(), in, from, to); err != nil {
		return nil, err
	}
	if err := in.Set(jsondoc.StringValue(w.webhookd.Group+"/"+to), "apiVersion"); err != nil {
		return nil, err
	}
	after := asStored(w.t, in.Text())
	w.accept(obj, after, from, to)
	was := keptIn(obj)
	for key, text := range keptIn(after) {
		if was[key] != text {
			w.keptAs(from, to, key, text)
		}
	}
	w.api.Version(to).Prune(after)
	return after, nil
}

// accept fails for an answer that the API server refuses together with its whole list.
func (w *walk) accept(before, after map[string]any, from, to string) {
	w.t.Helper()
	was, is := childOf(runtime.DeepCopyJSON(before), "metadata"), childOf(runtime.DeepCopyJSON(after), "metadata")
	for _, meta := range []map[string]any{was, is} {
		delete(meta, "annotations")
		delete(meta, "labels")
	}
	if diff := cmp.Diff(was, is); diff != "" {
		w.t.Fatalf("step %d: %s -> %s changes metadata (-before +after):\n%s", w.at, from, to, diff)
	}
	errs := apivalidation.ValidateAnnotations(annotationsOf(after), field.NewPath("annotations"))
	errs = append(errs, metav1validation.ValidateLabels(entriesOf(after, "labels"), field.NewPath("labels"))...)
	if len(errs) > 0 {
		w.t.Fatalf("step %d: %s -> %s: the API server refuses the answer: %v", w.at, from, to, errs.ToAggregate())
	}
}

func versionOf(obj map[string]any) string {
	apiVersion, _ := obj["apiVersion"].(string)
	return apiVersion[strings.IndexByte(apiVersion, '/')+1:]
}

func annotationsOf(obj map[string]any) map[string]string { return entriesOf(obj, "annotations") }

// entriesOf returns labels or annotations.
func entriesOf(obj map[string]any, name string) map[string]string {
	all := map[string]string{}
	meta, _ := obj["metadata"].(map[string]any)
	entries, _ := meta[name].(map[string]any)
	for key, value := range entries {
		all[key], _ = value.(string)
	}
	return all
}

// keptIn returns the annotations with webhookd's prefixes.
func keptIn(obj map[string]any) map[string]string {
	kept := annotationsOf(obj)
	maps.DeleteFunc(kept, func(key, _ string) bool { return !isKept(key) })
	return kept
}

func isKept(key string) bool {
	return strings.HasPrefix(key, specPrefix) || strings.HasPrefix(key, statusPrefix)
}

// visible returns what users see of an object apart from its name: all but kept values.
func visible(obj map[string]any) map[string]any {
	obj = runtime.DeepCopyJSON(obj)
	meta := childOf(obj, "metadata")
	for _, name := range []string{"apiVersion", "kind"} {
		delete(obj, name)
	}
	for _, name := range []string{"name", "namespace", "uid"} {
		delete(meta, name)
	}
	for _, name := range []string{"labels", "annotations"} {
		entries := childOf(meta, name)
		maps.DeleteFunc(entries, func(key string, _ any) bool { return isKept(key) })
		if len(entries) == 0 {
			delete(meta, name)
		}
	}
	if len(meta) == 0 {
		delete(obj, "metadata")
	}
	return obj
}

func mergePatch(obj, patch map[string]any) {
	for _, name := range slices.Sorted(maps.Keys(patch)) {
		switch value := patch[name].(type) {
		case nil:
			delete(obj, name)
		case map[string]any:
			mergePatch(childOf(obj, name), value)
		default:
			obj[name] = value
		}
	}
}

// childOf returns an object within an object, which it creates if needed.
func childOf(obj map[string]any, name string) map[string]any {
	child, ok := obj[name].(map[string]any)
	if !ok {
		child = map[string]any{}
		obj[name] = child
	}
	return child
}
