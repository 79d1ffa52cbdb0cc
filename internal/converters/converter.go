package converters

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// A Converter rewrites an object from one version of its kind to another, in place.
//
// It is deterministic, free of I/O and safe for concurrent use. It takes fragments, since
// server-side apply sends objects without spec or metadata and with null anywhere
// (kubernetes#117356). It changes no metadata but labels and annotations, keeps no reference to obj
// or a part of it, starts no goroutines, and returns when ctx is done. It need not set apiVersion.
// An error fails the whole review, so it is only for objects that cannot be converted at all. It
// names the path and the remedy, and quotes no field's value. Other observations go into
// ReportFrom(ctx).
type Converter interface {
	Convert(ctx context.Context, obj *jsondoc.Object, from, to string) error
}

// Func makes a function a Converter.
type Func func(ctx context.Context, obj *jsondoc.Object, from, to string) error

// Convert implements Converter.
func (f Func) Convert(ctx context.Context, obj *jsondoc.Object, from, to string) error {
	return f(ctx, obj, from, to)
}

// An Interruptible is a Converter that can say whether it looks at its context while it works, and
// so returns soon after the deadline whatever the object is. Other converters may hang, so package
// review calls them on a goroutine of their own.
type Interruptible interface {
	Converter
	Interruptible() bool
}

// A Kind is a group and kind with all versions in which objects are served or stored, and the
// converter between them.
type Kind struct {
	schema.GroupKind
	// Hub is the version that the others convert to and from; usually the storage version.
	Hub string
	// Versions are all versions, including the hub and versions that are stored but no longer
	// served.
	Versions []string
	// Schemas of the versions, for error messages, or nil.
	Schemas map[string]*crdschema.Node
	// Converter converts between the hub and each other version.
	Converter Converter
	// Rules identify the rules that the converter follows, if there are some. Transition is nil
	// unless other replicas may have other ones.
	Rules      string
	Transition *Transition

	name string
}

// Name returns KIND.GROUP, as kubectl and metrics name it.
func (k *Kind) Name() string {
	if k.name == "" {
		return k.String()
	}
	return k.name
}

// Convert converts obj between two versions: in one step if one of them is the hub, otherwise in
// two steps over the hub. After an error the state of obj is undefined; with Schemas the error
// names no map key. Convert is safe for concurrent use on different objects.
func (k *Kind) Convert(ctx context.Context, obj *jsondoc.Object, from, to string) error {
	if from == to {
		return nil
	}
	if err := k.Transition.by(k, obj, from, to).convert(ctx, obj, from, to); err != nil {
		return k.hidden(err)
	}
	return nil
}

func (k *Kind) convert(ctx context.Context, obj *jsondoc.Object, from, to string) error {
	if from == k.Hub || to == k.Hub {
		return k.Converter.Convert(ctx, obj, from, to)
	}
	if err := k.Converter.Convert(ctx, obj, from, k.Hub); err != nil {
		return err
	}
	hub := schema.GroupVersion{Group: k.Group, Version: k.Hub}
	if err := obj.Set(jsondoc.StringValue(hub.String()), "apiVersion"); err != nil {
		return err
	}
	return k.Converter.Convert(ctx, obj, k.Hub, to)
}

// Interruptible reports whether a conversion returns soon after the deadline of its context. It is
// false for kinds in Go.
func (k *Kind) Interruptible() bool {
	c, ok := k.Converter.(Interruptible)
	others := k.Transition != nil && slices.ContainsFunc(k.Transition.Before, func(b *Kind) bool { return !b.Interruptible() })
	return ok && c.Interruptible() && !others
}

// Has reports whether version is one of the kind's.
func (k *Kind) Has(version string) bool { return slices.Contains(k.Versions, version) }
