package hold_test

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/laws/generate"
	"github.com/crdconvert/webhookd/internal/laws/hold"
	"github.com/crdconvert/webhookd/test/helpers/lawtest"
)

var errNoSpec = errors.New("no spec")

const sample = `{"apiVersion":"g/v1","kind":"K","metadata":{"name":"n","uid":"u","labels":{"l":"m"}},"spec":{"a":{"x":"y","n":7},"keep":[1.10,true],"only":"o"}}`

// laws holds a kind to all laws on samples, on all their fragments, and on random variants.
func laws(ctx context.Context, kind *converters.Kind, samples ...[]byte) error {
	s := hold.Suite{Kind: kind, Seed: hold.DefaultSeed}
	for _, objects := range []iter.Seq[[]byte]{
		slices.Values(samples), generate.Fragments(samples...), lawtest.Variants(s.Seed, 250, samples...),
	} {
		if err := s.Check(ctx, objects); err != nil {
			return err
		}
	}
	return nil
}

func TestLawsHold(t *testing.T) {
	t.Parallel()
	right := kind(func(*jsondoc.Object, string, string) error { return nil })
	for _, version := range right.Versions {
		object := strings.Replace(sample, "g/v1", "g/"+version, 1)
		object = strings.Replace(object, `"a":`, `"`+map[string]string{"v1": "a", "v2": "b", "v3": "c"}[version]+`":`, 1)
		if err := laws(t.Context(), right, []byte(object)); err != nil {
			t.Error(err)
		}
	}
}

func TestEachLawIsHeld(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	for _, test := range []struct {
		law    hold.Law
		name   string
		after  func(obj *jsondoc.Object, from, to string) error
		object string
	}{
		{
			law: "L7 total", name: "fails without a spec", object: `{"apiVersion":"g/v1","kind":"K"}`,
			after: func(obj *jsondoc.Object, _, _ string) error {
				if n, err := obj.Get("spec"); n != nil {
					return err
				}
				return errNoSpec
			},
		},
		{
			law: "L1 round trip", name: "loses a null", object: `{"apiVersion":"g/v1","kind":"K","spec":{"a":null}}`,
			after: func(obj *jsondoc.Object, _, to string) error {
				n, err := obj.Get("spec", "b")
				if err != nil || to != "v2" || n.Kind() != jsondoc.Null {
					return err
				}
				return obj.Remove("spec", "b")
			},
		},
		{
			law: "L1 round trip", name: "changes a number's literal", object: `{"apiVersion":"g/v1","kind":"K","spec":{"keep":[1.10]}}`,
			after: func(obj *jsondoc.Object, _, _ string) error {
				n, err := obj.Get("spec", "keep")
				if err == nil && strings.Contains(string(n.Text()), "1.10") {
					err = set(obj, strings.Replace(string(n.Text()), "1.10", "1.1", 1), "spec", "keep")
				}
				return err
			},
		},
		{
			law: "L8 deterministic", name: "counts",
			after: func(obj *jsondoc.Object, _, to string) error {
				if to != "v2" {
					return obj.Remove("spec", "count")
				}
				n, err := obj.Get("spec")
				if err != nil || n.Kind() != jsondoc.Map {
					return err
				}
				return obj.Set(jsondoc.IntValue(calls.Add(1)), "spec", "count")
			},
		},
		{
			law: "metadata", name: "changes the uid", object: `{"apiVersion":"g/v1","kind":"K","metadata":{"uid":""}}`,
			after: func(obj *jsondoc.Object, _, to string) error {
				n, err := obj.Get("metadata", "uid")
				if n == nil || err != nil {
					return err
				}
				return set(obj, `"`+to+`"`, "metadata", "uid")
			},
		},
	} {
		t.Run(string(test.law)+" "+test.name, func(t *testing.T) {
			t.Parallel()
			err := laws(t.Context(), kind(test.after), []byte(sample))
			var violation *hold.ViolationError
			if !errors.As(err, &violation) {
				t.Fatalf("error %v, want a violation", err)
			}
			if violation.Law != test.law {
				t.Errorf("law %s, want %s: %v", violation.Law, test.law, err)
			}
			if test.object != "" && string(violation.Object) != test.object {
				t.Errorf("smallest object %s, want %s", violation.Object, test.object)
			}
			if !strings.Contains(err.Error(), string(violation.Object)) || !strings.HasSuffix(err.Error(), "seed: 1") {
				t.Errorf("message without object or seed: %v", err)
			}
		})
	}
}

// What the hub keeps of a version is kept by the others as well.
func TestWhatIsKeptCrossesTheHub(t *testing.T) {
	t.Parallel()
	annotation := []string{"metadata", "annotations", "conversion.webhookd.io/v1.spec.x"}
	k := kind(func(obj *jsondoc.Object, from, to string) error {
		if from == "v1" {
			return obj.Set(jsondoc.StringValue(`{"value":"x"}`), annotation...)
		}
		return obj.Remove(annotation...)
	})
	var violation *hold.ViolationError
	if err := laws(t.Context(), k, []byte(sample)); !errors.As(err, &violation) || violation.Law != "L4 hub" {
		t.Errorf("error %v, want a violation of L4", err)
	}
}

func TestSourceMustNotBeWrittenTo(t *testing.T) {
	t.Parallel()
	scribbler := kind(func(obj *jsondoc.Object, _, _ string) error {
		n, err := obj.Get("kind")
		if err == nil && n != nil {
			n.Text()[1] = 'X'
		}
		return err
	})
	var violation *hold.ViolationError
	if err := laws(t.Context(), scribbler, []byte(sample)); !errors.As(err, &violation) || violation.Law != "source" {
		t.Errorf("error %v, want a violation of source", err)
	}
}

func TestSamplesMustBeObjects(t *testing.T) {
	t.Parallel()
	for _, object := range []string{`{}`, `[]`, `{"apiVersion":"v1"}`, `{"a":1,"a":2}`} {
		suite := hold.Suite{Kind: kind(nil)}
		if err := suite.Check(t.Context(), slices.Values([][]byte{[]byte(object)})); err == nil {
			t.Errorf("no error for %s", object)
		}
	}
}
