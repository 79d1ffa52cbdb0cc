package conversion

import (
	"context"
	"errors"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crdconvert/webhookd/internal/converters"
)

// A Kind is a group and kind with all versions in which objects are served or stored, and the
// converter between them. [Lossless] makes one. A Kind that is written out loses what its converter
// loses. It is safe for concurrent use as long as nothing changes it.
type Kind struct {
	schema.GroupKind
	// Hub is the version that the others convert to and from. A conversion between two others goes
	// over the hub.
	Hub string
	// Versions are all versions, including the hub and versions that are stored but no longer
	// served.
	Versions []string
	// Converter converts between the hub and each other version.
	Converter Converter
}

// Convert converts an object to a version of the kind, as the webhook does, and sets its
// apiVersion. It is for tests and tools. It fails if the object is not of the kind, and as the
// converter does. After an error the object is in an undefined state.
func (k Kind) Convert(ctx context.Context, obj *Object, to string) error {
	from, err := k.versionOf(obj)
	if err != nil {
		return err
	}
	if !slices.Contains(k.Versions, to) {
		return obj.Errorf("cannot be converted to %s, which is not a version of %s", to, k.GroupKind)
	}
	if isMissing(k.Converter) {
		return obj.Errorf("cannot be converted, since the Kind has no Converter")
	}
	in, doc := k.internal(), obj.document()
	if err := in.Convert(ctx, doc, from, to); err != nil {
		return err
	}
	return setVersion(doc, to)
}

// versionOf returns the version of an object of the kind.
func (k Kind) versionOf(obj *Object) (string, error) {
	gvk, err := kindOf(obj)
	if err == nil && (gvk.GroupKind() != k.GroupKind || !slices.Contains(k.Versions, gvk.Version)) {
		err = obj.Errorf("is not an object of %s, set its apiVersion and kind", k.GroupKind)
	}
	return gvk.Version, err
}

func kindOf(obj *Object) (schema.GroupVersionKind, error) {
	if obj == nil {
		return schema.GroupVersionKind{}, errors.New("no object to convert, parse one with ParseObject")
	}
	apiVersion, errVersion := obj.Get("apiVersion")
	kind, errKind := obj.Get("kind")
	if err := errors.Join(errVersion, errKind); err != nil {
		return schema.GroupVersionKind{}, err
	}
	version, _ := apiVersion.Text()
	name, _ := kind.Text()
	return schema.FromAPIVersionAndKind(version, name), nil
}

// Must returns the kind, or panics if there is an error. It is for kinds that a program has from
// its start:
//
//	kind := conversion.Must(conversion.Lossless(converter, crd))
func Must(kind Kind, err error) Kind {
	if err != nil {
		panic(err)
	}
	return kind
}

// internal returns the kind as the rest of webhookd has it.
func (k Kind) internal() converters.Kind {
	in := converters.Kind{GroupKind: k.GroupKind, Hub: k.Hub, Versions: k.Versions}
	if isMissing(k.Converter) {
		return in
	}
	switch c := k.Converter.(type) {
	case interface{ Internal() converters.Kind }:
		made := c.Internal()
		in.Converter, in.Schemas = made.Converter, made.Schemas
	default:
		in.Converter = onText(c)
	}
	return in
}

// made is the Converter of a kind that this package has made. Its method Internal is how the rest
// of webhookd finds out what is in it.
type made struct{ kind converters.Kind }

// Internal returns the kind.
func (m *made) Internal() converters.Kind { return m.kind }

// Convert implements Converter.
func (m *made) Convert(ctx context.Context, obj *Object, from, to string) error {
	return m.kind.Converter.Convert(ctx, obj.document(), from, to)
}
