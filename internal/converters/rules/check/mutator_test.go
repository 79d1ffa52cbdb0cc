package check_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// A shape is a schema.
type shape struct {
	kind     string // object, map, list, or all of a scalar's schema
	members  map[string]*shape
	required map[string]bool
	items    *shape
	key      string // of a list of type map
}

func (s *shape) text() string {
	switch s.kind {
	case "object":
		var required []string
		members := make([]string, 0, len(s.members))
		for _, name := range slices.Sorted(maps.Keys(s.members)) {
			members = append(members, name+": "+s.members[name].text())
			if s.required[name] {
				required = append(required, name)
			}
		}
		text := "{type: object, properties: {" + strings.Join(members, ", ") + "}"
		if len(required) > 0 {
			text += ", required: [" + strings.Join(required, ", ") + "]"
		}
		return text + "}"
	case "map":
		return "{type: object, additionalProperties: " + s.items.text() + "}"
	case "list":
		if s.key != "" {
			return "{type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [" + s.key + "], items: " + s.items.text() + "}"
		}
		return "{type: array, items: " + s.items.text() + "}"
	}
	return s.kind
}

func (s *shape) clone() *shape {
	if s == nil {
		return nil
	}
	c := *s
	c.members, c.required, c.items = maps.Clone(s.members), maps.Clone(s.required), s.items.clone()
	for name, m := range c.members {
		c.members[name] = m.clone()
	}
	return &c
}

// A mutator makes a version from another one, with rules for most of what it changes.
type mutator struct {
	r     *rand.Rand
	rules []string
	next  int
}

func (m *mutator) pick(of ...string) string { return of[m.r.IntN(len(of))] }

func (m *mutator) chance(n int) bool { return m.r.IntN(n) == 0 }

func (m *mutator) say(format string, args ...any) {
	m.rules = append(m.rules, fmt.Sprintf(format, args...))
}

// name returns a new one.
func (m *mutator) name() string {
	m.next++
	return fmt.Sprintf("n%d", m.next)
}

func (m *mutator) scalar() *shape {
	return &shape{kind: m.pick(
		"{type: string}", "{type: string}", "{type: string, nullable: true}", "{type: integer}", "{type: integer, default: 3}",
		"{type: boolean}", "{x-kubernetes-int-or-string: true}", "{type: string, enum: [A, B]}", "{type: string, enum: [A, B, C]}",
		"{type: string, default: A}", "{x-kubernetes-preserve-unknown-fields: true}",
	)}
}

func (m *mutator) shape(depth int) *shape {
	switch n := m.r.IntN(10); {
	case depth == 0 || n < 4:
		return m.scalar()
	case n == 4:
		return &shape{kind: "list", items: m.shape(depth - 1)}
	case n == 5:
		items := m.object(depth - 1)
		items.members["name"], items.required["name"] = &shape{kind: "{type: string}"}, true
		return &shape{kind: "list", items: items, key: "name"}
	case n == 6:
		return &shape{kind: "map", items: m.shape(depth - 1)}
	}
	return m.object(depth - 1)
}

func (m *mutator) object(depth int) *shape {
	s := &shape{kind: "object", members: map[string]*shape{}, required: map[string]bool{}}
	for _, name := range []string{"a", "b", "c", "d"} {
		if !m.chance(3) {
			s.members[name] = m.shape(depth)
			s.required[name] = m.chance(8)
		}
	}
	if len(s.members) == 0 {
		s.members["e"] = &shape{kind: "{type: string}"}
	}
	return s
}

// versions returns the schemas of both specs.
func (m *mutator) versions() (field, hub *shape) {
	field = m.object(2)
	hub = field.clone()
	m.change(hub, ".spec", ".spec")
	m.r.Shuffle(len(m.rules), func(i, j int) { m.rules[i], m.rules[j] = m.rules[j], m.rules[i] })
	return field, hub
}

// change changes some members of an object of the hub, which is at two paths.
func (m *mutator) change(s *shape, field, hub string) {
	for _, name := range slices.Sorted(maps.Keys(s.members)) {
		if s.key != "" && name == s.key || name == "name" && s.required[name] {
			continue
		}
		f, h := field+"."+name, hub+"."+name
		switch v := s.members[name]; {
		case m.chance(3):
			m.member(s, name, v, f, hub)
		case v.kind == "object":
			m.change(v, f, h)
		case v.kind == "list" && v.items.kind == "object":
			by := "[]"
			if v.key != "" && m.chance(2) {
				by = "[" + v.key + "]"
			}
			m.change(v.items, f+by, h+by)
		case v.kind == "map" && v.items.kind == "object":
			m.change(v.items, f+"{}", h+"{}")
		}
	}
}

