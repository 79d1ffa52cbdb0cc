package converters

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crdconvert/webhookd/internal/crdschema"
	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// A Converter rewrites an object from one version of its kind to another, in place.
//
// Its obligations: it is deterministic and free of I/O; safe for concurrent use; total on fragments, since server-side
// apply sends objects without spec or metadata and with null anywhere (kubernetes#117356); it touches no metadata but
// labels and annotations; it keeps neither obj nor anything taken from it; it starts no goroutines; it returns when ctx
// is done. It need not set apiVersion. An error fails the whole review, so it is for what nobody could convert; it names
// the path and the remedy and quotes no field's value. What else it notices it notes in ReportFrom(ctx).
type Converter interface {
	Convert(ctx context.Context, obj *jsondoc.Object, from, to string) error
}

// Func makes a function a Converter.
type Func func(ctx context.Context, obj *jsondoc.Object, from, to string) error

// Convert implements Converter.
func (f Func) Convert(ctx context.Context, obj *jsondoc.Object, from, to string) error {
	return f(ctx, obj, from, to)
}

// Exact is a Func that reports as well whether converting back would give the object as it was. Lossless believes it, and need
// not try; of an object that the function is not sure of it reports false.
type Exact func(ctx context.Context, obj *jsondoc.Object, from, to string) (exact bool, err error)

// Convert implements Converter.
func (f Exact) Convert(ctx context.Context, obj *jsondoc.Object, from, to string) error {
	_, err := f(ctx, obj, from, to)
	return err
}

// A Completer is a Converter with something to add to an object that has come to the version that was asked for, on its last step
// to there: not on one to the hub that it goes on from.
type Completer interface {
	Complete(obj *jsondoc.Object, from, to string) error
}

// An Interruptible is a Converter that can say whether it looks at its context as it goes on, so that it returns soon after
// the deadline whatever the object is. Others may hang, so package review calls them on a goroutine of their own.
type Interruptible interface {
	Converter
	Interruptible() bool
}

// A Kind is a group and kind with all versions that objects are served or stored in, and what converts between them.
type Kind struct {
	schema.GroupKind
	// Hub is the version that the others convert to and from; usually the storage version.
	Hub string
	// Versions are all versions, the hub included, and those that are only stored any more.
	Versions []string
	// Schemas are those of the versions, for Lossless (see there) and for messages, or nil.
	Schemas map[string]*crdschema.Node
	// Converter converts between the hub and each other version.
	Converter Converter

	name string
}

// Name returns KIND.GROUP, as kubectl and metrics name it.
func (k *Kind) Name() string {
	if k.name == "" {
		return k.String()
	}
	return k.name
}

// Convert converts obj from one version to another: in one step where one of them is the hub, else in two over the hub. On an error
// obj is in no defined state, and with Schemas the error names no key of a map. It is safe for concurrent use on different objects.
func (k *Kind) Convert(ctx context.Context, obj *jsondoc.Object, from, to string) error {
	if from == to {
		return nil
	}
	if err := k.convert(ctx, obj, from, to); err != nil {
		return k.hidden(err)
	}
	return nil
}

func (k *Kind) convert(ctx context.Context, obj *jsondoc.Object, from, to string) error {
	if from == k.Hub || to == k.Hub {
		return k.last(ctx, obj, from, to)
	}
	if err := k.Converter.Convert(ctx, obj, from, k.Hub); err != nil {
		return err
	}
	hub := schema.GroupVersion{Group: k.Group, Version: k.Hub}
	if err := obj.Set(jsondoc.StringValue(hub.String()), "apiVersion"); err != nil {
		return err
	}
	return k.last(ctx, obj, k.Hub, to)
}

// last is the last step of a conversion.
func (k *Kind) last(ctx context.Context, obj *jsondoc.Object, from, to string) error {
	err := k.Converter.Convert(ctx, obj, from, to)
	if c, ok := k.Converter.(Completer); ok && err == nil {
		err = c.Complete(obj, from, to)
	}
	return err
}

// Interruptible reports whether a conversion returns soon after the deadline of its context. It is false for kinds in Go.
func (k *Kind) Interruptible() bool {
	c, ok := k.Converter.(Interruptible)
	return ok && c.Interruptible()
}

// Has reports whether version is one of the kind's.
func (k *Kind) Has(version string) bool { return slices.Contains(k.Versions, version) }
