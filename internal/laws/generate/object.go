package generate

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"github.com/crdconvert/webhookd/internal/laws/tree"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// A builder makes one object.
type builder struct {
	*Generator
	r *rand.Rand
	// presence is how probable it is that what is optional is there.
	presence float64
	// zero makes values zero, and lists and maps empty; huge makes them large.
	zero, huge bool
	// budget is how many values the object may still get; below 0 only what is required is made.
	budget int
}

func newBuilder(g *Generator, r *rand.Rand) *builder {
	m := &builder{Generator: g, r: r, presence: 0.5, budget: 200}
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
func (m *builder) chance(n int) bool { return m.r.IntN(n) == 0 }

// likely is true as often as what is optional is there.
func (m *builder) likely() bool { return m.r.Float64() < m.presence }

// value makes the value of a place, with the validations around it.
func (m *builder) value(n *crdschema.Node, around []*schema.NestedValueValidation) any {
	m.budget--
	if n.Nullable() && m.chance(8) {
		return nil
	}
	if hints := m.hints[n]; len(hints) > 0 && m.chance(2) {
		return hints[m.r.IntN(len(hints))]
	}
	if value := n.Structural().Default.Object; value != nil && m.chance(8) {
		return value
	}
	l := limitsOf(m.r, n, around)
	if values := l.enum(); len(values) > 0 {
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
		return m.integer(&l, l.format())
	case crdschema.Number:
		return m.number(&l)
	case crdschema.Boolean:
		return !m.zero && !m.chance(3)
	case crdschema.IntOrString:
		if m.chance(2) {
			return m.integer(&l, "int32") // all that a Go client reads of it (intstr.IntOrString)
		}
		return m.str(&l)
	case crdschema.Any, crdschema.None:
	}
	if len(n.Properties()) > 0 {
		return m.object(n, &l)
	}
	return m.anything(2)
}

// object makes an object with properties: the whole object, or one in it.
func (m *builder) object(n *crdschema.Node, l *limits) map[string]any {
	obj := map[string]any{}
	root := n == m.version.Root
	for _, name := range n.Properties() {
		if root || n.Embedded() {
			if value, found := m.identity(n, name); found {
				if value != nil {
					obj[name] = value
				}
				continue
			}
		}
		// Most of what there is to convert is below the top level, which is mostly there.
		if l.requires(name) || (root || m.budget > 0) && !l.forbids(name) && (m.likely() || root && m.chance(3)) {
			obj[name] = m.value(n.Property(name), l.property(name))
		}
	}
	m.unknown(n, obj)
	if !root {
		m.resize(n, l, obj)
	}
	return obj
}

// identity makes the apiVersion, kind or metadata of an object, and reports whether it is one of
// these. An embedded object may have no metadata.
func (m *builder) identity(n *crdschema.Node, name string) (value any, is bool) {
	root, gvk := n == m.version.Root, m.version.GroupVersionKind()
	switch {
	case name == "metadata":
		if root || m.likely() {
			return m.metadata(n.Property(name)), true
		}
		return nil, true
	case name == "apiVersion" && root:
		return gvk.GroupVersion().String(), true
	case name == "apiVersion":
		return Pick(m.r, "v1", "apps/v1", "example.com/v1beta1"), true
	case name == "kind" && root:
		return gvk.Kind, true
	case name == "kind":
		return Pick(m.r, "ConfigMap", "Deployment", "Thing"), true
	}
	return nil, false
}

// resize keeps to minProperties and maxProperties.
func (m *builder) resize(n *crdschema.Node, l *limits, obj map[string]any) {
	least, most := l.size(properties, len(obj))
	names := n.Properties()
	for _, i := range m.r.Perm(len(names)) {
		name := names[i]
		switch here := !tree.IsAbsent(tree.At(obj, name)); {
		case here && len(obj) > most && !l.requires(name):
			delete(obj, name)
		case !here && len(obj) < least && !l.forbids(name):
			obj[name] = m.value(n.Property(name), l.property(name))
		}
	}
}

// unknown adds fields that the schema does not know, where they are kept.
func (m *builder) unknown(n *crdschema.Node, obj map[string]any) {
	if !n.PreservesUnknown() || m.zero {
		return
	}
	m.hinted(n, obj, func() any { return m.anything(1) })
	for m.budget > 0 && m.r.Float64() < m.presence/2 {
		obj[Pick(m.r, "unknown", "x/y", "a.b", "extra", "", "spec", "items", "é")] = m.anything(2)
	}
}

// hinted adds some members whose names are hints, with the values of hints or others.
func (m *builder) hinted(n *crdschema.Node, obj map[string]any, value func() any) {
	for _, name := range slices.Sorted(maps.Keys(m.names[n])) {
		switch values := m.names[n][name]; {
		case m.chance(2):
		case len(values) > 0 && !m.chance(4):
			obj[name] = values[m.r.IntN(len(values))]
		default:
			obj[name] = value()
		}
	}
}

// mapping makes a map.
func (m *builder) mapping(n *crdschema.Node, l *limits) map[string]any {
	least, most := l.size(properties, math.MaxInt)
	most = max(least, min(most, least+m.many()))
	around := l.below(func(v *schema.NestedValueValidation) *schema.NestedValueValidation { return v.AdditionalProperties })
	value := func() any {
		if n.Values().Kind() == crdschema.Any && !n.Values().PreservesUnknown() && m.chance(2) {
			return m.anything(0)
		}
		return m.value(n.Values(), around)
	}
	obj := map[string]any{}
	m.hinted(n, obj, value)
	for _, name := range tree.Names(obj)[min(len(obj), most):] {
		delete(obj, name)
	}
	for i := 0; len(obj) < most && i < 4*most+4 && (len(obj) < least || m.budget >= 0); i++ {
		name := Pick(m.r,
			"a", "b", "name", "key", "x/y", "example.com/key", "a.b", "with space", "Upper", "é", "0", "-", "null", "[0]",
		)
		if m.huge || len(obj) < least {
			name += fmt.Sprint(i)
		}
		obj[name] = value()
	}
	return obj
}

// many returns how many elements something gets.
func (m *builder) many() int {
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
func (m *builder) list(n *crdschema.Node, l *limits) []any {
	least, most := l.size(func(v *schema.ValueValidation) (least, most *int64) { return v.MinItems, v.MaxItems }, math.MaxInt)
	most = max(least, min(most, least+m.many()))
	around := l.below(func(v *schema.NestedValueValidation) *schema.NestedValueValidation { return v.Items })
	items, seen := []any{}, map[string]bool{"": false}
	for i := 0; len(items) < most && i < 4*most+4 && (len(items) < least || m.budget >= 0); i++ {
		item := m.value(n.Items(), around)
		if key := ElementKey(n, item); !seen[key] {
			seen[key] = key != ""
			items = append(items, item)
		}
	}
	return items
}

// ElementKey distinguishes the elements of sets and of lists with keys. It is "" in other lists.
func ElementKey(n *crdschema.Node, item any) string {
	switch n.ListType() {
	case "set":
		return string(tree.Encode(item))
	case "map":
		var key strings.Builder
		for _, name := range n.ListMapKeys() {
			value := tree.At(item, name)
			if tree.IsAbsent(value) {
				value = n.Items().Property(name).Structural().Default.Object
			}
			key.Write(tree.Encode(value))
		}
		return key.String()
	}
	return ""
}
