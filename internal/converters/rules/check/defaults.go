package check

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/crdconvert/webhookd/internal/converters/rules/binding"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/converters/rules/transform"
	"github.com/crdconvert/webhookd/internal/crdschema"
)

// defaults says which defaults of a rule their places do not take.
func (p *pair) defaults(b *binding.Binding, r *binding.Rule) {
	for s, ends := range r.Ends {
		s := binding.Side(s)
		for i, e := range ends {
			literal := r.DefaultOf(s, i)
			if literal == nil {
				continue
			}
			place, node := b.Text(s, e.Segments), e.Place.Node
			if transform.Admits(node, literal.JSON) {
				if path := lacking(node, decoded(literal.JSON)); path != "" {
					p.say(literal.Pos, "default-lacks-a-field", "give it a value", "%s: %s requires %s, which the %s of %s does not have",
						r.Syntax, p.Names[s], place+path, defaultKey(s), place)
				}
				continue
			}
			hint := fmt.Sprintf("it is %s", node.Kind())
			if enum := node.Enum(); len(enum) > 0 {
				hint = "it is one of " + list(enum)
			}
			p.say(literal.Pos, "default-does-not-fit", hint, "%s: %s does not take the value of %s: %s",
				r.Syntax, p.Names[s], defaultKey(s), place)
		}
	}
}

func decoded(text []byte) any {
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		return nil // the parser has made it: it is JSON
	}
	return v
}

// lacking returns the path of the first field that a value does not have and its schema requires, or nothing.
func lacking(n *crdschema.Node, value any) string {
	switch value := value.(type) {
	case map[string]any:
		for _, name := range n.Required() {
			_, added := n.Property(name).Default()
			if _, found := value[name]; !found && !added {
				return (syntax.Segment{Kind: syntax.Field, Name: name}).String()
			}
		}
		for _, name := range slices.Sorted(maps.Keys(value)) {
			below := n.Property(name)
			if below == nil {
				below = n.Values()
			}
			if path := lacking(below, value[name]); path != "" {
				return (syntax.Segment{Kind: syntax.Field, Name: name}).String() + path
			}
		}
	case []any:
		for i, item := range value {
			if path := lacking(n.Items(), item); path != "" {
				return fmt.Sprintf("[%d]", i) + path
			}
		}
	}
	return ""
}
