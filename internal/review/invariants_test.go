package review_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/review"
	"github.com/crdconvert/webhookd/test/helpers/exampletest"
)

// The tests named after an invariant check it for all kinds of requests;
// docs/contributing/invariants.md lists them.

// assorted returns a mixed list of objects in an order that seed determines, each with its number
// in spec.i, and their conversions.
func assorted(seed uint64, n int) (objects, converted []string) {
	random := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // the same list for the same seed
	for i := range n {
		from := []string{"v1alpha1", "v1beta1", "v1"}[random.IntN(3)]
		meta := []string{`,"metadata":{}`, `,"metadata":{"name":"a"}`, ``, `,"metadata":null`}[random.IntN(4)]
		tail := fmt.Sprintf(`,"spec":{"i":%d,"old":1,"literal":1.10}`, i)
		objects = append(objects, `{"apiVersion":"example.com/`+from+`","kind":"Widget"`+meta+tail+`}`)
		if from == "v1" {
			converted = append(converted, objects[i])
			continue
		}
		tail = fmt.Sprintf(`,"spec":{"i":%d,"literal":1.10,"new":"v1"}`, i)
		switch meta {
		case ``:
			tail += `,"metadata":{}`
		case `,"metadata":null`:
			meta = `,"metadata":{}`
		}
		converted = append(converted, `{"apiVersion":"example.com/v1","kind":"Widget"`+meta+tail+`}`)
	}
	return objects, converted
}

func TestInvariantI1OrderIsKept(t *testing.T) {
	t.Parallel()
	r := newReviewer(t, touch, review.Hooks{})
	for seed := range uint64(20) {
		objects, want := assorted(seed, 50)
		ask(t, r, request(objects...)).wantObjects(t, want...)
	}
}

func TestInvariantI2CountIsKept(t *testing.T) {
	t.Parallel()
	r := newReviewer(t, touch, review.Hooks{})
	for _, n := range []int{0, 1, 2, 3, 100, 5000} {
		objects, _ := assorted(7, n)
		if got := ask(t, r, request(objects...)); got.status != "Success" || len(got.objects) != n {
			t.Errorf("%d objects of %d: %s %s", len(got.objects), n, got.status, got.message)
		}
	}
}

func TestInvariantI3UIDAndReviewVersionAreEchoed(t *testing.T) {
	t.Parallel()
	for _, version := range []string{reviewV1, reviewV1beta1} {
		for _, objects := range [][]string{nil, {named("a")}, {named("bad")}, {`null`}} {
			body := []byte(strings.Replace(string(request(objects...)), reviewV1, version, 1))
			got := ask(t, newReviewer(t, failNamed, review.Hooks{}), body)
			if got.uid != uid || got.apiVersion != version {
				t.Errorf("uid %s of a %s answers a %s", got.uid, got.apiVersion, version)
			}
		}
	}
}

// Each member of metadata is added, changed or removed, in any way open to a converter.
func TestInvariantI4MetadataIsImmutable(t *testing.T) {
	t.Parallel()
	full, err := jsondoc.ParseObject([]byte(fullMeta))
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"deletionTimestamp", "anything"}
	if err := full.Each(func(name string, _ *jsondoc.Node) bool { names = append(names, name); return true }); err != nil {
		t.Fatal(err)
	}
	replace := func(edit converters.Func) converters.Func { // replaces the whole metadata, or the whole object
		return func(ctx context.Context, obj *jsondoc.Object, from, to string) error {
			other, err := jsondoc.ParseObject(bytes.Clone(obj.Text()))
			if err != nil {
				return err
			}
			if err := edit(ctx, other, from, to); err != nil {
				return err
			}
			return obj.Set(raw(string(other.Text())))
		}
	}
	for _, name := range names {
		for how, edit := range map[string]converters.Func{"set": set(`"changed"`, "metadata", name), "removed": remove("metadata", name)} {
			if how == "removed" && (name == "deletionTimestamp" || name == "anything") {
				continue
			}
			for way, convert := range map[string]converters.Func{"in place": edit, "as a whole": replace(edit)} {
				t.Run(name+" "+how+" "+way, func(t *testing.T) {
					t.Parallel()
					var reported record
					got := ask(t, newReviewer(t, convert, reported.hooks()), request(metadata(fullMeta)))
					switch {
					case name != "labels" && name != "annotations":
						got.wantFailed(t, jsondoc.FormatPath("metadata", name))
						if len(reported.Refused) != 1 || reported.Refused[0].Path != jsondoc.FormatPath("metadata", name) {
							t.Errorf("hook got %v", reported.Refused)
						}
					case how == "set":
						got.wantFailed(t, "converter set a string for a map of strings", jsondoc.FormatPath("metadata", name))
					case got.status != "Success":
						t.Errorf("%+v", got)
					}
				})
			}
		}
	}
}

