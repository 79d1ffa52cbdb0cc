package conversion

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
)

// A Converter rewrites an object from one version of its kind to another, in place.
//
// It is deterministic, free of I/O and safe for concurrent use. It takes fragments, since
// server-side apply sends objects without spec or metadata and with null anywhere
// (kubernetes#117356). It changes no metadata but labels and annotations, keeps no reference to obj
// or a part of it, and returns when ctx is done. It need not set apiVersion. An error fails the
// whole review, so it is only for objects that cannot be converted at all. It names the path and
// the remedy, and quotes no field's value: see [Node.Errorf].
type Converter interface {
	Convert(ctx context.Context, obj *Object, from, to string) error
}

// Func makes a function a Converter, with the obligations of one.
type Func func(ctx context.Context, obj *Object, from, to string) error

// Convert implements Converter.
func (f Func) Convert(ctx context.Context, obj *Object, from, to string) error {
	return f(ctx, obj, from, to)
}

// onText makes a Converter one over documents.
func onText(c Converter) converters.Converter {
	return converters.Func(func(ctx context.Context, doc *jsondoc.Object, from, to string) error {
		return c.Convert(ctx, newObject(doc), from, to)
	})
}

// WithHub returns a Converter that does what c does, for [Lossless]: c converts only between the
// hub and each other version. Without it, the hub is the version that the CRD stores, which may
// change. It panics without a hub or a converter.
func WithHub(hub string, c Converter) Converter {
	if hub == "" || isMissing(c) {
		panic("conversion.WithHub: no hub or no converter")
	}
	return &hubbed{c, hub}
}

type hubbed struct {
	Converter

	hub string
}

// isMissing reports whether there is no converter: a nil, or a function that is one.
func isMissing(c Converter) bool {
	fn, is := c.(Func)
	return c == nil || is && fn == nil
}

// typedOf returns the converter between Go types that c is, or nil.
func typedOf(c Converter) *typedVersions {
	for {
		h, is := c.(*hubbed)
		if !is {
			break
		}
		c = h.Converter
	}
	typed, _ := c.(*typedVersions)
	return typed
}

// hubOf returns the hub that a converter has been made for, or "".
func hubOf(c Converter) string {
	if h, is := c.(*hubbed); is {
		return h.hub
	}
	return ""
}

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
