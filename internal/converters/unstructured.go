package converters

import (
	"context"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// FromUnstructured makes a function over unstructured objects a Converter. The function gets a copy
// of the object, decoded as the API server does (integers are exact int64), with the apiVersion of
// from. Only what the function changes is written back: values that stay the same keep their text,
// members and elements keep their places, and new members are appended in the order of their names.
//
// The function has the obligations of a Converter. Its changes to apiVersion are ignored.
func FromUnstructured(fn func(ctx context.Context, u *unstructured.Unstructured, from, to string) error) Converter {
	return Func(func(ctx context.Context, obj *jsondoc.Object, from, to string) error {
		var old map[string]any
		if err := decode(obj.Text(), &old); err != nil {
			return &jsondoc.PathError{Problem: "has a number too big for a float64, make it smaller or a string", Path: obj.Path()}
		}
		u := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(old)}
		if apiVersion, ok := old["apiVersion"].(string); ok {
			group, _, _ := strings.Cut(apiVersion, "/")
			u.SetAPIVersion(group + "/" + from)
		}
		if err := fn(ctx, u, from, to); err != nil {
			return err
		}
		if u.Object == nil {
			return &jsondoc.PathError{Problem: "converter removed the whole object, fix the converter", Path: obj.Path()}
		}
		if apiVersion, found := old["apiVersion"]; found {
			u.Object["apiVersion"] = apiVersion
		} else {
			delete(u.Object, "apiVersion")
		}
		return rewriter{}.value(obj.Node, old, u.Object)
	})
}
