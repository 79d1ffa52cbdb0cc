package generate

import (
	"math/rand/v2"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"github.com/crdconvert/webhookd/internal/laws/tree"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// limits are all validations that apply to one value: those of its place, and those of allOf and of
// a branch of anyOf and oneOf, there and around it.
type limits struct {
	all []*schema.ValueValidation
	// nested apply below the value as well.
	nested []*schema.NestedValueValidation
	// forbidden are the fields that a branch or a `not` excludes.
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
		chosen := &v.OneOf[r.IntN(len(v.OneOf))]
		l.addNested(r, chosen)
		for i := range v.OneOf {
			for _, name := range v.OneOf[i].Required {
				if !slices.Contains(chosen.Required, name) {
					l.forbidden = append(l.forbidden, name)
				}
			}
		}
	}
	if not := v.Not; not != nil {
		for _, branch := range append(slices.Clone(not.AnyOf), *not) {
			if len(branch.Required) == 1 {
				l.forbidden = append(l.forbidden, branch.Required...)
			}
		}
	}
}

func (l *limits) addNested(r *rand.Rand, nested *schema.NestedValueValidation) {
	l.add(r, &nested.ValueValidation)
	if nested.Items != nil || nested.Properties != nil || nested.AdditionalProperties != nil {
		l.nested = append(l.nested, nested)
	}
}

// below returns the validations that apply to a part of the value.
func (l *limits) below(of func(*schema.NestedValueValidation) *schema.NestedValueValidation) []*schema.NestedValueValidation {
	var below []*schema.NestedValueValidation
	for _, nested := range l.nested {
		if n := of(nested); n != nil {
			below = append(below, n)
		}
	}
	return below
}

// property returns the validations that apply to a property.
func (l *limits) property(name string) []*schema.NestedValueValidation {
	return l.below(func(v *schema.NestedValueValidation) *schema.NestedValueValidation {
		if property, found := v.Properties[name]; found {
			return &property
		}
		return nil
	})
}

func (l *limits) requires(name string) bool {
	return slices.ContainsFunc(l.all, func(v *schema.ValueValidation) bool { return slices.Contains(v.Required, name) })
}

func (l *limits) forbids(name string) bool { return slices.Contains(l.forbidden, name) }

// enum returns the values that all enums have, nil without an enum.
func (l *limits) enum() []any {
	var values []any
	for _, v := range l.all {
		if v.Enum == nil {
			continue
		}
		var common []any
		for _, value := range v.Enum {
			if values == nil || slices.ContainsFunc(values, func(other any) bool { return tree.Equal(value.Object, other) }) {
				common = append(common, value.Object)
			}
		}
		values = common
	}
	return values
}

// size returns the highest of lower bounds and the lowest of upper ones. The latter is at most what
// is given.
func (l *limits) size(of func(*schema.ValueValidation) (least, most *int64), most int) (int, int) {
	least := 0
	for _, v := range l.all {
		low, high := of(v)
		if low != nil {
			least = max(least, int(*low))
		}
		if high != nil {
			most = min(most, int(*high))
		}
	}
	return least, most
}

func (l *limits) format() string {
	for _, v := range l.all {
		if v.Format != "" {
			return v.Format
		}
	}
	return ""
}

func properties(v *schema.ValueValidation) (least, most *int64) {
	return v.MinProperties, v.MaxProperties
}

func length(v *schema.ValueValidation) (least, most *int64) { return v.MinLength, v.MaxLength }
