package check

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/converters/rules/transform"
	"github.com/crdconvert/webhookd/internal/crdschema"
)

// A builder makes the relations of a version and the hub, and says what is wrong with single rules on the way.
type builder struct {
	conversion *syntax.Conversion
	names      [2]string
	roots      [2]*crdschema.Node
	env        *transform.Env
	report     func(finding.Finding)

	made    map[setPlaces]*relation
	applied map[*syntax.Rule]bool // rules of rule sets that have found their places somewhere
	lacking map[*syntax.Rule]bool // rules of rule sets that have not, somewhere
	unsure  bool                  // a rule is so broken that nobody knows what it is about: coverage cannot be told
}

// setPlaces are the places that a rule set is applied to.
type setPlaces struct {
	set        *syntax.RuleSet
	field, hub *crdschema.Node
	picked     [2]string
}

func (b *builder) root(rules []*syntax.Rule) *relation {
	r := &relation{base: [2]spot{{b.roots[0], true}, {b.roots[1], true}}}
	b.fill(r, b.items(rules, r, true))
	return r
}

// fill makes ties and groups of rules.
func (b *builder) fill(r *relation, items []item) {
	var oneSided []item
	for _, i := range b.spliced(r, items) {
		switch {
		case iterating(i.paths[0]) < 0 && iterating(i.paths[1]) < 0:
			r.ties = append(r.ties, b.tie(r, i))
		case len(i.paths[0]) == 0 || len(i.paths[1]) == 0:
			oneSided = append(oneSided, i)
		default:
			b.group(r, i)
		}
	}
	for _, i := range oneSided {
		b.group(r, b.paired(r, i))
	}
	for _, g := range r.groups {
		items := g.rel.items
		g.rel.items = nil
		b.fill(g.rel, items)
	}
	b.overlaps(r)
}

func (b *builder) say(pos syntax.Position, code, hint, format string, args ...any) {
	b.report(finding.Finding{Pos: pos, Code: code, Message: fmt.Sprintf(format, args...), Hint: hint})
}

// iterating returns where the first segment is that goes through elements, or -1. All paths of a side share it.
func iterating(paths []end) int {
	if len(paths) == 0 {
		return -1
	}
	return slices.IndexFunc(paths[0].path, syntax.Segment.Iterates)
}

// tie compiles a rule that goes through no elements.
func (b *builder) tie(r *relation, i item) *tie {
	t := &tie{rule: i.rule, ends: i.paths, how: howOf(i.rule), doubtful: i.rule.Broken}
	if t.doubtful {
		return t
	}
	switch t.how {
	case uses:
		below := &relation{told: true}
		for s := range below.base {
			below.base[s], below.prefix[s] = t.ends[s][0].spot, r.text(side(s), t.ends[s][0].path)
			if last := lastOf(t.ends[s][0].path); last.Kind == syntax.Pick {
				below.picked[s] = last.Name
			}
		}
		t.below = below
		set, done := b.set(below, t.rule)
		switch {
		case done != nil:
			t.below = done
		case set != nil:
			b.fill(below, b.items(set.Rules, below, false))
		default:
			t.doubtful = true
		}
	case pairs, converts, computes:
		b.compile(t)
	case keeps, drops:
	}
	b.defaults(r, t)
	return t
}

func howOf(r *syntax.Rule) how {
	computed := r.ToHub != nil || r.FromHub != nil
	switch {
	case r.Drop != nil:
		return drops
	case r.Field == nil || r.Hub == nil:
		if computed {
			return computes
		}
		return keeps
	case r.Use != nil:
		return uses
	case computed, r.Values != nil, r.HubValues != nil, r.Template != nil, r.Codec != nil, r.Go != nil, r.Field.Named, r.Hub.Named:
		return converts
	}
	return pairs
}

// compile type-checks what a rule computes, and its guards.
func (b *builder) compile(t *tie) {
	var nodes [2][]*crdschema.Node
	for s, ends := range t.ends {
		for _, e := range ends {
			nodes[s] = append(nodes[s], e.spot.node)
		}
	}
	compiled, found := transform.Compile(b.env, t.rule, nodes[0], nodes[1], b.roots[0], b.roots[1])
	if t.how != pairs {
		t.t = compiled
	}
	for s := range t.ends {
		if _, more := transform.CompileGuard(b.env, t.rule, side(s) == ofHub, nodes[s], b.roots[s]); len(more) > 0 {
			found = append(found, more...)
		}
	}
	for _, f := range found {
		b.report(f)
	}
	t.doubtful = len(found) > 0
}

// defaults says which defaults their places do not take.
func (b *builder) defaults(r *relation, t *tie) {
	for s, ends := range t.ends {
		for i, e := range ends {
			literal := t.defaultOf(side(s), i)
			if literal == nil {
				continue
			}
			if transform.Admits(e.spot.node, literal.JSON) {
				if path := lacking(e.spot.node, decoded(literal.JSON)); path != "" {
					place := r.text(side(s), e.path)
					b.say(literal.Pos, "default-lacks-a-field", "give it a value", "%s: %s requires %s, which the %s of %s does not have",
						t.rule, b.names[s], place+path, side(s).defaultKey(), place)
				}
				continue
			}
			hint := fmt.Sprintf("it is %s", e.spot.node.Kind())
			if enum := e.spot.node.Enum(); len(enum) > 0 {
				hint = "it is one of " + list(enum)
			}
			b.say(literal.Pos, "default-does-not-fit", hint, "%s: %s does not take the value of %s: %s",
				t.rule, b.names[s], side(s).defaultKey(), r.text(side(s), e.path))
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
