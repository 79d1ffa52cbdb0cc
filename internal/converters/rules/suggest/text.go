package suggest

import (
	"fmt"
	"strings"
)

// rule writes the rule of a pair in one line of YAML.
func (g guess) rule() string {
	if g.template != "" {
		return g.templateRule()
	}
	parts := []string{"field: " + quoted(g.field.path()+g.how.suffix[0]), "hub: " + quoted(g.hub.path()+g.how.suffix[1])}
	if g.how.codec != "" {
		parts = append(parts, "codec: "+g.how.codec)
	}
	if len(g.how.values) > 0 {
		values := make([]string, 0, len(g.how.values))
		for _, v := range g.how.values {
			values = append(values, v[0]+": "+v[1]) // JSON strings are YAML
		}
		parts = append(parts, "values: {"+strings.Join(values, ", ")+"}")
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// quoted quotes a path where it would end a scalar of a flow mapping.
func quoted(path string) string {
	if strings.ContainsAny(path, `[]{},"' #:`) {
		return "'" + strings.ReplaceAll(path, "'", "''") + "'"
	}
	return path
}

// reason says in a line why the pair is one.
func (g guess) reason(version, hub string) string {
	if g.template != "" {
		return "A name made of the others' names. What is between them is a guess."
	}
	var why []string
	switch {
	case g.field.path() == g.hub.path():
		why = append(why, "the same place")
	case len(g.field.node.Properties()) > 0 && !g.field.node.Same(g.hub.node) && g.how.plain():
		why = append(why, "most fields in common")
		if g.moved {
			why = append(why, "and the name")
		}
	case g.described && !g.moved:
		why = append(why, "a similar description")
	case g.moved:
		why = append(why, "moved under the same name")
	default:
		why = append(why, "a similar name")
	}
	f, h := g.field.node, g.hub.node
	switch {
	case g.how.why != "":
		why = append(why, g.how.why)
	case g.how.codec != "":
		why = append(why, fmt.Sprintf("%s in %s, %s in %s", f.Kind(), version, h.Kind(), hub))
	case f.Same(h):
		why = append(why, "the same type: "+f.Kind().String())
	case len(f.Properties()) > 0: // said
	default:
		why = append(why, "the same type, "+f.Kind().String()+", but other rules for its values")
	}
	text := strings.Join(why, ", ")
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

func (l leftover) path() string {
	if l.field != nil {
		return l.field.path()
	}
	return l.hub.path()
}

// text names what is left, and what it is.
func (l leftover) text(version, hub string) string {
	switch {
	case l.hub == nil:
		return fmt.Sprintf("%s only: %s (%s)", version, l.field.path(), l.field.node.Kind())
	case l.field == nil:
		return fmt.Sprintf("%s only: %s (%s)", hub, l.hub.path(), l.hub.node.Kind())
	case l.field.node.Kind() == l.hub.node.Kind():
		return fmt.Sprintf("other values in %s and %s: %s", version, hub, l.field.path())
	}
	return fmt.Sprintf("%s in %s, %s in %s: %s", l.field.node.Kind(), version, l.hub.node.Kind(), hub, l.field.path())
}
