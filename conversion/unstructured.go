package conversion

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// FromUnstructured makes a function over unstructured objects a Converter. The function gets a copy
// of the object, decoded as the API server does (integers are exact int64), with the apiVersion of
// from. Only what the function changes is written back: values that stay the same keep their text,
// members and elements keep their places, and new members are appended in the order of their names.
//
// The function has the obligations of a Converter. Its changes to apiVersion are ignored.
// FromUnstructured panics without one.
func FromUnstructured(fn func(ctx context.Context, u *unstructured.Unstructured, from, to string) error) Converter {
	if fn == nil {
		panic("conversion.FromUnstructured: no function")
	}
	return Func(func(ctx context.Context, obj *Object, from, to string) error {
		var old map[string]any
		if err := decode(obj.JSON(), &old); err != nil {
			return obj.Errorf("has a number too big for a float64, make it smaller or a string")
		}
		u := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(old)}
		if apiVersion, ok := old["apiVersion"].(string); ok {
			u.SetAPIVersion(groupOf(apiVersion) + "/" + from)
		}
		if err := fn(ctx, u, from, to); err != nil {
			return err
		}
		if u.Object == nil {
			return obj.Errorf("converter removed the whole object, fix the converter")
		}
		if apiVersion, found := old["apiVersion"]; found {
			u.Object["apiVersion"] = apiVersion
		} else {
			delete(u.Object, "apiVersion")
		}
		return rewriter{}.value(obj.node, old, u.Object)
	})
}