func TestInvariantI5NothingLeavesOnFailure(t *testing.T) {
	t.Parallel()
	for name, convert := range misbehaviours() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			one := func(ctx context.Context, obj *jsondoc.Object, from, to string) error {
				if n, err := obj.Get("spec", "password"); n == nil {
					return err
				}
				return convert(ctx, obj, from, to)
			}
			for _, objects := range [][]string{{canaries("x"), named("a")}, {named("a"), canaries("x")}, {canaries("x")}} {
				text, err := newReviewer(t, one, review.Hooks{}).Review(t.Context(), nil, request(objects...))
				if err != nil || !strings.Contains(string(text), `"convertedObjects":[],"result":{"status":"Failed"`) {
					t.Errorf("%s %v", text, err)
				}
			}
		})
	}
}

func TestInvariantI6UntouchedTextIsVerbatim(t *testing.T) {
	t.Parallel()
	var all strings.Builder
	for name, literal := range literals() {
		fmt.Fprintf(&all, ",%q:%s", name, literal)
	}
	same := `{"apiVersion":"example.com/v1","kind":"Widget","spec":{"old":1` + all.String() + `}}`
	other := widget(`"metadata":{"x":0`+all.String()+`}`, `"spec":{"old":1`+all.String()+`}`, `"status":{"list":[{"x":0`+all.String()+`}]}`)
	want := strings.Replace(other, "v1beta1", "v1", 1)
	want = strings.Replace(want, `"old":1,`, ``, 1)
	want = strings.Replace(want, `},"status"`, `,"new":"v1"},"status"`, 1)
	ask(t, newReviewer(t, touch, review.Hooks{}), request(same, other)).wantObjects(t, same, want)
}

func TestInvariantI7BytesAreDeterministic(t *testing.T) {
	t.Parallel()
	want := map[string]string{}
	for round := range 30 {
		r := builtinReviewer(t)
		for name, body := range goldenRequests(t) { // in random order
			text, err := r.Review(t.Context(), nil, body)
			got := fmt.Sprintf("%s %v", text, err)
			if round > 0 && want[name] != got {
				t.Fatalf("%s: %s\nand before: %s", name, got, want[name])
			}
			want[name] = got
		}
	}
}

func TestInvariantI8AKnownUIDGetsHTTP200(t *testing.T) {
	t.Parallel()
	objects := []string{canaries("x"), `null`, `1`, `{}`, `[]`, named("a"), `{"a":1,"a":1}`, widget(`"metadata":1`)}
	versions := []string{"example.com/v1", "example.com/v1alpha1", "example.com/x", "x.io/v1", "v1", ""}
	bodies := make([][]byte, 0, 2+len(versions))
	bodies = append(bodies, withRequest(uidPart), withRequest(uidPart, `"desiredAPIVersion":[]`, `"objects":{}`))
	for _, desired := range versions {
		bodies = append(bodies, withRequest(uidPart, `"desiredAPIVersion":"`+desired+`"`, `"objects":[`+strings.Join(objects, ",")+`]`))
	}
	for name, convert := range misbehaviours() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := review.NewHandler(newReviewer(t, convert, review.Hooks{}))
			for _, body := range bodies {
				got := post(t, h, bytes.NewReader(body))
				if status, err := checkAsClient(body, got.body); got.code != http.StatusOK || status != "Failed" || err != nil {
					t.Errorf("HTTP %d, status %s: %v: %s", got.code, status, err, got.body)
				}
			}
		})
	}
}

