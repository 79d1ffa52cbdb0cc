package conversion

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// A Spoke is a version of a kind whose Go type converts to and from the hub's Go type H. [NewSpoke]
// makes one.
type Spoke[H any] struct {
	version        string
	of             goType
	hub            goType
	toHub, toSpoke func(ctx context.Context, src, dst metav1.Object) error
}

// typed is a pointer to the Go type of a custom resource: a struct that embeds metav1.ObjectMeta.
type typed[T any] interface {
	*T
	metav1.Object
}

// NewSpoke returns the spoke version, whose objects toHub and toSpoke convert. S is the Go type of
// the version and H that of the hub, both structs that embed metav1.ObjectMeta. Both functions fill
// dst, which has nothing but a copy of src's metadata. This has no managedFields, which no
// conversion may change. Of the changes to metadata only labels and annotations count. Both have
// the obligations of a [Converter]: they must not set a field that src does not have.
//
// It panics without a version or a function, and for other Go types.
func NewSpoke[S, H any, PS typed[S], PH typed[H]](
	version string,
	toHub func(ctx context.Context, src PS, dst PH) error,
	toSpoke func(ctx context.Context, src PH, dst PS) error,
) Spoke[H] {
	if version == "" || toHub == nil || toSpoke == nil {
		panic("conversion.NewSpoke: no version, no toHub or no toSpoke")
	}
	return Spoke[H]{
		version: version,
		of:      goTypeOf("conversion.NewSpoke", func() metav1.Object { return PS(new(S)) }),
		hub:     goTypeOf("conversion.NewSpoke", func() metav1.Object { return PH(new(H)) }),
		toHub:   untyped(toHub),
		toSpoke: untyped(toSpoke),
	}
}

// untyped returns a function over the types that the given one has.
func untyped[S, T metav1.Object](fn func(context.Context, S, T) error) func(context.Context, metav1.Object, metav1.Object) error {
	return func(ctx context.Context, src, dst metav1.Object) error {
		return fn(ctx, src.(S), dst.(T)) //nolint:forcetypeassert // typedVersions makes them of these types
	}
}

// HubSpoke returns a Converter between Go types: each spoke to the hub and back. Make it lossless
// with [Lossless], since Go types lose nulls, zero values with omitempty, and whatever the
// functions forget.
//
// It converts the text of the object; the Go types only say what changes. A value that source and
// target have at the same path, and that the functions leave the same, keeps its text (1.10, 1000m,
// the order of names). So does a field that neither Go type knows, because the types may be older
// than the CRD. Conversion fails only if the object does not fit the Go type.
//
// It panics without a hub or spokes, for a spoke that NewSpoke has not made, and if a version is
// there twice. [Lossless] fails if there is no spoke for a version of the CRD.
func HubSpoke[H any](hub string, spokes ...Spoke[H]) Converter {
	if hub == "" || len(spokes) == 0 {
		panic("conversion.HubSpoke: no hub or no spokes")
	}
	c := &typedVersions{types: map[string]goType{hub: spokes[0].hub}, steps: make(map[direction]step, 2*len(spokes))}
	for i, s := range spokes {
		if s.toHub == nil {
			panic(fmt.Sprintf("conversion.HubSpoke: spokes[%d] is empty, make it with NewSpoke", i))
		}
		if _, twice := c.types[s.version]; twice {
			panic("conversion.HubSpoke: two Go types for the version " + s.version)
		}
		c.types[s.version] = s.of
		c.steps[direction{s.version, hub}], c.steps[direction{hub, s.version}] = s.toHub, s.toSpoke
	}
	return WithHub(hub, c)
}

// FromTypes is [HubSpoke] for types that are known only when the program runs, such as those of a
// scheme. For each version, types has a function that returns a pointer to a new object. The
// function convert fills dst from src; one of them is of the hub's type. It has the obligations of
// [NewSpoke]'s functions.
//
// It panics without a hub among the types, another version or a function, and for a type that is
// not a struct with an embedded metav1.ObjectMeta.
func FromTypes(
	hub string, types map[string]func() metav1.Object, convert func(ctx context.Context, src, dst metav1.Object) error,
) Converter {
	if types[hub] == nil || len(types) < 2 || convert == nil {
		panic("conversion.FromTypes: no hub among the types, no other version, or no function")
	}
	c := &typedVersions{types: make(map[string]goType, len(types)), steps: make(map[direction]step, 2*len(types))}
	for _, version := range slices.Sorted(maps.Keys(types)) {
		if types[version] == nil {
			panic("conversion.FromTypes: no function for the version " + version)
		}
		c.types[version] = goTypeOf("conversion.FromTypes: "+version, types[version])
		c.steps[direction{version, hub}], c.steps[direction{hub, version}] = convert, convert
	}
	return WithHub(hub, c)
}

// A goType is the Go type of a version.
type goType struct {
	object func() metav1.Object // returns a new one
	json   *jsonType
}

// goTypeOf panics for a type that is not that of a custom resource.
func goTypeOf(argument string, object func() metav1.Object) goType {
	obj := object()
	if v := reflect.ValueOf(obj); !v.IsValid() || v.Kind() != reflect.Pointer || v.IsNil() || objectMeta(obj) == nil {
		panic(fmt.Sprintf("%s: not a pointer to a struct that embeds metav1.ObjectMeta: %T", argument, obj))
	}
	t := reflect.TypeOf(obj).Elem()
	return goType{object, jsonTypeOf(t, map[reflect.Type]*jsonType{})}
}

// coveredBy returns the description of the type with the fields that a schema does not cover.
func (t goType) coveredBy(schema *crdschema.Node) *jsonType {
	j := jsonTypeOf(reflect.TypeOf(t.object()).Elem(), map[reflect.Type]*jsonType{})
	j.cover(schema, true)
	return j
}

// lacking returns an error for versions that have no Go type, or no way to and from the hub.
func (c *typedVersions) lacking(hub string, versions []string) error {
	var problems []error
	for _, v := range versions {
		if v != hub && c.steps[direction{v, hub}] == nil {
			problems = append(problems, fmt.Errorf("no Go types convert %s to %s, add a spoke", v, hub))
		}
	}
	return errors.Join(problems...)
}

type step func(ctx context.Context, src, dst metav1.Object) error
