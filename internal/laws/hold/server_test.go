package hold_test

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/laws/generate"
	"github.com/crdconvert/webhookd/internal/laws/hold"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
	"github.com/crdconvert/webhookd/test/helpers/crdschematest"
)

// twoVersions is the CRD of a kind with these properties of the spec in v1, and in v2, the hub.
func twoVersions(t *testing.T, v1, v2 string) *crdschema.CRD {
	t.Helper()
	version := func(properties string) string {
		return `properties: {spec: {type: object, properties: {` + properties + `}}}`
	}
	return crdschematest.Kind(t, 2, version(v1), version(v2))
}

// specs converts the specs of two versions, with what is kept of each.
type specs func(spec, keptOfTo map[string]any, from string) (to, keptOfFrom map[string]any, err error)

// pair is a kind of two versions. What is kept of a version is one annotation.
func pair(convert specs) *converters.Kind {
	k := kind(nil)
	k.Versions = []string{"v1", "v2"}
	k.Converter = converters.Func(func(_ context.Context, obj *jsondoc.Object, from, to string) error {
		var object struct {
			Metadata struct {
				Annotations map[string]string `json:"annotations"`
			} `json:"metadata"`
			Spec json.RawMessage `json:"spec"`
		}
		var spec, kept map[string]any
		if json.Unmarshal(obj.Text(), &object) != nil || json.Unmarshal(object.Spec, &spec) != nil || spec == nil {
			return nil //nolint:nilerr // a fragment
		}
		if text, found := object.Metadata.Annotations[keptOf(to)]; found && json.Unmarshal([]byte(text), &kept) != nil {
			kept = nil
		}
		for _, version := range []string{from, to} {
			if object.Metadata.Annotations[keptOf(version)] != "" {
				if err := obj.Remove("metadata", "annotations", keptOf(version)); err != nil {
					return err
				}
			}
		}
		spec, kept, err := convert(spec, kept, from)
		if err != nil {
			return err
		}
		text, err := json.Marshal(spec)
		if err != nil {
			return err
		}
		if len(kept) > 0 {
			said, err := json.Marshal(kept)
			if err != nil {
				return err
			}
			if err := obj.Set(jsondoc.StringValue(string(said)), "metadata", "annotations", keptOf(from)); err != nil {
				return err
			}
		}
		return set(obj, string(text), "spec")
	})
	return k
}

// hiding keeps .spec.only of v1, and with it a size, which it puts back although that was edited.
// It keeps the size of v2 as well, so the edit seems to be there at v2.
func hiding(spec, kept map[string]any, from string) (to, keptOf map[string]any, err error) {
	keptOf = map[string]any{}
	if from == "v1" {
		if size, found := kept["size"]; found {
			spec["size"], keptOf["size"] = size, spec["size"]
		}
		if only, found := spec["only"]; found {
			keptOf["only"], keptOf["size"] = only, spec["size"]
		}
		delete(spec, "only")
		return spec, keptOf, nil
	}
	if only, found := kept["only"]; found {
		if !reflect.DeepEqual(kept["size"], spec["size"]) && spec["size"] != nil && kept["size"] != nil {
			keptOf["size"] = spec["size"]
			spec["size"] = kept["size"]
		}
		spec["only"] = only
	}
	return spec, keptOf, nil
}

// union has a url in v2, and in v1 one of two places for it, chosen by a type. It believes a type
// that does not go with the url for as long as the rules alone give the same one. So no single
// place hides an edit, but nothing reads the other place.
func union(spec, kept map[string]any, from string) (to, keptOf map[string]any, err error) {
	byURL := func(url any) map[string]any {
		switch text, _ := url.(string); {
		case text == "":
			return map[string]any{}
		case text[0] == 'g':
			return map[string]any{"type": "Git", "git": text}
		default:
			return map[string]any{"type": "HTTP", "http": text}
		}
	}
	if from == "v2" {
		to = byURL(spec["url"])
		was, found := kept["spec"].(map[string]any)
		switch {
		case !found:
		case kept["url"] == spec["url"]:
			to = was
		case was["type"] != nil && to["type"] == byURL(kept["url"])["type"]:
			to["type"] = was["type"]
			return to, map[string]any{"url": spec["url"]}, nil
		}
		return to, nil, nil
	}
	to = map[string]any{}
	for name, of := range map[string]string{"git": "Git", "http": "HTTP"} {
		if spec["type"] == of && spec[name] != nil {
			to["url"] = spec[name]
		}
	}
	if kept["url"] != nil {
		to["url"] = kept["url"]
	}
	if reflect.DeepEqual(byURL(to["url"]), spec) {
		return to, nil, nil
	}
	return to, map[string]any{"spec": spec, "url": to["url"]}, nil
}

// owned keeps .spec.only, which only v1 has.
func owned(spec, kept map[string]any, from string) (to, keptOf map[string]any, err error) {
	if value, found := spec["only"]; found && from == "v1" {
		delete(spec, "only")
		return spec, map[string]any{"only": value}, nil
	}
	if value, found := kept["only"]; found {
		spec["only"] = value
	}
	return spec, nil, nil
}

func same(spec, _ map[string]any, _ string) (to, keptOf map[string]any, err error) {
	return spec, nil, nil
}

const (
	sizes  = "size: {type: integer, enum: [1, 2]}"
	only   = sizes + ", only: {type: string, enum: [x, y]}"
	urls   = "{type: string, enum: [g, gg, h, hh]}"
	branch = "type: {type: string, enum: [Git, HTTP]}, git: " + urls + ", http: " + urls
)

