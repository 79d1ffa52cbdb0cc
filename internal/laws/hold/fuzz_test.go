package hold_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/laws/generate"
	"github.com/crdconvert/webhookd/internal/laws/hold"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
	"github.com/crdconvert/webhookd/test/helpers/crdschematest"
)

// kinds is the CRD of kind: .spec.a in v1 is .spec.b in v2 and .spec.c in v3. Only v1 has
// .spec.only, if that is wanted.
func kinds(t *testing.T, only bool) *crdschema.CRD {
	t.Helper()
	size, more := ", size: {type: integer}", ""
	if only {
		more = ", only: {type: string}"
	}
	version := func(field, more string) string {
		return `properties: {spec: {type: object, properties: {` + field + `: {type: object, properties: {x: {type: string, nullable: true}, num: {type: integer}}},
			keep: {type: array, items: {type: integer}}` + more + `}}}`
	}
	return crdschematest.Kind(t, 2, version("a", size+more), version("b", ", size: {type: integer, default: 3}"), version("c", size))
}

func TestFuzzHoldsEachLaw(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	for _, test := range []struct {
		law          hold.Law
		name         string
		after        func(obj *jsondoc.Object, from, to string) error
		object, path string
		was, is      string
		only         bool
	}{
		{
			law: "L1 round trip", name: "loses a field", object: `{"apiVersion":"g/v1","kind":"K","spec":{"a":{"num":0}}}`,
			path: ".spec.a.num", was: "0",
			after: func(obj *jsondoc.Object, from, _ string) error {
				if from == "v1" {
					return obj.Remove("spec", "b", "num")
				}
				return nil
			},
		},
		{
			law: "L1 round trip", name: "loses a null that is a value", object: `{"apiVersion":"g/v3","kind":"K","spec":{"c":{"x":null}}}`,
			path: ".spec.c.x", was: "null",
			after: func(obj *jsondoc.Object, _, to string) error {
				n, err := obj.Get("spec", "b", "x")
				if err != nil || to != "v2" || n.Kind() != jsondoc.Null {
					return err
				}
				return obj.Remove("spec", "b", "x")
			},
		},
		{
			law: "L1 round trip", name: "leaves a kept value", object: `{"apiVersion":"g/v1","kind":"K"}`,
			path: `.metadata`, is: `{"annotations":{"conversion.webhookd.io/v9":"{}"}}`,
			after: func(obj *jsondoc.Object, _, _ string) error {
				return set(obj, `"{}"`, "metadata", "annotations", keptOf("v9"))
			},
		},
		{
			law: "L2 edit", name: "believes a stale kept value", path: ".spec.size", only: true,
			after: believing("size"),
		},
		{
			law: "L3 visible", name: "looks at a kept value of another version", object: `{"apiVersion":"g/v1","kind":"K","metadata":{}}`,
			path: ".spec", is: `{"size":7}`,
			after: func(obj *jsondoc.Object, _, _ string) error {
				if has(obj, "metadata", "annotations", keptOf("v99")) {
					return set(obj, "7", "spec", "size")
				}
				return nil
			},
		},
		{
			law: "L3 visible", name: "removes a kept value of another version", object: `{"apiVersion":"g/v1","kind":"K","metadata":{}}`,
			after: func(obj *jsondoc.Object, _, _ string) error {
				if !has(obj, "metadata") {
					return nil
				}
				return obj.Remove("metadata", "annotations", keptOf("v99"))
			},
		},
		{
			law: "L6 nothing to prune", name: "writes a field that the schema does not know", object: `{"apiVersion":"g/v1","kind":"K","spec":{}}`,
			path: ".spec.bb", was: "1",
			after: func(obj *jsondoc.Object, _, to string) error {
				if n, err := obj.Get("spec"); err != nil || n.Kind() != jsondoc.Map {
					return err
				}
				if to == "v2" {
					return set(obj, "1", "spec", "bb")
				}
				return obj.Remove("spec", "bb")
			},
		},
		{
			law: "L7 total", name: "fails for a null", object: `{"apiVersion":"g/v1","kind":"K","spec":null}`,
			after: func(obj *jsondoc.Object, _, _ string) error {
				if n, err := obj.Get("spec"); n.Kind() != jsondoc.Null {
					return err
				}
				return errNoSpec
			},
		},
		{
			law: "L8 deterministic", name: "counts", object: `{"apiVersion":"g/v1","kind":"K"}`,
			after: func(obj *jsondoc.Object, _, _ string) error {
				return obj.Set(jsondoc.IntValue(calls.Add(1)), "count")
			},
		},
		{
			law: "metadata", name: "adds a finalizer", object: `{"apiVersion":"g/v1","kind":"K"}`,
			after: func(obj *jsondoc.Object, _, _ string) error { return set(obj, `["a"]`, "metadata", "finalizers") },
		},
		{
			law: "metadata", name: "changes the uid", object: `{"apiVersion":"g/v1","kind":"K","metadata":{"uid":""}}`,
			after: func(obj *jsondoc.Object, _, to string) error {
				if !has(obj, "metadata", "uid") {
					return nil
				}
				return set(obj, `"`+to+`"`, "metadata", "uid")
			},
		},
		{
			law: "metadata", name: "makes a label that is not valid", object: `{"apiVersion":"g/v1","kind":"K"}`,
			after: func(obj *jsondoc.Object, from, _ string) error {
				if from != "v1" {
					return obj.Remove("metadata", "labels", "x")
				}
				return set(obj, `"a b"`, "metadata", "labels", "x")
			},
		},
	} {
		t.Run(string(test.law)+" "+test.name, func(t *testing.T) {
			t.Parallel()
			suite := hold.Suite{Kind: kind(test.after), CRD: kinds(t, test.only), Seed: hold.DefaultSeed}
			_, err := suite.Fuzz(t.Context(), 300)
			v, ok := errors.AsType[*hold.ViolationError](err)
			if !ok {
				t.Fatalf("error %v, want a violation", err)
			}
			if v.Law != test.law {
				t.Errorf("law %s, want %s: %v", v.Law, test.law, err)
			}
			if test.object != "" && string(v.Object) != test.object {
				t.Errorf("smallest object %s, want %s", v.Object, test.object)
			}
			if test.path != "" && v.Path != test.path || test.was != "" && v.Was != test.was || test.is != "" && v.Is != test.is {
				t.Errorf("%s was %s and is %s, want %s %s %s", v.Path, v.Was, v.Is, test.path, test.was, test.is)
			}
			if len(v.Object) > 150 {
				t.Errorf("not small: %s", v.Object)
			}
			// The object alone shows it again.
			again := suite.Check(t.Context(), slices.Values([][]byte{v.Object}))
			if w, ok := errors.AsType[*hold.ViolationError](again); !ok || w.Law != v.Law {
				t.Errorf("again: %v", again)
			}
		})
	}
}

