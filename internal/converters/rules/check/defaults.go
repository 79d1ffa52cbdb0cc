package check

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/rules/binding"
	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/converters/rules/transform"
	"github.com/crdconvert/webhookd/internal/document/didyoumean"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// checkDefault reports a default that does not fit its place.
func (p *pair) checkDefault(r *binding.Rule, s binding.Side, n *crdschema.Node, literal *syntax.Literal, place string) {
	if strings.HasPrefix(place, ".metadata") {
		p.say(literal.Pos, "default-in-metadata", "make the absent value one of the other side, with toHub and toSpoke",
			"%s: labels and annotations have no default: %s", r.Syntax, place)
	} else if !transform.Admits(n, literal.JSON) {
		m := misfit{key: defaultKey(s), version: p.Names[s], at: literal.Pos}
		m.find(n, literal)
		p.say(m.at, "default-does-not-fit", m.hint, "%s: %s: %s", r.Syntax, m.problem, place+m.path)
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

// A defaulted collects places of the target whose default its counterpart does not have.
type defaulted struct {
	alone, differ []place
	ruled         []place // whose rule has a default
}

// A place is the path of a place of the source, and that of its counterpart.
type place struct{ from, to string }

func (p place) step(by string) place { return place{p.from + by, p.to + by} }

// each visits two places and all below them that both have.
func (p place) each(src, dst *crdschema.Node, visit func(at place, src, dst *crdschema.Node)) {
	if src == nil || dst == nil {
		return
	}
	visit(p, src, dst)
	p.step("[]").each(src.Items(), dst.Items(), visit)
	p.step("{}").each(src.Values(), dst.Values(), visit)
	for _, name := range src.Properties() {
		p.step(syntax.Segment{Kind: syntax.Field, Name: name}.String()).each(src.Property(name), dst.Property(name), visit)
	}
}

// look compares two places themselves.
func (d *defaulted) look(at place, src, dst *crdschema.Node) {
	there, fills := dst.Default()
	here, same := src.Default()
	switch {
	case !fills || src == nil || slices.Contains(d.ruled, at):
	case !same:
		d.alone = append(d.alone, at)
	case here != there:
		d.differ = append(d.differ, at)
	}
}

// defaultOfRule compares the places of a rule that converts one value to one.
func (w *walker) defaultOfRule(v visit, r *binding.Rule) {
	if len(r.Ends[w.src]) == 1 && len(r.Ends[w.dst]) == 1 && !r.HasDefault(w.dst) {
		there := r.Ends[w.dst][0]
		if _, has := v.src.Node.Default(); !has {
			w.filled.look(place{v.binding.Text(w.src, v.path), v.binding.Text(w.dst, there.Segments)}, v.src.Node, there.Place.Node)
		}
	}
}

// sayDefaults reports defaults that only the target has, and, once for both directions, defaults
// that differ.
func (w *walker) sayDefaults() {
	d, src, dst := &w.filled, w.Names[w.src], w.Names[w.dst]
	if alone := targets(d.alone); len(alone) > 0 {
		w.note(w.Version.Pos, "default-in-one-version", "give both versions the same default, or none",
			"%s -> %s: only %s has a default for %s: an annotation keeps that an object at %s has none",
			src, dst, dst, finding.Few(alone, maxMembers), src)
	}
	if differ := targets(d.differ); len(differ) > 0 && w.src == binding.OfSpoke {
		w.note(w.Version.Pos, "defaults-differ", "",
			"%s and %s have different defaults for %s: who leaves it out means something else at each version",
			src, dst, finding.Few(differ, maxMembers))
	}
}

// targets returns the counterparts of places, each once.
func targets(places []place) []string {
	texts := make([]string, 0, len(places))
	for _, p := range places {
		texts = append(texts, p.to)
	}
	slices.Sort(texts)
	return slices.Compact(texts)
}
