package roundtrip

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"github.com/crdconvert/webhookd/internal/crdschema"
)

// A maker makes one object.
type maker struct {
	*Generator
	r *rand.Rand
	// presence is how probable it is that what is optional is there.
	presence float64
	// zero makes values zero, and lists and maps empty; huge makes them large.
	zero, huge bool
	// budget is how many values the object may still get; below 0 only what is required is made.
	budget int
}

func newMaker(g *Generator, r *rand.Rand) *maker {
	m := &maker{Generator: g, r: r, presence: 0.5, budget: 200}
	switch n := r.IntN(100); {
	case n < 15:
		m.presence = 0.1
	case n < 30:
		m.presence = 1
	case n < 40:
		m.presence, m.zero = 0.7, true
	case n < 43: // few, as most of the time goes into them
		m.presence, m.huge, m.budget = 0.8, true, 800
	case n < 70:
		m.presence = 0.8
	}
	return m
}

// chance is true one time in n.
func (m *maker) chance(n int) bool { return m.r.IntN(n) == 0 }

// root makes the object.
func (m *maker) root() map[string]any {
	gvk := m.version.GroupVersionKind()
	l := limitsOf(m.r, m.version.Root, nil)
	obj := map[string]any{}
	for _, name := range m.version.Root.Properties() {
		switch name {
		case "apiVersion":
			obj[name] = gvk.GroupVersion().String()
		case "kind":
			obj[name] = gvk.Kind
		case "metadata":
			obj[name] = m.metadata(m.version.Root.Property(name))
		default:
			// Most of what there is to convert is below: the top level is mostly there.
			if l.requires(name) || !l.forbids(name) && (m.r.Float64() < m.presence || m.chance(3)) {
				obj[name] = m.value(m.version.Root.Property(name), l.property(name))
			}
		}
	}
	m.unknown(m.version.Root, obj)
	return obj
}

// value makes the value of a place, with the validations around it.
func (m *maker) value(n *crdschema.Node, around []*schema.NestedValueValidation) any {
	m.budget--
	if n.Nullable() && m.chance(8) {
		return nil
	}
	if hints := m.hints.values[n]; len(hints) > 0 && m.r.IntN(2) == 0 {
		return hints[m.r.IntN(len(hints))]
	}
	if value := n.Structural().Default.Object; value != nil && m.chance(8) {
		return value
	}
	l := limitsOf(m.r, n, around)
	if values, found := l.enum(); found && len(values) > 0 {
		return values[m.r.IntN(len(values))]
	}
	switch n.Kind() {
	case crdschema.Object:
		return m.object(n, &l)
	case crdschema.Map:
		return m.mapping(n, &l)
	case crdschema.Array:
		return m.list(n, &l)
	case crdschema.String:
		return m.str(&l)
	case crdschema.Integer:
		return m.integer(&l)
	case crdschema.Number:
		return m.number(&l)
	case crdschema.Boolean:
		return !m.zero && m.r.IntN(3) > 0
	case crdschema.IntOrString:
		if m.r.IntN(2) == 0 {
			return m.integer(&l)
		}
		return m.str(&l)
	case crdschema.Any, crdschema.None:
	}
	if len(n.Properties()) > 0 {
		return m.object(n, &l)
	}
	return m.anything(2)
}

// object makes an object with properties.
func (m *maker) object(n *crdschema.Node, l *limits) map[string]any {
	obj := map[string]any{}
	names := n.Properties()
	for _, name := range names {
		switch {
		case n.Embedded() && name == "metadata":
			if m.r.Float64() < m.presence {
				obj[name] = m.metadata(n.Property(name))
			}
		case n.Embedded() && name == "apiVersion":
			obj[name] = pick(m.r, "v1", "apps/v1", "example.com/v1beta1")
		case n.Embedded() && name == "kind":
			obj[name] = pick(m.r, "ConfigMap", "Deployment", "Thing")
		case n.IsRequired(name) || l.requires(name),
			m.budget > 0 && !l.forbids(name) && m.r.Float64() < m.presence:
			obj[name] = m.value(n.Property(name), l.property(name))
		}
	}
	m.unknown(n, obj)
	m.count(n, l, obj)
	return obj
}

