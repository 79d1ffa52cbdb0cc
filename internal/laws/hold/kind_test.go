package hold_test

import (
	"context"
	"encoding/json"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
)

// kind has .spec.a in v1, .spec.b in v2 and .spec.c in v3, and breaks laws by after, which runs
// behind a conversion that is right.
func kind(after func(obj *jsondoc.Object, from, to string) error) *converters.Kind {
	return &converters.Kind{
		GroupKind: schema.GroupKind{Group: "g", Kind: "K"}, Hub: "v2", Versions: []string{"v1", "v2", "v3"},
		Converter: converters.Func(func(_ context.Context, obj *jsondoc.Object, from, to string) error {
			names := map[string]string{"v1": "a", "v2": "b", "v3": "c"}
			if _, err := obj.Move([]string{"spec", names[from]}, []string{"spec", names[to]}); err != nil {
				return err
			}
			return after(obj, from, to)
		}),
	}
}

// keptOf is the name of an annotation that keeps values of a version.
func keptOf(version string) string { return "conversion.webhookd.io/" + version }

// keep moves fields of the spec into the annotation of a version, and removes those that are in
// lost.
func keep(obj *jsondoc.Object, version string, lost []string, fields ...string) error {
	kept := map[string]json.RawMessage{}
	for _, name := range fields {
		n, err := obj.Get("spec", name)
		if err != nil {
			return err
		}
		if n != nil {
			kept[name] = n.Text()
		}
	}
	text, err := json.Marshal(kept)
	if err != nil {
		return err
	}
	for _, name := range lost {
		if err := obj.Remove("spec", name); err != nil {
			return err
		}
	}
	return obj.Set(jsondoc.StringValue(string(text)), "metadata", "annotations", keptOf(version))
}

// restore removes the annotation of a version, and puts what it keeps back into the spec.
func restore(obj *jsondoc.Object, version string) error {
	n, err := obj.Get("metadata", "annotations", keptOf(version))
	if n == nil || err != nil {
		return err
	}
	text, _ := n.Str()
	if err := obj.Remove("metadata", "annotations", keptOf(version)); err != nil {
		return err
	}
	kept := map[string]json.RawMessage{}
	if json.Unmarshal([]byte(text), &kept) != nil || !has(obj, "spec") {
		return nil //nolint:nilerr // what is malformed keeps nothing
	}
	for name, value := range kept {
		if err := set(obj, string(value), "spec", name); err != nil {
			return err
		}
	}
	return nil
}

// believing keeps .spec.only of v1, and with it another field, which it puts back although that was
// edited.
func believing(other string) func(obj *jsondoc.Object, from, to string) error {
	return func(obj *jsondoc.Object, from, to string) error {
		switch {
		case to == "v1":
			return restore(obj, "v1")
		case from == "v1" && has(obj, "spec", "only"):
			return keep(obj, "v1", []string{"only"}, "only", other)
		}
		return nil
	}
}

func set(obj *jsondoc.Object, text string, path ...string) error {
	v, err := jsondoc.RawValue([]byte(text))
	if err != nil {
		return err
	}
	return obj.Set(v, path...)
}

// has reports whether there is something at a path.
func has(obj *jsondoc.Object, path ...string) bool {
	n, err := obj.Get(path...)
	return err == nil && n != nil
}
