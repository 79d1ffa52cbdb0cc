package suggest

import (
	"fmt"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
)

// rule writes the rule of a guess in one line of YAML.
func (g guess) rule() string {
	end := g.walk(g.how.suffix)
	parts := []string{"spoke: " + syntax.Quoted(end[ofVersion].path()), "hub: " + syntax.Quoted(end[ofHub].path())}
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
	v, h := g.pair[ofVersion].node, g.pair[ofHub].node
	names := "a similar name"
	switch {
	case g.why != "":
		names = g.why
	case g.samePath():
		names = "the same place"
	case g.sameName():
		names = "moved under the same name"
	case g.described:
		names = "a similar description"
	case nameScore(g.pair) == 0, g.structural:
		names = "alike inside"
	}
	types := "the same type, " + v.Kind().String() + ", but validated differently"
	switch {
	case g.how.why != "":
		types = g.how.why
	case g.how.codec != "":
		types = fmt.Sprintf("%s in %s, %s in %s", v.Kind(), version, h.Kind(), hub)
	case v.Same(h):
		types = "the same type: " + v.Kind().String()
	case content(v) != nil:
		types = "most fields in common"
	}
	text := names + ", " + types + "."
	return strings.ToUpper(text[:1]) + text[1:]
}