// count keeps to minProperties and maxProperties.
func (m *maker) count(n *crdschema.Node, l *limits, obj map[string]any) {
	least, most := l.least(minProperties), l.most(maxProperties, len(obj))
	names := n.Properties()
	for _, i := range m.r.Perm(len(names)) {
		name := names[i]
		_, has := obj[name]
		switch {
		case has && len(obj) > most && !n.IsRequired(name) && !l.requires(name):
			delete(obj, name)
		case !has && len(obj) < least && !l.forbids(name):
			obj[name] = m.value(n.Property(name), l.property(name))
		}
	}
}

// unknown adds fields that the schema does not know, where they are kept.
func (m *maker) unknown(n *crdschema.Node, obj map[string]any) {
	if !n.PreservesUnknown() || m.zero {
		return
	}
	for _, hint := range m.hints.names[n] {
		if m.r.IntN(2) == 0 {
			obj[hint.name] = m.hinted(hint, nil)
		}
	}
	for m.budget > 0 && m.r.Float64() < m.presence/2 {
		obj[pick(m.r, "unknown", "x/y", "a.b", "extra", "", "spec", "items", "é")] = m.anything(2)
	}
}

// hinted makes the value of a name that is a hint.
func (m *maker) hinted(hint namedHint, otherwise func() any) any {
	if len(hint.values) > 0 && (otherwise == nil || m.r.IntN(4) > 0) {
		return hint.values[m.r.IntN(len(hint.values))]
	}
	if otherwise == nil {
		return m.anything(1)
	}
	return otherwise()
}

// mapping makes a map.
func (m *maker) mapping(n *crdschema.Node, l *limits) map[string]any {
	least := l.least(minProperties)
	most := max(least, l.most(maxProperties, least+m.many()))
	obj, around := map[string]any{}, l.values()
	value := func() any {
		if n.Values().Kind() == crdschema.Any && !n.Values().PreservesUnknown() && m.r.IntN(2) == 0 {
			return m.scalar()
		}
		return m.value(n.Values(), around)
	}
	for _, hint := range m.hints.names[n] {
		if len(obj) < most && m.r.IntN(2) == 0 {
			obj[hint.name] = m.hinted(hint, value)
		}
	}
	for i := 0; len(obj) < most && i < 4*most+4; i++ {
		if len(obj) >= least && m.budget < 0 {
			break
		}
		name := pick(m.r,
			"a", "b", "name", "key", "x/y", "example.com/key", "a.b", "with space", "Upper", "é", "0", "-", "null", "[0]",
		)
		if m.huge || len(obj) < least {
			name += fmt.Sprint(i)
		}
		obj[name] = value()
	}
	return obj
}

// many tells how many elements something gets.
func (m *maker) many() int {
	switch {
	case m.zero || m.budget < 0:
		return 0
	case m.huge:
		return m.r.IntN(60)
	case m.presence < 0.2:
		return m.r.IntN(2)
	}
	return m.r.IntN(4)
}

// list makes a list: of distinct values where it is a set, with distinct keys where it is a map.
func (m *maker) list(n *crdschema.Node, l *limits) []any {
	least := l.least(minItems)
	most := max(least, l.most(maxItems, least+m.many()))
	items, around, seen := []any{}, l.items(), map[string]bool{}
	for i := 0; len(items) < most && i < 4*most+4; i++ {
		if len(items) >= least && m.budget < 0 {
			break
		}
		item := m.value(n.Items(), around)
		if key := identity(n, item); key != "" {
			if seen[key] {
				continue
			}
			seen[key] = true
		}
		items = append(items, item)
	}
	return items
}

// identity tells elements of sets and maps apart; elements of other lists have none.
func identity(n *crdschema.Node, item any) string {
	switch n.ListType() {
	case "set":
		return string(encode(item))
	case "map":
		obj, _ := item.(map[string]any)
		var key strings.Builder
		for _, name := range n.ListMapKeys() {
			value, found := obj[name]
			if !found {
				value = n.Items().Property(name).Structural().Default.Object
			}
			key.Write(encode(value))
		}
		return key.String()
	}
	return ""
}

func minProperties(v *schema.ValueValidation) *int64 { return v.MinProperties }
func maxProperties(v *schema.ValueValidation) *int64 { return v.MaxProperties }
func minItems(v *schema.ValueValidation) *int64      { return v.MinItems }
func maxItems(v *schema.ValueValidation) *int64      { return v.MaxItems }
func minLength(v *schema.ValueValidation) *int64     { return v.MinLength }
func maxLength(v *schema.ValueValidation) *int64     { return v.MaxLength }