func TestDropsAreNotLosses(t *testing.T) {
	t.Parallel()
	loses := kind(func(obj *jsondoc.Object, from, _ string) error {
		if from == "v1" {
			return obj.Remove("spec", "only")
		}
		return nil
	})
	suite := hold.Suite{Kind: loses, CRD: kinds(t, true), Drops: []hold.Drop{{From: "v1", To: "v2", Path: ".spec.only"}}}
	if _, err := suite.Fuzz(t.Context(), 100); err != nil {
		t.Error(err)
	}
	suite.Drops[0].To = "v3"
	_, err := suite.Fuzz(t.Context(), 100)
	if v, ok := errors.AsType[*hold.ViolationError](err); !ok || v.Path != ".spec.only" || v.From != "v1" || v.To != "v2" {
		t.Errorf("error %v", err)
	}
	suite.Drops = []hold.Drop{{Path: "spec"}}
	if _, err := suite.Fuzz(t.Context(), 1); err == nil || !strings.Contains(err.Error(), "path that cannot be read") {
		t.Errorf("error %v", err)
	}
}

func TestStoredObjectsAreDefaulted(t *testing.T) {
	t.Parallel()
	right := kind(func(*jsondoc.Object, string, string) error { return nil })
	suite := hold.Suite{Kind: right, CRD: kinds(t, false)}
	if _, err := suite.Fuzz(t.Context(), 100); err != nil {
		t.Error(err)
	}
	suite.Stored = true
	_, err := suite.Fuzz(t.Context(), 100)
	if v, ok := errors.AsType[*hold.ViolationError](err); !ok || v.Path != ".spec.size" || v.Is != "3" {
		t.Errorf("error %v", err)
	}
}

// The API server writes 7.0 as 7: a way back that knows only the one does not work there.
func TestStoredNumbersAreSpeltAnew(t *testing.T) {
	t.Parallel()
	fraction := kind(func(obj *jsondoc.Object, from, to string) error {
		size, err := obj.Get("spec", "size")
		if err != nil || size.Kind() != jsondoc.Number {
			return err
		}
		whole, spelt := strings.CutSuffix(string(size.Text()), ".0")
		switch {
		case from == "v1":
			return set(obj, whole+".0", "spec", "size")
		case to != "v1":
			return nil
		case spelt:
			return set(obj, whole, "spec", "size")
		}
		return obj.Remove("spec", "size")
	})
	const object = `{"apiVersion":"g/v1","kind":"K","spec":{"size":7}}`
	suite := hold.Suite{Kind: fraction, CRD: kinds(t, false), Stored: true}
	err := suite.Check(t.Context(), slices.Values([][]byte{[]byte(object)}))
	if v, ok := errors.AsType[*hold.ViolationError](err); !ok || v.Law != "L1 round trip" || v.From != "v1" || v.Path != ".spec.size" {
		t.Errorf("error %v", err)
	}
}

func TestFuzzGoesOnUntilItIsStopped(t *testing.T) {
	t.Parallel()
	right := kind(func(*jsondoc.Object, string, string) error { return nil })
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	suite := hold.Suite{Kind: right, CRD: kinds(t, false), Progress: func(s hold.Stats) {
		if s.Objects >= 50 {
			cancel()
		}
	}}
	if stats, err := suite.Fuzz(ctx, 0); err != nil || stats.Objects < 50 {
		t.Errorf("%+v: %v", stats, err)
	}
	if _, err := suite.Fuzz(ctx, 10); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestFuzzNeedsSchemas(t *testing.T) {
	t.Parallel()
	right := kind(func(*jsondoc.Object, string, string) error { return nil })
	if _, err := (hold.Suite{Kind: right}).Fuzz(t.Context(), 1); err == nil {
		t.Error("no error without a CRD")
	}
	suite := hold.Suite{Kind: right, CRD: kinds(t, false), Hints: map[string]generate.Hints{"v1": {".spec": {"{"}}}}
	if _, err := suite.Fuzz(t.Context(), 1); err == nil || !strings.Contains(err.Error(), "hint that is not JSON: .spec") {
		t.Errorf("error %v", err)
	}
	suite.Hints = nil
	for object, want := range map[string]string{`{"apiVersion":"g/v9","kind":"K"}`: "version that the CRD does not have", `{}`: "object without a version"} {
		if err := suite.Check(t.Context(), slices.Values([][]byte{[]byte(object)})); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v", err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := suite.Check(ctx, slices.Values([][]byte{[]byte(sample)})); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
