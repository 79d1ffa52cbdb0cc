package converters

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
)

// A Registry finds the Kind of an object. It is immutable, so it is safe for concurrent use. To
// change it, replace it as a whole.
type Registry struct {
	kinds map[schema.GroupKind]*Kind
}

// NewRegistry returns a registry of kinds. Its error has all problems at once: two kinds with the
// same group and kind, a missing converter, or invalid versions or hub.
func NewRegistry(kinds ...Kind) (*Registry, error) {
	r := &Registry{kinds: make(map[schema.GroupKind]*Kind, len(kinds))}
	var problems []error
	for _, k := range kinds {
		if _, taken := r.kinds[k.GroupKind]; taken {
			problems = append(problems, fmt.Errorf("two converters for one kind, keep one: %s", k.GroupKind))
			continue
		}
		problems = append(problems, k.problems()...)
		k.Versions, k.name = slices.Clone(k.Versions), k.String()
		r.kinds[k.GroupKind] = &k
	}
	if len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	return r, nil
}

// Lookup returns the kind of a group and kind, or nil if no converter is registered for it.
func (r *Registry) Lookup(gk schema.GroupKind) *Kind { return r.kinds[gk] }

// Namesakes returns the names of the kinds with the same kind in other groups, in order.
func (r *Registry) Namesakes(gk schema.GroupKind) []string {
	var names []string
	for _, k := range r.Kinds() {
		if k.Kind == gk.Kind && k.Group != gk.Group {
			names = append(names, k.Name())
		}
	}
	return names
}

// Kinds returns the kinds ordered by name. Callers must not change them.
func (r *Registry) Kinds() []*Kind {
	return slices.SortedFunc(maps.Values(r.kinds), func(a, b *Kind) int { return strings.Compare(a.Name(), b.Name()) })
}

func (k *Kind) problems() []error {
	var problems []error
	report := func(format string, args ...any) {
		problems = append(problems, fmt.Errorf(format+": %s", append(args, k.GroupKind)...))
	}
	if k.Group == "" || k.Kind == "" {
		report("kind without a group or a name, set both")
	}
	if k.Converter == nil {
		report("kind without a converter, set Converter")
	}
	if len(k.Versions) < 2 {
		report("kind with fewer than two versions, list all that are served or stored")
	}
	if !k.Has(k.Hub) {
		report("hub %q is not one of the versions, add it to Versions", k.Hub)
	}
	for i, v := range k.Versions {
		if len(validation.IsDNS1035Label(v)) > 0 {
			report("version %q is not a DNS label, write it as in the CRD", v)
		}
		if slices.Contains(k.Versions[:i], v) {
			report("version %q is listed twice, remove one", v)
		}
	}
	return problems
}
