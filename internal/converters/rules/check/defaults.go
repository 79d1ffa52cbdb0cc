package check

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/rules/binding"
	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/converters/rules/transform"
	"github.com/crdconvert/webhookd/internal/document/didyoumean"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// defaults reports defaults of a rule that do not fit their places.
func (p *pair) defaults(b *binding.Binding, r *binding.Rule) {
	for _, s := range sides() {
		for i, e := range r.Ends[s] {
			literal := r.DefaultOf(s, i)
			if literal == nil {
				continue
			}
			place := b.Text(s, e.Segments)
			if strings.HasPrefix(place, ".metadata") {
				p.say(literal.Pos, "default-in-metadata", "make the absent value one of the other side, with toHub and toSpoke",
					"%s: labels and annotations have no default: %s", r.Syntax, place)
				continue
			}
			if transform.Admits(e.Place.Node, literal.JSON) {
				continue
			}
			m := misfit{key: defaultKey(s), version: p.Names[s], at: literal.Pos}
			m.find(e.Place.Node, literal)
			p.say(m.at, "default-does-not-fit", m.hint, "%s: %s: %s", r.Syntax, m.problem, place+m.path)
		}
	}
}

// A misfit is the first part of a default that its schema does not admit.
type misfit struct {
	key, version  string
	at            syntax.Position
	path          string // below the default
	problem, hint string
}

// find finds the misfit in a literal that a schema does not admit.
func (m *misfit) find(n *crdschema.Node, l *syntax.Literal) {
	m.at = l.Pos
	for i := range l.Members {
		member := &l.Members[i]
		below := n.Property(member.Name)
		switch {
		case below != nil || n.PreservesUnknown():
		case n.Kind() == crdschema.Map:
			below = n.Values()
		case n.Kind() == crdschema.Object:
			m.at, m.problem = member.NamePos, m.key+" has a field that "+m.version+" does not have"
			m.path += syntax.Segment{Kind: syntax.Field, Name: member.Name}.String()
			m.hint = didyoumean.Hint(member.Name, n.Properties(), "")
			return
		}
		if !transform.Admits(below, member.JSON) {
			m.path += syntax.Segment{Kind: syntax.Field, Name: member.Name}.String()
			m.find(below, &member.Literal)
			return
		}
	}
	for i := range l.Elements {
		if element := &l.Elements[i]; !transform.Admits(n.Items(), element.JSON) {
			m.path += "[" + strconv.Itoa(i) + "]"
			m.find(n.Items(), element)
			return
		}
	}
	m.value(n, l)
}

// value says what is wrong with a literal as a whole.
func (m *misfit) value(n *crdschema.Node, l *syntax.Literal) {
	text, is := string(l.JSON), shapeOf(l.JSON)
	switch enum := n.Enum(); {
	case text == "null":
		m.problem = "null is not a value that " + m.version + " allows"
	case len(enum) > 0 && shapeOf([]byte(enum[0])) == is:
		m.problem = fmt.Sprintf("%s is not one of the values that the schema allows (%s)", text, finding.Few(enum, maxValues))
		m.hint = didyoumean.Hint(text, enum, "")
	case text[0] == '[', text[0] == '{':
		m.problem = fmt.Sprintf("%s has %s, and %s has %s", m.key, is, m.version, n.Kind())
	default:
		m.problem, m.hint = fmt.Sprintf("%s is %s, not %s", text, is, n.Kind()), "write a value of that type"
		if n.Kind() == crdschema.String {
			m.hint = "quote it: YAML does not read it as a string"
		}
	}
}

// shapeOf says what a JSON text is, in the words of [crdschema.Kind].
func shapeOf(text []byte) string {
	shapes := map[byte]string{'"': "a string", 't': "a boolean", 'f': "a boolean", '[': "a list", '{': "an object"}
	return cmp.Or(shapes[text[0]], "a number")
}
