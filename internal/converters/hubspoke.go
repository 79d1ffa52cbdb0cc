package converters

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crdconvert/webhookd/internal/crdschema"
	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// A Spoke is a version of a kind whose Go type converts to and from the hub's Go type H. NewSpoke
// makes one.
type Spoke[H any] struct {
	version        string
	schema         *crdschema.Node
	toHub, toSpoke textFunc
}

// typed is a pointer to the Go type of a custom resource: a struct that embeds metav1.ObjectMeta.
type typed[T any] interface {
	*T
	metav1.Object
}

// NewSpoke returns the spoke version, whose objects toHub and toSpoke convert. Both fill dst, which
// has nothing but a copy of src's metadata. Of their changes to metadata only labels and
// annotations count. Both have the obligations of a Converter: they must not set a field that src
// does not have.
//
// The functions see what the Go types know; HubSpoke takes care of the rest.
func NewSpoke[S, H any, PS typed[S], PH typed[H]](
	version string,
	toHub func(ctx context.Context, src PS, dst PH) error,
	toSpoke func(ctx context.Context, src PH, dst PS) error,
) Spoke[H] {
	return Spoke[H]{
		version: version, schema: SchemaOf[S](), toHub: typedFunc(toHub), toSpoke: typedFunc(toSpoke),
	}
}

// HubSpoke returns a lossless kind that converts between Go types: each spoke to the hub and back.
//
// It converts the text of the object; the Go types only say what changes. A value that source and
// target have at the same path, and that the functions leave the same, keeps its text (1.10, 1000m,
// the order of names). So does a field that neither Go type knows, because the types may be older
// than the CRD.
//
// As with Lossless, whatever the functions do not give back becomes a kept value: what the target's
// Go type cannot say; nulls and zero values that omitempty drops, if they move; and unknown fields
// that only one of the types would take for its own. Conversion fails only if the object does not
// fit the Go type.
func HubSpoke[H any](gk schema.GroupKind, hub string, spokes ...Spoke[H]) Kind {
	schemas := map[string]*crdschema.Node{hub: SchemaOf[H]()}
	versions := append(make([]string, 0, 1+len(spokes)), hub)
	steps := make(map[direction]textFunc, 2*len(spokes))
	for _, s := range spokes {
		schemas[s.version], versions = s.schema, append(versions, s.version)
		steps[direction{s.version, hub}], steps[direction{hub, s.version}] = s.toHub, s.toSpoke
	}
	convert := func(ctx context.Context, obj *jsondoc.Object, from, to string) error {
		step := steps[direction{from, to}]
		if step == nil {
			return &jsondoc.PathError{Problem: fmt.Sprintf("no Go types convert %s to %s, add a spoke", from, to), Path: ".apiVersion"}
		}
		return step(ctx, obj, schemas[from], schemas[to])
	}
	return Lossless(Kind{GroupKind: gk, Hub: hub, Versions: versions, Schemas: schemas, Converter: Func(convert)})
}
