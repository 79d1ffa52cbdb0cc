package suggest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/crdschema"
)

// templates makes pairs of strings and their parts: hostPort, and host and port.
func (m *matcher) templates() {
	fields := m.open(m.field, func(g guess) place { return g.field })
	hubs := m.open(m.hub, func(g guess) place { return g.hub })
	for _, f := range fields {
		m.template(f, hubs, func(one, part place) guess { return guess{field: one, hub: part} })
	}
	for _, h := range hubs {
		m.template(h, fields, func(one, part place) guess { return guess{field: part, hub: one} })
	}
}

// template makes a pair of one string, if it has parts.
func (m *matcher) template(one place, others []place, pair func(one, part place) guess) {
	if one.node.Kind() != crdschema.String {
		return
	}
	parts := partsOf(one, others)
	texts := make([]string, 0, len(parts))
	pairs := make([]guess, 0, len(parts))
	for i, part := range parts {
		texts = append(texts, "{"+part.name()+"}")
		g := pair(one, part)
		g.silent = i > 0
		if overlaps(g, m.guesses) {
			return
		}
		pairs = append(pairs, g)
	}
	if len(parts) > 1 {
		pairs[0].parts, pairs[0].template = parts, strings.Join(texts, ":")
		m.guesses = append(m.guesses, pairs...)
	}
}

// partsOf returns places beside each other whose names together are that of one.
func partsOf(one place, others []place) []place {
	var parts []place
	for rest := one.nameWords(); len(rest) > 0; {
		i := slices.IndexFunc(others, func(p place) bool {
			name := p.nameWords()
			return isText(p.node) && isIdentifier(p.name()) && len(name) <= len(rest) && slices.Equal(name, rest[:len(name)]) &&
				slices.EqualFunc(p.iteration(), one.iteration(), syntax.Segment.Equal) && (len(parts) == 0 || beside(p, parts[0]))
		})
		if i < 0 {
			return nil
		}
		parts = append(parts, others[i])
		rest = rest[len(others[i].nameWords()):]
	}
	return parts
}

func isText(n *crdschema.Node) bool {
	return n.Kind() == crdschema.String || n.Kind() == crdschema.Integer || n.Kind() == crdschema.IntOrString
}

// beside reports whether two places are in the same object.
func beside(a, b place) bool {
	return len(a.segments) == len(b.segments) && in(a, place{segments: b.segments[:len(b.segments)-1]})
}

// isIdentifier reports whether a field's name can be that of a part.
func isIdentifier(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
}

// templateRule writes the rule of a string and its parts.
func (g guess) templateRule() string {
	parts := make([]string, 0, len(g.parts))
	for _, p := range g.parts {
		parts = append(parts, p.name()+": "+quoted(p.path()))
	}
	field, hub := quoted(g.field.path()), "{"+strings.Join(parts, ", ")+"}"
	if g.parts[0].is(g.field) {
		field, hub = hub, quoted(g.hub.path())
	}
	return fmt.Sprintf("{field: %s, hub: %s, template: %q}", field, hub, g.template)
}
