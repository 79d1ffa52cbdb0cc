package gateway

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crdconvert/webhookd/conversion"
)

// Unstructured returns a converter that does the same to an *unstructured.Unstructured.
func Unstructured() conversion.Converter {
	return conversion.FromUnstructured(func(_ context.Context, u *unstructured.Unstructured, from, _ string) error {
		old, now := "class", "className"
		if from == "v1" {
			old, now = now, old
		}
		spec, ok := u.Object["spec"].(map[string]any)
		if !ok {
			return nil // a fragment
		}
		if class, found := spec[old]; found {
			delete(spec, old)
			spec[now] = class
		}
		return nil
	})
}
