package lawtest_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/laws/hold"
	"github.com/crdconvert/webhookd/test/helpers/crdschematest"
	"github.com/crdconvert/webhookd/test/helpers/lawtest"
)

// The API server reads 1.10 as 1.1, so the laws do not tell them apart.
func TestANumberKeepsItsSpelling(t *testing.T) {
	t.Parallel()
	const number = "properties: {spec: {type: object, properties: {num: {type: number}}}}"
	for spelt, want := range map[string]string{"1.10": "", "1.1": ".spec.num differs"} {
		s := &hold.Suite{Seed: hold.DefaultSeed, CRD: crdschematest.Kind(t, 1, number, number), Kind: &converters.Kind{
			GroupKind: schema.GroupKind{Group: "g", Kind: "K"}, Hub: "v1", Versions: []string{"v1", "v2"},
			Converter: converters.Func(func(_ context.Context, obj *jsondoc.Object, _, _ string) error {
				n, err := obj.Get("spec", "num")
				if string(n.Text()) == "1.10" {
					v, _ := jsondoc.RawValue([]byte(spelt))
					n.Replace(v)
				}
				return err
			}),
		}}
		err := lawtest.Hold(t.Context(), s, []byte(`{"apiVersion":"g/v1","kind":"K","spec":{"num":1.10}}`))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("1.10 as %s: error %v, want %q", spelt, err, want)
		}
	}
}

func TestVariantsAreManyAndRepeatable(t *testing.T) {
	t.Parallel()
	collect := func(seed uint64) []string {
		var all []string
		for variant := range lawtest.Variants(seed, 200, []byte(`{"apiVersion":"g/v1","kind":"K","spec":{"a":{"x":"y","n":7},"keep":[1.10,true],"only":"o"}}`), []byte(`{"apiVersion":"g/v2","kind":"K"}`)) {
			if !strings.Contains(string(variant), `"apiVersion":"g/v`) {
				t.Fatalf("a variant of no version: %s", variant)
			}
			all = append(all, string(variant))
		}
		return all
	}
	first := collect(1)
	if !slices.Equal(first, collect(1)) {
		t.Error("the same seed gives other variants")
	}
	if slices.Equal(first, collect(2)) {
		t.Error("another seed gives the same variants")
	}
	if len(first) != 400 {
		t.Errorf("%d variants, want 400", len(first))
	}
	slices.Sort(first)
	if distinct := len(slices.Compact(first)); distinct < 200 {
		t.Errorf("only %d distinct variants", distinct)
	}
}
