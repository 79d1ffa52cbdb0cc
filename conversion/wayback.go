package conversion

import (
	"context"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// A wayBack is the reverse of a conversion between Go types, without text in between: the result's
// text decodes to dst, and what the conversion took out of the source's text is what src encodes
// to. So if dst converts back to src, the text converts back to the source's text.
type wayBack struct {
	src, dst metav1.Object
	source   goType
	step     step   // from dst's type to src's
	version  string // dst's
	known    bool   // all fields of the source's text are covered: see decodeObject
}

// isLossless reports whether dst converts back to src. It changes dst.
func (w *wayBack) isLossless(ctx context.Context) bool {
	back := w.source.object()
	src, isObject := w.src.(runtime.Object)
	dst, isObjectToo := w.dst.(runtime.Object)
	again, isObjectAgain := back.(runtime.Object)
	if !isObject || !isObjectToo || !isObjectAgain {
		return false
	}
	objectMeta(w.dst).DeepCopyInto(objectMeta(back)) // goTypeOf has found both
	dst.GetObjectKind().SetGroupVersionKind(src.GetObjectKind().GroupVersionKind().GroupKind().WithVersion(w.version))
	if w.step(ctx, w.dst, back) != nil {
		return false
	}
	src.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	again.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	return reflect.DeepEqual(w.src, back)
}
