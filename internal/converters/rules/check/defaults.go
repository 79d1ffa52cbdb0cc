package check

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/rules/binding"
	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/converters/rules/transform"
	"github.com/crdconvert/webhookd/internal/crdschema"
)

// defaults reports defaults of a rule that do not fit their places.
func (p *pair) defaults(b *binding.Binding, r *binding.Rule) {
	for _, s := range sides() {
		for i, e := range r.Ends[s] {
			literal := r.DefaultOf(s, i)
			if literal == nil {
				continue
			}
			place, node := b.Text(s, e.Segments), e.Place.Node
			if strings.HasPrefix(place, ".metadata") {
				p.say(literal.Pos, "default-in-metadata", "make the absent value one of the other side, with toHub and toSpoke",
					"%s: labels and annotations have no default: %s", r.Syntax, place)
				continue
			}
			if transform.Admits(node, literal.JSON) {
				var value any
				if err := json.Unmarshal(literal.JSON, &value); err != nil {
					continue // the parser made it: it is JSON
				}
				if path := lacking(node, value); path != "" {
					p.say(literal.Pos, "default-lacks-a-field", "give it a value", "%s: %s requires %s, which the %s of %s does not have",
						r.Syntax, p.Names[s], place+path, defaultKey(s), place)
				}
				continue
			}
			hint := fmt.Sprintf("it is %s", node.Kind())
			if enum := node.Enum(); len(enum) > 0 {
				hint = "it is one of " + finding.Few(unquoted(enum), maxValues)
			}
			p.say(literal.Pos, "default-does-not-fit", hint, "%s: %s does not allow the value of %s: %s",
				r.Syntax, p.Names[s], defaultKey(s), place)
		}
	}
}

// lacking returns the path of the first field that a schema requires and a value does not have, or
// nothing.
func lacking(n *crdschema.Node, value any) string {
	field := func(name string) string { return syntax.Segment{Kind: syntax.Field, Name: name}.String() }
	switch value := value.(type) {
	case map[string]any:
		for _, name := range n.Required() {
			if _, found := value[name]; !found && !hasDefault(n.Property(name)) {
				return field(name)
			}
		}
		for _, name := range slices.Sorted(maps.Keys(value)) {
			below := n.Property(name)
			if below == nil {
				below = n.Values()
			}
			if path := lacking(below, value[name]); path != "" {
				return field(name) + path
			}
		}
	case []any:
		for i, item := range value {
			if path := lacking(n.Items(), item); path != "" {
				return fmt.Sprintf("[%d]%s", i, path)
			}
		}
	}
	return ""
}