func TestFuzzHoldsKeptValues(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		law    hold.Law
		name   string
		suite  hold.Suite
		path   string
		object string
		steps  []string // of a walk
	}{
		{
			law: "L10 nothing hidden", name: "an edit that only an annotation shows",
			suite: hold.Suite{Kind: pair(hiding), CRD: twoVersions(t, only, sizes), Walks: true}, path: ".spec.size",
			object: `{"apiVersion":"g/v1","kind":"K","spec":{"only":"x","size":2}}`,
			steps:  []string{"create at v1, stored at v2", `edit at v2: .spec = {"size":1}`},
		},
		{
			law: "L10 nothing hidden", name: "an edit that no single place hides",
			suite: hold.Suite{Kind: pair(union), CRD: twoVersions(t, branch, "url: "+urls), Walks: true}, path: ".spec.url",
			object: `{"apiVersion":"g/v1","kind":"K","spec":{"git":"hh","type":"Git"}}`,
			steps:  []string{"create at v1, stored at v1", `edit at v2: .spec = {"url":"h"}`},
		},
		{
			law: "L13 well formed", name: "a kept value of another type",
			suite: hold.Suite{Kind: pair(owned), CRD: twoVersions(t, only, sizes), Forgeries: true},
		},
		{
			law: "L13 well formed", name: "an annotation that fails",
			suite: hold.Suite{Kind: pair(func(spec, kept map[string]any, _ string) (to, keptOf map[string]any, err error) {
				if len(kept) > 0 {
					err = errKept
				}
				return spec, nil, err
			}), CRD: twoVersions(t, sizes, sizes), Forgeries: true},
		},
		{
			law: "L13 well formed", name: "an annotation that panics",
			suite: hold.Suite{Kind: pair(func(spec, kept map[string]any, _ string) (to, keptOf map[string]any, err error) {
				if len(kept) > 0 {
					panic("kept")
				}
				return spec, nil, nil
			}), CRD: twoVersions(t, sizes, sizes), Forgeries: true},
		},
	} {
		t.Run(string(test.law)+" "+test.name, func(t *testing.T) {
			t.Parallel()
			test.suite.Seed, test.suite.Stored = hold.DefaultSeed, true
			_, err := test.suite.Fuzz(t.Context(), 300)
			v, ok := errors.AsType[*hold.ViolationError](err)
			if !ok || v.Law != test.law || v.Path != test.path || test.object != "" && string(v.Object) != test.object {
				t.Fatalf("error %v, want a violation", err)
			}
			if _, again := test.suite.Fuzz(t.Context(), v.Index+1); !reflect.DeepEqual(again, err) {
				t.Errorf("another one with the same seed: %v, then %v", err, again)
			}
			if test.steps == nil {
				return
			}
			if diff := cmp.Diff(test.steps, v.Walk.Lines()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			// The walk alone shows it again.
			if w, ok := errors.AsType[*hold.ViolationError](test.suite.Walk(t.Context(), v.Walk)); !ok || w.Law != v.Law {
				t.Errorf("again: %v", w)
			}
		})
	}
}

var errKept = errors.New("kept")

func TestWhatIsRightHoldsAllLaws(t *testing.T) {
	t.Parallel()
	for name, suite := range map[string]hold.Suite{
		"nothing to keep": {Kind: pair(same), CRD: twoVersions(t, only, only), Forgeries: true},
		"a kept value":    {Kind: pair(owned), CRD: twoVersions(t, only, sizes)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			suite.Seed, suite.Stored, suite.Walks = hold.DefaultSeed, true, true
			stats, err := suite.Fuzz(t.Context(), 200)
			if err != nil || stats.Objects != 400 || stats.Dropped > 40 || stats.Edits < 400 || stats.Fragments < 400 || stats.Walks != 200 {
				t.Errorf("%+v: %v", stats, err)
			}
		})
	}
}

func TestGivenWalks(t *testing.T) {
	t.Parallel()
	x := []byte(`{"apiVersion":"g/v1","kind":"K","spec":{"only":"x","size":1}}`)
	edit := generate.Step{Version: "v2", Changes: []generate.Change{{Path: []any{"spec", "size"}, Value: int64(2)}}}
	crd := twoVersions(t, only, sizes)
	for name, test := range map[string]struct {
		suite hold.Suite
		walk  generate.Walk
		law   hold.Law
	}{
		"nothing happens": {suite: hold.Suite{Kind: pair(owned), CRD: crd}, walk: generate.Walk{Object: x, Storage: "v2"}},
		"a place that is gone": {
			suite: hold.Suite{Kind: pair(owned), CRD: crd},
			walk: generate.Walk{Object: x, Storage: "v2", Steps: []generate.Step{
				{Version: "v2", Changes: []generate.Change{{Path: []any{"spec"}, Remove: true}}}, edit,
			}},
		},
		"an edit at the other version": {
			suite: hold.Suite{Kind: pair(hiding), CRD: crd}, walk: generate.Walk{Object: x, Storage: "v2", Steps: []generate.Step{edit}}, law: "L10 nothing hidden",
		},
		"the storage version changes": {
			suite: hold.Suite{Kind: pair(same), CRD: crd},
			walk:  generate.Walk{Object: x, Storage: "v1", Steps: []generate.Step{{Storage: "v2"}, {Version: "v1"}}}, law: "L1 round trip",
		},
		"an edit that is not valid": {
			suite: hold.Suite{Kind: pair(owned), CRD: crd}, walk: generate.Walk{Object: x, Storage: "v2", Steps: []generate.Step{
				{Version: "v2", Changes: []generate.Change{{Path: []any{"spec", "size"}, Value: int64(3)}}},
			}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v, _ := errors.AsType[*hold.ViolationError](test.suite.Walk(t.Context(), &test.walk))
			if v == nil && test.law != "" || v != nil && v.Law != test.law {
				t.Errorf("%v, want a violation of %q", v, test.law)
			}
		})
	}
}