// Every subset of an object that server-side apply can send, and null in each place, converts
// between all versions of all compiled-in kinds.
func TestInvariantI9FragmentsConvert(t *testing.T) {
	t.Parallel()
	r := builtinReviewer(t)
	metas := []string{``, `,"metadata":null`, `,"metadata":{}`, `,"metadata":{"name":"a"}`, `,"metadata":{"annotations":null,"labels":null}`}
	rests := []string{
		``, `,"spec":null`, `,"spec":{}`, `,"status":null`, `,"status":{}`, `,"spec":{},"status":{}`,
		`,"hostPort":null`, `,"host":null`, `,"port":null`, `,"host":null,"port":null`,
		`,"spec":{"backup":null}`, `,"spec":{"backupPolicy":null}`, `,"spec":{"backupPolicy":{}}`, `,"spec":{"engine":null}`,
		`,"spec":{"backupPolicy":{"schedule":null}}`, `,"spec":{"backupPolicy":{"retentionDays":null}}`,
		`,"spec":{"storageGB":null}`, `,"spec":{"storageGiB":null}`,
	}
	for _, kind := range builtinKinds(t) {
		for _, from := range kind.Versions {
			for _, to := range kind.Versions {
				objects := make([]string, 0, len(metas)*len(rests))
				for _, meta := range metas {
					for _, rest := range rests {
						objects = append(objects, `{"apiVersion":"`+kind.Group+`/`+from+`","kind":"`+kind.Kind+`"`+meta+rest+`}`)
					}
				}
				body := bytes.Replace(request(objects...), []byte("example.com/v1"), []byte(kind.Group+"/"+to), 1)
				if got := ask(t, r, body); got.status != "Success" {
					t.Errorf("%s %s -> %s: %s", kind.Name(), from, to, got.message)
				}
			}
		}
	}
}

func builtinKinds(t *testing.T) []*converters.Kind {
	t.Helper()
	registry, err := converters.NewRegistry(exampletest.Kinds()...)
	if err != nil {
		t.Fatal(err)
	}
	return registry.Kinds()
}

func TestInvariantI11NoObjectContentShows(t *testing.T) {
	t.Parallel()
	for name, convert := range misbehaviours() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var reported record
			r := newReviewer(t, convert, reported.hooks())
			text, err := r.Review(t.Context(), nil, request(canaries("canary-2-2"), canaries("canary-3-3"), strings.Replace(canaries("canary-4-4"), "{", `{"spec":1,`, 1)))
			if err != nil {
				t.Fatal(err)
			}
			if all := fmt.Sprintf("%s %+v", text, &reported); canary.MatchString(all) || strings.Contains(all, secret) {
				t.Errorf("%q shows in %s", canary.FindAllString(all, -1), all)
			}
		})
	}
}

// A name may be repeated below the top of an object: a converter edits the last one, and untouched
// ones stay.
func TestInvariantI13TheLastOfRepeatedNamesCounts(t *testing.T) {
	t.Parallel()
	const spec = `"spec":{"from":{"a":1,"a":2},"kept":{"b":1,"b":2},"old":1,"old":2}`
	r := newReviewer(t, all(moving, set(`3`, "spec", "old")), review.Hooks{})
	ask(t, r, request(widget(`"metadata":{}`, spec))).wantObjects(t,
		`{"apiVersion":"example.com/v1","kind":"Widget","metadata":{},"spec":{"kept":{"b":1,"b":2},"old":3,"nested":{"to":{"a":1,"a":2}}}}`)
	r = newReviewer(t, set(`3`, "spec", "from", "a"), review.Hooks{})
	ask(t, r, request(widget(`"metadata":{}`, `"spec":{"from":{"a":1,"a":2},"kept":{"b":1,"b":2}}`))).wantObjects(t,
		`{"apiVersion":"example.com/v1","kind":"Widget","metadata":{},"spec":{"from":{"a":3},"kept":{"b":1,"b":2}}}`)
}
