package conversion

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crdconvert/webhookd/internal/converters"
)

// A Registry finds the Kind of an object. It is immutable, so it is safe for concurrent use. To
// change it, replace it as a whole. The zero Registry has no kinds.
type Registry struct{ kinds converters.Registry }

// NewRegistry returns a registry of kinds. Its error has all problems at once: two entries for one
// kind, or a kind without a group, a converter or a second version, whose hub is none of its
// versions, or whose Go types are not those of its versions.
func NewRegistry(kinds ...Kind) (*Registry, error) {
	all := make([]converters.Kind, 0, len(kinds))
	var problems []error
	for _, k := range kinds {
		all = append(all, k.internal())
		if typed := typedOf(k.Converter); typed != nil {
			if err := typed.lacking(k.Hub, k.Versions); err != nil {
				problems = append(problems, fmt.Errorf("%s: %w", k.GroupKind, err))
			}
		}
	}
	r, err := converters.NewRegistry(all...)
	if err := errors.Join(append(problems, err)...); err != nil {
		return nil, err
	}
	return &Registry{*r}, nil
}

// Kinds returns the kinds, ordered by name (KIND.GROUP).
func (r *Registry) Kinds() []Kind {
	all := r.kinds.Kinds()
	kinds := make([]Kind, 0, len(all))
	for _, k := range all {
		kinds = append(kinds, Kind{k.GroupKind, k.Hub, k.Versions, &made{*k}})
	}
	return kinds
}

// Lookup returns the kind of a group and kind, and whether it is registered.
func (r *Registry) Lookup(gk schema.GroupKind) (kind Kind, found bool) {
	k := r.kinds.Lookup(gk)
	if k == nil {
		return Kind{}, false
	}
	return Kind{k.GroupKind, k.Hub, k.Versions, &made{*k}}, true
}

// Convert converts an object to a version of its kind, as [Kind.Convert] does. It fails if the kind
// is not registered.
func (r *Registry) Convert(ctx context.Context, obj *Object, to string) error {
	gvk, err := kindOf(obj)
	if err != nil {
		return err
	}
	k, found := r.Lookup(gvk.GroupKind())
	if !found {
		return obj.Errorf("is of a kind that is not registered, register it: %s", gvk.GroupKind())
	}
	return k.Convert(ctx, obj, to)
}
