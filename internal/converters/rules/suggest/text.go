package suggest

import (
	"fmt"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
)

// rule writes the rule of a guess in one line of YAML.
func (g guess) rule() string {
	if g.template != "" {
		return g.templateRule()
	}
	parts := []string{
		"spoke: " + syntax.Quoted(g.pair[ofVersion].path()+g.how.suffix[ofVersion]),
		"hub: " + syntax.Quoted(g.pair[ofHub].path()+g.how.suffix[ofHub]),
	}
	if g.how.codec != "" {
		parts = append(parts, "codec: "+g.how.codec)
	}
	if len(g.how.values) > 0 {
		values := make([]string, 0, len(g.how.values))
		for _, v := range g.how.values {
			values = append(values, v[ofVersion]+": "+v[ofHub]) // JSON strings are YAML
		}
		parts = append(parts, "values: {"+strings.Join(values, ", ")+"}")
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// reason says in one line why a guess was made.
func (g guess) reason(version, hub string) string {
	if g.template != "" {
		return "Its name is made of the names of its parts. What separates the parts is a guess."
	}
	v, h := g.pair[ofVersion].node, g.pair[ofHub].node
	var why []string
	switch {
	case g.pair[ofVersion].path() == g.pair[ofHub].path():
		why = append(why, "the same place")
	case len(v.Properties()) > 0 && !v.Same(h) && g.how.plain():
		why = append(why, "most fields in common")
		if g.sameName() {
			why = append(why, "and the name")
		}
	case g.described && !g.sameName():
		why = append(why, "a similar description")
	case g.sameName():
		why = append(why, "moved under the same name")
	default:
		why = append(why, "a similar name")
	}
	switch {
	case g.how.why != "":
		why = append(why, g.how.why)
	case g.how.codec != "":
		why = append(why, fmt.Sprintf("%s in %s, %s in %s", v.Kind(), version, h.Kind(), hub))
	case v.Same(h):
		why = append(why, "the same type: "+v.Kind().String())
	case len(v.Properties()) == 0:
		why = append(why, "the same type, "+v.Kind().String()+", but validated differently")
	}
	text := strings.Join(why, ", ")
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

// text describes a leftover in one line.
func (l leftover) text(version, hub string) string {
	path := l.place().path()
	switch {
	case l[ofHub] == nil:
		return fmt.Sprintf("%s only: %s (%s)", version, path, l[ofVersion].node.Kind())
	case l[ofVersion] == nil:
		return fmt.Sprintf("%s only: %s (%s)", hub, path, l[ofHub].node.Kind())
	case l[ofVersion].node.Kind() == l[ofHub].node.Kind():
		return fmt.Sprintf("different values in %s and %s: %s", version, hub, path)
	}
	return fmt.Sprintf("%s in %s, %s in %s: %s", l[ofVersion].node.Kind(), version, l[ofHub].node.Kind(), hub, path)
}