// member changes one member of an object at path hub, with a rule for it or without.
func (m *mutator) member(s *shape, name string, v *shape, f, hub string) {
	fresh := m.name()
	options := ""
	if m.chance(6) {
		options = ", " + m.pick("defaultInSpoke", "defaultInHub") + ": " + m.pick("A", "1", "true", "null", "{}")
	}
	pair := func(to, more string) { m.say("{spoke: '%s', hub: '%s%s'%s%s}", f, hub, to, more, options) }
	put := func(name string, v *shape) { s.members[name] = v }
	str, integer := &shape{kind: "{type: string}"}, &shape{kind: "{type: integer}"}
	delete(s.members, name)
	required := s.required[name]
	delete(s.required, name)
	switch n := m.r.IntN(12); {
	case n == 0: // gone
		if m.chance(2) {
			m.say("{spoke: '%s'%s}", f, m.pick("", "", ", drop: no use"))
		}
	case n == 1: // nested
		put(fresh, &shape{kind: "object", members: map[string]*shape{"in": v, "x": str}, required: map[string]bool{}})
		pair("."+fresh+".in", "")
	case n == 2 && v.kind == "list":
		put(fresh, &shape{kind: "list", items: &shape{kind: "object", members: map[string]*shape{"v": v.items}}})
		m.say("{spoke: '%s[]', hub: '%s.%s[].v'}", f, hub, fresh)
	case n <= 3 && v.kind == "map":
		m.mapped(s, v, f, hub, fresh)
	case n <= 4: // the first element
		put(fresh, &shape{kind: "list", items: v})
		pair("."+fresh+"[0]", "")
	case n == 5: // a picked element
		put(fresh, &shape{kind: "list", key: "name", items: &shape{
			kind: "object", members: map[string]*shape{"name": str, "value": v, "x": str}, required: map[string]bool{"name": true},
		}})
		pair("."+fresh+"[name="+m.pick("x", "a")+"].value", "")
	case n <= 7 && !strings.HasPrefix(v.kind, "{"), n <= 8: // renamed
		put(fresh, v)
		s.required[fresh] = required
		pair("."+fresh, m.pick("", "", ", whenToHub: 'true', whenToSpoke: 'true'"))
	default:
		m.computed(s, v, f, hub, fresh, str, integer)
	}
	if m.chance(3) {
		s.members[m.name()] = m.scalar()
	}
}

// mapped makes a list of a map.
func (m *mutator) mapped(s, v *shape, f, hub, fresh string) {
	items := &shape{kind: "object", members: map[string]*shape{"key": {kind: "{type: string}"}}, required: map[string]bool{"key": true}}
	s.members[fresh] = &shape{kind: "list", key: "key", items: items}
	if v.items.kind == "object" && v.items.members["key"] == nil {
		maps.Copy(items.members, v.items.members)
		m.say("{spoke: '%s{key}', hub: '%s.%s[key]'}", f, hub, fresh)
		return
	}
	items.members["value"] = v.items
	m.say("{spoke: '%s{key}', hub: '%s.%s[key].value'}", f, hub, fresh)
}

// computed replaces a value with another scalar.
func (m *mutator) computed(s, v *shape, f, hub, fresh string, str, integer *shape) {
	other, rule := str, ""
	switch {
	case strings.Contains(v.kind, "enum"):
		other = &shape{kind: "{type: string, enum: [X, Z, B]}"}
		rule = "values: " + m.pick("{A: X, B: Z}", "{A: X, B: X, C: Z}", "{A: X}") + m.pick("", ", hubValues: {Z: A}")
	case strings.Contains(v.kind, "integer"):
		rule = m.pick("codec: String", `toHub: 'string(self)', toSpoke: 'int(self)'`, `toHub: 'self > 0 ? string(self) : ""', toSpoke: '7'`)
	case strings.Contains(v.kind, "boolean"):
		rule = "codec: String"
	case strings.Contains(v.kind, "string}"), strings.Contains(v.kind, "nullable"):
		if m.chance(2) {
			s.members[fresh], s.members[fresh+"b"] = str, str
			absent := m.pick("", `, absent: "-"`)
			m.say(`{spoke: '%s', hub: {x: '%s.%s', y: '%s.%sb'}, template: "{x}:{y}"%s}`, f, hub, fresh, hub, fresh, absent)
			return
		}
		other = m.pickShape(str, integer)
		rule = m.pick("codec: DurationSeconds", "codec: QuantityInt", "codec: Base64", `toHub: 'self + "!"', toSpoke: 'self.replace("!", "")'`)
	default:
		rule = "codec: " + m.pick("JSON", "YAML")
	}
	s.members[fresh] = other
	m.say("{spoke: '%s', hub: '%s.%s', %s}", f, hub, fresh, rule)
}

func (m *mutator) pickShape(of ...*shape) *shape { return of[m.r.IntN(len(of))] }

// noise adds rules between places by chance.
func (m *mutator) noise(crd *crdschema.CRD) {
	f := placesOf(crd.Version("v1beta1").Root.Property("spec"), ".spec", nil)
	h := placesOf(crd.Version("v1").Root.Property("spec"), ".spec", nil)
	if len(f) == 0 || len(h) == 0 {
		return
	}
	for range m.r.IntN(3) {
		fp, hp := f[m.r.IntN(len(f))], h[m.r.IntN(len(h))]
		switch m.r.IntN(7) {
		case 0:
			m.say("{spoke: '%s'}", fp)
		case 1:
			m.say("{hub: '%s'}", hp)
		case 2:
			m.say("{spoke: '%s', hub: '%s', codec: %s}", fp, hp, m.pick("String", "JSON", "YAML", "Base64"))
		case 3:
			m.say("{spoke: '%s', hub: '%s', defaultInHub: %s, defaultInSpoke: %s}", fp, hp, m.pick("A", "1", "{}", "[]"), m.pick("A", "1", "{}", "[]"))
		case 4:
			m.say("{hub: '%s', toHub: '%s'}", hp, m.pick(`"A"`, "1", `has(object.spec) ? "B" : "A"`, "optional.none()"))
		default:
			m.say("{spoke: '%s', hub: '%s'}", fp, hp)
		}
	}
}

// placesOf lists the paths below a place.
func placesOf(n *crdschema.Node, at string, all []string) []string {
	switch n.Kind() {
	case crdschema.Object:
		for _, name := range n.Properties() {
			all = placesOf(n.Property(name), at+"."+name, append(all, at+"."+name))
		}
	case crdschema.Array:
		all = append(placesOf(n.Items(), at+"[]", append(all, at+"[]")), at+"[0]")
	case crdschema.Map:
		all = append(all, at+"{}")
	default:
	}
	return all
}
