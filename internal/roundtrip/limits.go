package roundtrip

import (
	"math/rand/v2"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"github.com/crdconvert/webhookd/internal/crdschema"
)

// limits are all validations that hold for one value: those of its place, and those of allOf, anyOf and oneOf there and
// around it, of which a branch was chosen.
type limits struct {
	all []*schema.ValueValidation
	// nested go on below the value.
	nested []*schema.NestedValueValidation
	// forbidden are the fields that a branch or a `not` does not want.
	forbidden []string
}

// limitsOf collects the limits of a value.
func limitsOf(r *rand.Rand, n *crdschema.Node, around []*schema.NestedValueValidation) limits {
	var l limits
	if own := n.Structural().ValueValidation; own != nil {
		l.add(r, own)
	}
	for _, nested := range around {
		l.addNested(r, nested)
	}
	return l
}

func (l *limits) add(r *rand.Rand, v *schema.ValueValidation) {
	l.all = append(l.all, v)
	for i := range v.AllOf {
		l.addNested(r, &v.AllOf[i])
	}
	if len(v.AnyOf) > 0 {
		l.addNested(r, &v.AnyOf[r.IntN(len(v.AnyOf))])
	}
	if len(v.OneOf) > 0 {
		chosen := r.IntN(len(v.OneOf))
		l.addNested(r, &v.OneOf[chosen])
		for i := range v.OneOf {
			for _, name := range v.OneOf[i].Required {
				if !slices.Contains(v.OneOf[chosen].Required, name) {
					l.forbidden = append(l.forbidden, name)
				}
			}
		}
	}
	if not := v.Not; not != nil {
		l.forbid(not)
		for i := range not.AnyOf {
			l.forbid(&not.AnyOf[i])
		}
	}
}

// forbid keeps to a `not: {required: [a]}`.
func (l *limits) forbid(not *schema.NestedValueValidation) {
	if len(not.Required) == 1 {
		l.forbidden = append(l.forbidden, not.Required[0])
	}
}

func (l *limits) addNested(r *rand.Rand, nested *schema.NestedValueValidation) {
	l.add(r, &nested.ValueValidation)
	if nested.Items != nil || nested.Properties != nil || nested.AdditionalProperties != nil {
		l.nested = append(l.nested, nested)
	}
}

// property returns what goes on for a property.
func (l *limits) property(name string) []*schema.NestedValueValidation {
	var below []*schema.NestedValueValidation
	for _, nested := range l.nested {
		if property, found := nested.Properties[name]; found {
			below = append(below, &property)
		}
	}
	return below
}

// values returns what goes on for the values of a map.
func (l *limits) values() []*schema.NestedValueValidation {
	var below []*schema.NestedValueValidation
	for _, nested := range l.nested {
		if nested.AdditionalProperties != nil {
			below = append(below, nested.AdditionalProperties)
		}
	}
	return below
}

// items returns what goes on for the elements of a list.
func (l *limits) items() []*schema.NestedValueValidation {
	var below []*schema.NestedValueValidation
	for _, nested := range l.nested {
		if nested.Items != nil {
			below = append(below, nested.Items)
		}
	}
	return below
}

func (l *limits) requires(name string) bool {
	return slices.ContainsFunc(l.all, func(v *schema.ValueValidation) bool { return slices.Contains(v.Required, name) })
}

func (l *limits) forbids(name string) bool { return slices.Contains(l.forbidden, name) }

// enum returns the values that all enums have; no enum is false.
func (l *limits) enum() ([]any, bool) {
	var values []any
	found := false
	for _, v := range l.all {
		if v.Enum == nil {
			continue
		}
		if !found {
			found = true
			for _, value := range v.Enum {
				values = append(values, value.Object)
			}
			continue
		}
		values = slices.DeleteFunc(values, func(value any) bool {
			return !slices.ContainsFunc(v.Enum, func(other schema.JSON) bool { return equal(value, other.Object) })
		})
	}
	return values, found
}

// least returns the highest of lower limits of one kind, or 0.
func (l *limits) least(of func(*schema.ValueValidation) *int64) int {
	least := 0
	for _, v := range l.all {
		if bound := of(v); bound != nil {
			least = max(least, int(*bound))
		}
	}
	return least
}

// most returns the lowest of upper limits of one kind, or what is given.
func (l *limits) most(of func(*schema.ValueValidation) *int64, otherwise int) int {
	for _, v := range l.all {
		if bound := of(v); bound != nil && int(*bound) < otherwise {
			otherwise = int(*bound)
		}
	}
	return otherwise
}

func (l *limits) format() string {
	for _, v := range l.all {
		if v.Format != "" {
			return v.Format
		}
	}
	return ""
}
