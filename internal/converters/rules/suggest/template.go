package suggest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/crdschema"
)

// templates pairs strings with their parts: hostPort with host and port.
func (m *matcher) templates() {
	open := [2][]place{m.open(m.places[ofVersion], ofVersion), m.open(m.places[ofHub], ofHub)}
	for side, places := range open {
		for _, p := range places {
			if p.node.Kind() == crdschema.String {
				m.template(side, p, open[1-side])
			}
		}
	}
}

// template pairs one string of a side with its parts among the places of the other side, if it has
// any.
func (m *matcher) template(side int, one place, others []place) {
	parts := partsOf(one, others)
	if len(parts) < 2 {
		return
	}
	texts := make([]string, 0, len(parts))
	guesses := make([]guess, 0, len(parts))
	for i, part := range parts {
		texts = append(texts, "{"+part.name()+"}")
		g := guess{silent: i > 0}
		g.pair[side], g.pair[1-side] = one, part
		if overlaps(g.pair, m.guesses) {
			return
		}
		guesses = append(guesses, g)
	}
	guesses[0].parts, guesses[0].template = parts, strings.Join(texts, ":")
	m.guesses = append(m.guesses, guesses...)
}

// partsOf returns places in one object whose names together are the name of another place.
func partsOf(one place, others []place) []place {
	var parts []place
	for rest := one.nameWords(); len(rest) > 0; {
		i := slices.IndexFunc(others, func(p place) bool {
			name := p.nameWords()
			return isText(p.node) && isIdentifier(p.name()) && len(name) <= len(rest) && slices.Equal(name, rest[:len(name)]) &&
				sameElements(p, one) && (len(parts) == 0 || siblings(p, parts[0]))
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

// siblings reports whether two places are in the same object.
func siblings(a, b place) bool {
	n := len(a.segments)
	return n == len(b.segments) && same(a.segments[:n-1], b.segments[:n-1])
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
		parts = append(parts, p.name()+": "+syntax.Quoted(p.path()))
	}
	field, hub := syntax.Quoted(g.pair[ofVersion].path()), "{"+strings.Join(parts, ", ")+"}"
	if g.parts[0].is(g.pair[ofVersion]) {
		field, hub = hub, syntax.Quoted(g.pair[ofHub].path())
	}
	return fmt.Sprintf("{spoke: %s, hub: %s, template: %q}", field, hub, g.template)
}
