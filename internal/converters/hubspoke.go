package converters

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// A Spoke is a version of a kind whose Go type converts to and from the Go type H of the hub. NewSpoke makes one.
type Spoke[H any] struct {
	version        string
	toHub, fromHub func(ctx context.Context, obj *jsondoc.Object, from, to string) error
}

// typed is the pointer to a Go type of a custom resource: a struct with an embedded metav1.ObjectMeta.
type typed[T any] interface {
	*T
	metav1.Object
}

// NewSpoke returns the spoke version, whose objects toHub and fromHub convert. Both fill dst, which is empty but for its
// metadata: that is a copy of src's, so a function need not copy it, and of what a function does to it only labels and
// annotations count. Both have the obligations of a Converter: a field that src does not have, dst must not get.
//
// The functions see what the Go types know; see HubSpoke for the rest.
func NewSpoke[S, H any, PS typed[S], PH typed[H]](
	version string,
	toHub func(ctx context.Context, src PS, dst PH) error,
	fromHub func(ctx context.Context, src PH, dst PS) error,
) Spoke[H] {
	return Spoke[H]{version: version, toHub: typedFunc(toHub), fromHub: typedFunc(fromHub)}
}

// HubSpoke returns a kind that converts between Go types: each spoke to the hub and back.
//
// The text of the object is what is converted; the Go types only say what changes in it. A value that source and target
// have at the same path, and that the functions left the same, keeps its text: 1.10, 1000m, the order of names.
//
// What the source's Go type does not represent survives: fields that it lacks, nulls, and the zero values that omitempty
// drops. It stays at its path where the target's Go type knows the place, and is else kept in an annotation until the
// object comes back. The conversion fails, naming the paths, where that is not possible: the target's Go type would read
// an unknown field as its own; an unknown field is in an element of a list that was moved or changed; a number that the
// Go type cannot hold exactly was moved. In elements of a list that was moved, nulls and zero values are lost: they are
// the same to the Go type. Where that matters make them pointers.
//
// Stashes (SaveStash) of the version that is converted to are removed from the result, as the function has used them;
// those of the version that is converted from are removed before the function runs.
func HubSpoke[H any](gk schema.GroupKind, hub string, spokes ...Spoke[H]) Kind {
	c := hubSpoke[H]{hub: hub, spokes: make(map[string]Spoke[H], len(spokes))}
	versions := append(make([]string, 0, 1+len(spokes)), hub)
	for _, s := range spokes {
		c.spokes[s.version] = s
		versions = append(versions, s.version)
	}
	return Kind{GroupKind: gk, Hub: hub, Versions: versions, Converter: c}
}

type hubSpoke[H any] struct {
	hub    string
	spokes map[string]Spoke[H]
}

// Convert implements Converter.
func (c hubSpoke[H]) Convert(ctx context.Context, obj *jsondoc.Object, from, to string) error {
	if s, found := c.spokes[from]; found && to == c.hub {
		return s.toHub(ctx, obj, from, to)
	}
	if s, found := c.spokes[to]; found && from == c.hub {
		return s.fromHub(ctx, obj, from, to)
	}
	return &jsondoc.PathError{Problem: fmt.Sprintf("no Go types convert %s to %s, add a spoke", from, to), Path: ".apiVersion"}
}
