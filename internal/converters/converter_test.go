package converters_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
)

var errRefused = errors.New("refused")

// parse parses text as an object.
func parse(t *testing.T, text string) *jsondoc.Object {
	t.Helper()
	obj, err := jsondoc.ParseObject([]byte(text))
	if err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return obj
}

// steps records the requested conversions and the apiVersion of the object.
type steps struct {
	taken []string
	fails string
}

func (s *steps) Convert(_ context.Context, obj *jsondoc.Object, from, to string) error {
	n, err := obj.Get("apiVersion")
	if err != nil {
		return err
	}
	apiVersion, _ := n.Str()
	s.taken = append(s.taken, apiVersion+" "+from+"->"+to)
	if s.fails == to {
		return errRefused
	}
	return nil
}

func TestRouteOverTheHub(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, from, to string
		steps          steps
		want           []string
		err            error
	}{
		{name: "same version", from: "v1", to: "v1"},
		{name: "spoke to hub", from: "v1", to: "v2", want: []string{"g/v1 v1->v2"}},
		{name: "hub to spoke", from: "v2", to: "v3", want: []string{"g/v2 v2->v3"}},
		{name: "spoke to spoke", from: "v1", to: "v3", want: []string{"g/v1 v1->v2", "g/v2 v2->v3"}},
		{name: "first step fails", from: "v1", to: "v3", steps: steps{fails: "v2"}, want: []string{"g/v1 v1->v2"}, err: errRefused},
		{name: "second step fails", from: "v1", to: "v3", steps: steps{fails: "v3"}, want: []string{"g/v1 v1->v2", "g/v2 v2->v3"}, err: errRefused},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			kind := converters.Kind{
				GroupKind: schema.GroupKind{Group: "g", Kind: "K"}, Hub: "v2", Versions: []string{"v1", "v2", "v3"}, Converter: &test.steps,
			}
			obj := parse(t, `{"apiVersion":"g/`+test.from+`"}`)
			if err := kind.Convert(t.Context(), obj, test.from, test.to); !errors.Is(err, test.err) {
				t.Errorf("error %v, want %v", err, test.err)
			}
			if diff := cmp.Diff(test.want, test.steps.taken); diff != "" {
				t.Errorf("steps (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRegistryFindsKinds(t *testing.T) {
	t.Parallel()
	kinds := []converters.Kind{aKind("b.example.com", "Zoo"), aKind("a.example.com", "Zoo"), aKind("a.example.com", "Ark")}
	r, err := converters.NewRegistry(kinds...)
	if err != nil {
		t.Fatal(err)
	}
	kinds[0].Versions[0] = "v9"
	names := make([]string, 0, len(kinds))
	for _, k := range r.Kinds() {
		names = append(names, k.Name())
		if got := r.Lookup(k.GroupKind); got != k {
			t.Errorf("Lookup(%s) is %v", k.Name(), got)
		}
		if !k.Has("v1") || k.Has("v9") {
			t.Errorf("%s has versions %v", k.Name(), k.Versions)
		}
	}
	if diff := cmp.Diff([]string{"Ark.a.example.com", "Zoo.a.example.com", "Zoo.b.example.com"}, names); diff != "" {
		t.Errorf("kinds (-want +got):\n%s", diff)
	}
	for _, gk := range []schema.GroupKind{{Group: "a.example.com", Kind: "ark"}, {Group: "c.example.com", Kind: "Ark"}, {}} {
		if got := r.Lookup(gk); got != nil {
			t.Errorf("Lookup(%v) is %v", gk, got)
		}
	}
	if name := (&converters.Kind{GroupKind: schema.GroupKind{Group: "g", Kind: "K"}}).Name(); name != "K.g" {
		t.Errorf("name outside a registry is %q", name)
	}
}

func TestRegistryReportsAllProblems(t *testing.T) {
	t.Parallel()
	nothing := converters.Kind{}
	twice := aKind("g", "K")
	odd := aKind("g", "Odd")
	odd.Hub, odd.Versions = "v9", []string{"v1", "v1", "V2"}
	_, err := converters.NewRegistry(twice, twice, nothing, odd)
	if err == nil {
		t.Fatal("no error")
	}
	want := []string{
		"two converters for one kind, keep one: K.g",
		"kind without a group or a name, set both: ",
		"kind without a converter, set Converter: ",
		"kind with fewer than two versions, list all that are served or stored: ",
		`hub "" is not one of the versions, add it to Versions: `,
		`hub "v9" is not one of the versions, add it to Versions: Odd.g`,
		`version "v1" is listed twice, remove one: Odd.g`,
		`version "V2" is not a DNS label, write it as in the CRD: Odd.g`,
	}
	if diff := cmp.Diff(strings.Join(want, "\n"), err.Error()); diff != "" {
		t.Errorf("error (-want +got):\n%s", diff)
	}
}

func aKind(group, kind string) converters.Kind {
	return converters.Kind{
		GroupKind: schema.GroupKind{Group: group, Kind: kind}, Hub: "v2", Versions: []string{"v1", "v2"}, Converter: &steps{},
	}
}
