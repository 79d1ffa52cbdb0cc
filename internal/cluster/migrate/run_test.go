package migrate_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crdconvert/webhookd/internal/cluster/migrate"
	"github.com/crdconvert/webhookd/test/helpers/clustertest"
)

const (
	name    = "crontabs.example.com"
	crdPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/" + name
	crdText = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"` + name + `"},
		"spec":{"group":"example.com","scope":"Namespaced","names":{"plural":"crontabs","kind":"CronTab"},"conversion":{"strategy":"Webhook"},
		"versions":[{"name":"v1beta1","served":true,"storage":true,"schema":{"a":1e2}},{"name":"v1","served":true,"storage":false,"schema":{"b":12345678901234567890}}]}}`
	objects = 7
)

var resource = schema.GroupResource{Group: "example.com", Resource: "crontabs"} //nolint:gochecknoglobals // a constant

// A world is a cluster with a CRD and objects that are stored at v1beta1.
type world struct {
	*clustertest.Server

	requests atomic.Int64
	hook     atomic.Pointer[hook]
}

// A hook is called before the request with this number.
type hook func(n int64, verb, path string) *apierrors.StatusError

// on sets the hook, while requests of a killed run may be on their way.
func (w *world) on(h hook) { w.hook.Store(&h) }

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{Server: clustertest.New()}
	w.PageSize = 3
	w.Put(t, crdPath, "helm", crdText)
	for i := range objects {
		w.Put(t, path(i), "editor", fmt.Sprintf(`{"apiVersion":"example.com/v1beta1","kind":"CronTab","metadata":{"namespace":"a","name":"c%d",
			"annotations":{"team":"b","conversion.webhookd.io/v1beta1.spec.x":"{\"value\":1}","conversion.webhookd.io/v2.spec.y":"{\"value\":1}"}},"spec":{"n":%d}}`, i, i))
	}
	w.Before = func(verb, path string) *apierrors.StatusError {
		w.check(t)
		n := w.requests.Add(1)
		if h := w.hook.Load(); h != nil && *h != nil {
			return (*h)(n, verb, path)
		}
		return nil
	}
	return w
}

func path(i int) string { return fmt.Sprintf("/apis/example.com/v1/namespaces/a/crontabs/c%d", i) }

// check checks what must hold at any time. It runs before each request.
func (w *world) check(t *testing.T) {
	t.Helper()
	var stored, versions []string
	w.View(crdPath, func(crd *unstructured.Unstructured) {
		stored, _, _ = unstructured.NestedStringSlice(crd.Object, "status", "storedVersions")
		all, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
		for _, v := range all {
			versions = append(versions, v.(map[string]any)["name"].(string)) //nolint:forcetypeassert // as it was made
		}
	})
	for _, p := range w.Paths(resource) {
		if in := w.StoredNow(p); !slices.Contains(stored, in) {
			t.Errorf("pruned too early: %s is stored in %s: %v", p, in, stored)
		}
		w.View(p, func(o *unstructured.Unstructured) {
			for _, e := range o.GetManagedFields() {
				if _, version, _ := strings.Cut(e.APIVersion, "/"); !slices.Contains(versions, version) {
					t.Errorf("removed too early: %s has %s in managedFields", p, version)
				}
			}
		})
	}
}

var goal = migrate.Goal{To: "v1", Remove: []string{"v1beta1"}} //nolint:gochecknoglobals // a constant

func options(t *testing.T) migrate.Options {
	t.Helper()
	return migrate.Options{
		WritesPerSecond: 1e6, Confirm: func(migrate.Step, []string) error { return nil },
		Log: func(format string, args ...any) { t.Logf(format, args...) }, Progress: func(int, int64) {},
	}
}

func (w *world) run(t *testing.T, ctx context.Context, g migrate.Goal) error { //nolint:revive // t is first here
	t.Helper()
	return migrate.Run(ctx, w.Client(t), name, g, options(t))
}

// done checks that everything has been done, and nothing else.
func (w *world) done(t *testing.T) {
	t.Helper()
	w.check(t)
	var crd, object unstructured.Unstructured
	w.Get(t, crdPath, &crd.Object)
	versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
	want := []any{map[string]any{"name": "v1", "served": true, "storage": true, "schema": map[string]any{"b": 12345678901234567890.0}}}
	if diff := cmp.Diff(want, versions); diff != "" {
		t.Errorf("spec.versions (-want +got):\n%s", diff)
	}
	for i := range objects {
		if in := w.StoredIn(path(i)); in != "v1" {
			t.Errorf("%s is stored in %s", path(i), in)
		}
		if !w.Get(t, path(i), &object.Object) {
			t.Fatalf("%s is gone", path(i))
		}
		want := map[string]string{"team": "b", "conversion.webhookd.io/v2.spec.y": `{"value":1}`}
		if diff := cmp.Diff(want, object.GetAnnotations()); diff != "" {
			t.Errorf("annotations (-want +got):\n%s", diff)
		}
		for _, e := range object.GetManagedFields() {
			if e.APIVersion != "example.com/v1" {
				t.Errorf("%s has managedFields at %s", path(i), e.APIVersion)
			}
		}
	}
}

func TestTheWholeWay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if err := w.run(t, t.Context(), goal); err != nil {
		t.Fatal(err)
	}
	w.done(t)
	before := len(w.Requests())
	if err := w.run(t, t.Context(), goal); err != nil {
		t.Fatal(err)
	}
	for _, request := range w.Requests()[before:] {
		if verb, _, _ := strings.Cut(request, " "); verb == "patch" {
			t.Errorf("once more: %s", request)
		}
	}
}

// Wherever a run is killed, the next one goes on, and what must hold at any time does.
func TestKilledAtEachRequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if err := w.run(t, t.Context(), goal); err != nil {
		t.Fatal(err)
	}
	for n, request := range w.Requests() {
		n := int64(n)
		if strings.HasPrefix(request, "get /apis/example.com/v1") && n%8 != 0 {
			continue // discovery, of which there is much
		}
		t.Run(fmt.Sprintf("request %d", n+1), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			ctx, kill := context.WithCancel(t.Context())
			w.on(func(at int64, _, _ string) *apierrors.StatusError {
				if at == n+1 {
					kill() // the request may succeed, its answer is lost
				}
				return nil
			})
			if err := w.run(t, ctx, goal); err == nil && n+1 < w.requests.Load() {
				t.Fatal("it was not killed")
			}
			if err := w.run(t, t.Context(), goal); err != nil {
				t.Fatal(err)
			}
			w.done(t)
		})
	}
}

func TestSeveralAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var group sync.WaitGroup
	for range 3 {
		group.Go(func() {
			if err := w.run(t, t.Context(), goal); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	w.done(t)
}

// Writers change, create and delete objects between any two requests.
func TestWritersNextToIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.on(func(n int64, verb, at string) *apierrors.StatusError {
		if verb == "patch" && n%3 == 0 && strings.Contains(at, "/crontabs/") {
			w.Alter(at, func(o *unstructured.Unstructured) {
				_ = unstructured.SetNestedField(o.Object, n, "spec", "written")
			})
		}
		if n == 90 {
			w.Remove(path(1))
		}
		return nil
	})
	if err := w.run(t, t.Context(), goal); err != nil {
		t.Fatal(err)
	}
	if w.requests.Load() < 90 {
		t.Fatal("too few requests")
	}
	w.on(nil)
	w.Put(t, path(1), "editor", `{"apiVersion":"example.com/v1","kind":"CronTab","metadata":{"namespace":"a","name":"c1",
		"annotations":{"team":"b","conversion.webhookd.io/v2.spec.y":"{\"value\":1}"}}}`)
	w.done(t)
	var object unstructured.Unstructured
	if w.Get(t, path(2), &object.Object); object.Object["spec"].(map[string]any)["n"] != 2.0 { //nolint:forcetypeassert // as it was made
		t.Errorf("a value is lost: %v", object.Object)
	}
}

// setStorage sets the storage version as another admin does.
func (w *world) setStorage(version string) {
	w.Alter(crdPath, func(crd *unstructured.Unstructured) {
		versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
		for _, v := range versions {
			v := v.(map[string]any) //nolint:forcetypeassert // as it was made
			v["storage"] = v["name"] == version
		}
		_ = unstructured.SetNestedSlice(crd.Object, versions, "spec", "versions")
	})
}

// Wherever in the pass another admin sets the storage version, for a moment or for good, no version
// is pruned that an object is stored in.
func TestAnotherAdminChangesTheStorageVersion(t *testing.T) {
	t.Parallel()
	for n := int64(3); n < 110; n += 3 {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.setStorage("v1")
			w.on(func(at int64, _, _ string) *apierrors.StatusError {
				switch at {
				case n:
					w.setStorage("v1beta1")
					w.Alter(path(3), func(o *unstructured.Unstructured) { o.SetLabels(map[string]string{"late": "write"}) })
				case n + 5:
					w.setStorage("v1")
				}
				return nil
			})
			err := w.run(t, t.Context(), migrate.Goal{})
			if err != nil && !strings.Contains(err.Error(), "try again later") {
				t.Fatal(err)
			}
			w.on(nil)
			if err := w.run(t, t.Context(), migrate.Goal{To: "v1"}); err != nil {
				t.Fatal(err)
			}
			for i := range objects {
				if in := w.StoredIn(path(i)); in != "v1" {
					t.Errorf("%s is stored in %s", path(i), in)
				}
			}
		})
	}
}

// A version is not pruned as long as one object cannot be written; all others are.
func TestObjectsThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Admit = func(at string, _, _ *unstructured.Unstructured) *apierrors.StatusError {
		if at == path(6) {
			return apierrors.NewInvalid(schema.GroupKind{Kind: "CronTab"}, "c6", nil)
		}
		return nil
	}
	err := w.run(t, t.Context(), goal)
	if err == nil || !strings.Contains(err.Error(), "objects that cannot be written, correct them and run this again:\na/c6: "+path(6)+": cannot patch: CronTab \"c6\" is invalid") {
		t.Fatalf("%v", err)
	}
	for i := range objects {
		if in := w.StoredIn(path(i)); (in == "v1") == (i == 6) {
			t.Errorf("%s is stored in %s", path(i), in)
		}
	}
	w.Admit = nil
	if err := w.run(t, t.Context(), goal); err != nil {
		t.Fatal(err)
	}
	w.done(t)
}

// An API server that restarts while objects are listed is waited for.
func TestAnAPIServerRestarts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		away := 5 // one request more is tried with patience only
		w.on(func(n int64, verb, _ string) *apierrors.StatusError {
			if n > 30 && verb == "list" && away > 0 {
				away--
				return apierrors.NewServiceUnavailable("restarting")
			}
			return nil
		})
		if err := w.run(t, t.Context(), goal); err != nil || away > 0 {
			t.Fatal(err, away)
		}
		w.on(nil)
		w.done(t)
	})
}

// An API server that has just started does not serve the kind yet. Its 404 does not mean that an
// object is deleted, and nothing is pruned for it.
func TestAnAPIServerDoesNotServeTheKindYet(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.on(func(_ int64, verb, at string) *apierrors.StatusError {
		if verb == "patch" && at == path(6) {
			return apierrors.NewGenericServerResponse(404, verb, schema.GroupResource{}, "", "404 page not found", 0, true)
		}
		return nil
	})
	if err := w.run(t, t.Context(), goal); err == nil || !strings.Contains(err.Error(), "objects that cannot be written") {
		t.Errorf("%v", err)
	}
	w.on(nil)
	if err := w.run(t, t.Context(), goal); err != nil {
		t.Fatal(err)
	}
	w.done(t)
}

// A policy that puts kept values back is noticed.
func TestAPolicyRestoresKeptValues(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Admit = func(_ string, live, changed *unstructured.Unstructured) *apierrors.StatusError {
		if live.GetKind() == "CronTab" {
			changed.SetAnnotations(live.GetAnnotations())
		}
		return nil
	}
	err := w.run(t, t.Context(), goal)
	if err == nil || !strings.Contains(err.Error(), "webhookd crd guard annotations") {
		t.Fatalf("%v", err)
	}
	w.Admit = nil
	if err := w.run(t, t.Context(), goal); err != nil {
		t.Fatal(err)
	}
	w.done(t)
}

// An unanswered question ends the run before the step.
func TestNoAnswer(t *testing.T) {
	t.Parallel()
	for _, action := range []migrate.Action{migrate.StopServing, migrate.CleanManagers, migrate.RemoveVersions, migrate.CleanLeftovers} {
		w := newWorld(t)
		no := errors.New("no")
		o := options(t)
		o.Confirm = func(step migrate.Step, writers []string) error {
			if !slices.Equal(writers, []string{"helm"}) {
				t.Errorf("writers: %v", writers)
			}
			if step.Do == action {
				return no
			}
			return nil
		}
		if err := migrate.Run(t.Context(), w.Client(t), name, goal, o); !errors.Is(err, no) {
			t.Errorf("%d: %v", action, err)
		}
		if err := w.run(t, t.Context(), goal); err != nil {
			t.Fatal(err)
		}
		w.done(t)
	}
}

// What takes a change of the CRD back, such as a GitOps controller, ends the run.
func TestTheCRDIsSetBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.on(func(_ int64, verb, at string) *apierrors.StatusError {
		if verb == "get" && at == crdPath {
			w.setStorage("v1beta1")
		}
		return nil
	})
	err := w.run(t, t.Context(), goal)
	if err == nil || !strings.Contains(err.Error(), "another client has taken back a change of spec.versions") {
		t.Errorf("%v", err)
	}
}

// Crossplane writes a CRD as its XRD has it. What belongs into the XRD is left to the user, step by
// step, and webhookd does all else.
func TestCrossplaneMakesTheCRD(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Put(t, crdPath, "crossplane", strings.Replace(crdText, `"metadata":{`,
		`"metadata":{"ownerReferences":[{"apiVersion":"apiextensions.crossplane.io/v2","kind":"CompositeResourceDefinition","name":"things","uid":"u","controller":true}],`, 1))
	takes := func(want string) {
		t.Helper()
		before := len(w.Requests())
		err := w.run(t, t.Context(), goal)
		if err == nil || err.Error() != name+": Crossplane makes this CRD of an XRD, take the next step there and run this again: "+want+" of the XRD things" {
			t.Errorf("%v", err)
		}
		if slices.Contains(w.Requests()[before:], "patch "+crdPath) {
			t.Error("it changed the CRD")
		}
	}
	crossplane := func(edit func(v1beta1, v1 map[string]any) []any) {
		w.Change(t, crdPath, func(crd *unstructured.Unstructured) {
			versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
			versions = edit(versions[0].(map[string]any), versions[1].(map[string]any)) //nolint:forcetypeassert // as they were made
			_ = unstructured.SetNestedSlice(crd.Object, versions, "spec", "versions")
		})
	}
	takes("store objects in v1 when they are written: set referenceable in spec.versions")
	crossplane(func(v1beta1, v1 map[string]any) []any {
		v1beta1["storage"], v1["storage"] = false, true
		return []any{v1beta1, v1}
	})
	if err := w.run(t, t.Context(), migrate.Goal{}); err != nil {
		t.Fatal(err)
	}
	takes("stop serving v1beta1: set served to false in spec.versions")
	crossplane(func(v1beta1, v1 map[string]any) []any {
		v1beta1["served"] = false
		return []any{v1beta1, v1}
	})
	takes("remove v1beta1 from spec.versions")
	crossplane(func(_, v1 map[string]any) []any { return []any{v1} })
	if err := w.run(t, t.Context(), goal); err != nil {
		t.Fatal(err)
	}
	w.done(t)
}

// Objects without a namespace, two versions that go at once, and one in status.storedVersions that
// the CRD does not have.
func TestOtherCRDs(t *testing.T) {
	t.Parallel()
	const version = `{"name":%q,"served":%t,"storage":%t}`
	versions := func(all ...string) string { return `"versions":[` + strings.Join(all, ",") + `]` }
	alpha, beta := fmt.Sprintf(version, "v1alpha1", false, false), fmt.Sprintf(version, "v1beta1", true, true)
	for name, tt := range map[string]struct {
		versions, stored string
		goal             migrate.Goal
	}{
		"two versions go":    {versions(alpha, beta, fmt.Sprintf(version, "v1", true, false)), `"v1alpha1","v1beta1"`, migrate.Goal{To: "v1", Remove: []string{"v1beta1", "v1alpha1"}}},
		"stored and unknown": {versions(fmt.Sprintf(version, "v1", true, true)), `"v1alpha1","v1"`, migrate.Goal{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := clustertest.New()
			s.Put(t, crdPath, "helm", `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"crontabs.example.com"},
				"spec":{"group":"example.com","scope":"Cluster","names":{"plural":"crontabs","kind":"CronTab"},`+tt.versions+`},"status":{"storedVersions":[`+tt.stored+`]}}`)
			const object = "/apis/example.com/v1/crontabs/c"
			s.Put(t, object, "editor", `{"apiVersion":"example.com/v1alpha1","kind":"CronTab","metadata":{"name":"c"},"spec":{"n":1}}`)
			if err := migrate.Run(t.Context(), s.Client(t), "crontabs.example.com", tt.goal, options(t)); err != nil {
				t.Fatal(err)
			}
			var crd, live unstructured.Unstructured
			s.Get(t, crdPath, &crd.Object)
			s.Get(t, object, &live.Object)
			stored, _, _ := unstructured.NestedStringSlice(crd.Object, "status", "storedVersions")
			left, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
			if !slices.Equal(stored, []string{"v1"}) || len(left) != 1 || s.StoredIn(object) != "v1" || live.GetManagedFields()[0].APIVersion != "example.com/v1" {
				t.Errorf("%v\n%v", crd.Object, live.Object)
			}
		})
	}
}

func TestTheCRDIsMadeAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.on(func(n int64, _, _ string) *apierrors.StatusError {
		if n == 20 {
			w.Alter(crdPath, func(crd *unstructured.Unstructured) { crd.SetUID("another") })
		}
		return nil
	})
	if err := w.run(t, t.Context(), goal); err == nil || !strings.Contains(err.Error(), "the CRD was deleted and created again") {
		t.Errorf("%v", err)
	}
}

func TestLookChangesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	got, err := migrate.Look(t.Context(), w.Client(t), name, goal, options(t), true)
	if err != nil {
		t.Fatal(err)
	}
	if got.State.Survey.Objects != objects || len(got.Steps) != 7 || len(got.State.Survey.Managers["v1beta1"]) != 1 {
		t.Errorf("%d objects, %+v", got.State.Survey.Objects, got.Steps)
	}
	for i := range objects {
		if in := w.StoredIn(path(i)); in != "v1beta1" {
			t.Errorf("%s is stored in %s", path(i), in)
		}
	}
}

// The plan reads objects at the version to go to, which shows what is kept of the others. If one of
// them cannot be converted, the list fails, and the writes name it.
func TestLookNamesWhatCannotBeConverted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.on(func(_ int64, verb, at string) *apierrors.StatusError {
		if verb == "list" && strings.HasPrefix(at, "/apis/example.com/v1/") || at == path(3) {
			return apierrors.NewBadRequest("conversion webhook for example.com/v1beta1, Kind=CronTab failed: no")
		}
		return nil
	})
	got, err := migrate.Look(t.Context(), w.Client(t), name, goal, options(t), true)
	if err == nil || !strings.Contains(err.Error(), "\na/c3: ") || strings.Count(err.Error(), "\n") != 1 || got.State.Survey.Objects != objects {
		t.Errorf("%v, %+v", err, got)
	}
	if _, err := migrate.Look(t.Context(), w.Client(t), name, goal, options(t), false); err == nil || !strings.Contains(err.Error(), "correct the object at the version that it is stored in") {
		t.Errorf("without trying: %v", err)
	}
}

// An API server that does not know the storage version yet is waited for, and no object is written
// before.
func TestAnAPIServerLags(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		lagging, wrote := 3, false
		w.on(func(_ int64, verb, at string) *apierrors.StatusError {
			switch {
			case at == "/apis/example.com/v1" && lagging > 0:
				lagging--
				return apierrors.NewNotFound(schema.GroupResource{}, "")
			case verb == "patch" && strings.Contains(at, "/crontabs/"):
				wrote = true
				if lagging > 0 {
					t.Error("an object was written too early")
				}
			}
			return nil
		})
		if err := w.run(t, t.Context(), goal); err != nil {
			t.Fatal(err)
		}
		if lagging > 0 || !wrote {
			t.Error("it has not waited")
		}
		w.on(nil)
		w.done(t)
	})
}
