package hold_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/laws/hold"
)

var errNoSpec = errors.New("no spec")

const sample = `{"apiVersion":"g/v1","kind":"K","metadata":{"name":"n","uid":"u","labels":{"l":"m"}},"spec":{"a":{"x":"y","num":7},"keep":[1,2]}}`

// violated returns the law that a kind breaks on the sample.
func violated(t *testing.T, k *converters.Kind) hold.Law {
	t.Helper()
	err := hold.Suite{Kind: k, CRD: kinds(t, false), Seed: hold.DefaultSeed}.Check(t.Context(), slices.Values([][]byte{[]byte(sample)}))
	violation, ok := errors.AsType[*hold.ViolationError](err)
	if !ok {
		t.Fatalf("error %v, want a violation", err)
	}
	return violation.Law
}

// What the hub keeps of a version is kept by the others as well.
func TestWhatIsKeptCrossesTheHub(t *testing.T) {
	t.Parallel()
	annotation := []string{"metadata", "annotations", "conversion.webhookd.io/v1.spec.x"}
	if law := violated(t, kind(func(obj *jsondoc.Object, from, to string) error {
		if from == "v1" {
			return obj.Set(jsondoc.StringValue(`{"value":"x"}`), annotation...)
		}
		return obj.Remove(annotation...)
	})); law != "L4 hub" {
		t.Errorf("law %s", law)
	}
}

func TestSourceMustNotBeWrittenTo(t *testing.T) {
	t.Parallel()
	if law := violated(t, kind(func(obj *jsondoc.Object, _, _ string) error {
		n, err := obj.Get("kind")
		if err == nil && n != nil {
			n.Text()[1] = 'X'
		}
		return err
	})); law != "source" {
		t.Errorf("law %s", law)
	}
}

func TestSamplesMustBeObjects(t *testing.T) {
	t.Parallel()
	for _, object := range []string{`{}`, `[]`, `{"apiVersion":"v1"}`, `{"a":1,"a":2}`} {
		suite := hold.Suite{Kind: kind(nil), CRD: kinds(t, false)}
		if err := suite.Check(t.Context(), slices.Values([][]byte{[]byte(object)})); err == nil {
			t.Errorf("no error for %s", object)
		}
	}
}
