package syntax

import (
	"regexp"
	"slices"

	"go.yaml.in/yaml/v3"
)

// namePattern is what names of rule sets and Go functions look like.
const namePattern = `^[A-Za-z][A-Za-z0-9_-]*$`

func isName(text string) bool {
	ok, err := regexp.MatchString(namePattern, text)
	return ok && err == nil
}

// ruleKeys returns the keys of a rule in the order of the documentation.
func ruleKeys() []key[Rule] {
	textKey := func(name, doc string, field func(*Rule) **Text) key[Rule] {
		return key[Rule]{name: name, doc: doc, schema: stringSchema(), read: func(p *parser, r *Rule, n *yaml.Node) {
			*field(r) = p.text(n, name)
		}}
	}
	celKey := func(name, doc string, field func(*Rule) **Text) key[Rule] {
		s := schema{"type": []string{"string", "number", "boolean"}, "minLength": 1}
		return key[Rule]{name: name, doc: doc, schema: s, read: func(p *parser, r *Rule, n *yaml.Node) {
			*field(r) = p.expression(n, name)
		}}
	}
	first := []key[Rule]{
		{
			name: "field", doc: "a place in this version: a path, or named paths {name: path, ...}", schema: reference("place"),
			read: func(p *parser, r *Rule, n *yaml.Node) { r.Field = p.place(n, "field") },
		},
		{
			name: "hub", doc: "the place in the hub: a path, or named paths {name: path, ...}", schema: reference("place"),
			read: func(p *parser, r *Rule, n *yaml.Node) { r.Hub = p.place(n, "hub") },
		},
		{
			name: "values", doc: "this version's value: the hub's value; what is not listed is the same on both sides",
			schema: valuesSchema(),
			read:   func(p *parser, r *Rule, n *yaml.Node) { r.Values = p.mappings(n, "values") },
		},
		{
			name: "hubValues", doc: "the hub's value: this version's value, for values that no entry of values yields",
			schema: valuesSchema(),
			read:   func(p *parser, r *Rule, n *yaml.Node) { r.HubValues = p.mappings(n, "hubValues") },
		},
		textKey("template", `one string and its parts, with the names of the paths in braces: "{host}:{port}"`,
			func(r *Rule) **Text { return &r.Template }),
		{
			name: "absent", doc: "the text that stands for a part of the template that is absent", schema: schema{"type": "string"},
			read: func(p *parser, r *Rule, n *yaml.Node) { r.Absent = p.anyText(n, "absent") },
		},
		textKey("codec", "a conversion by name: Not, IntString, NumberString, BoolString, DurationSeconds, QuantityInt, JSON, YAML, Base64",
			func(r *Rule) **Text { return &r.Codec }),
		celKey("toHub", "CEL: the hub's value; self is this version's, object the whole object, metadata its metadata",
			func(r *Rule) **Text { return &r.ToHub }),
		celKey("fromHub", "CEL: this version's value; self is the hub's, object the whole object, metadata its metadata",
			func(r *Rule) **Text { return &r.FromHub }),
		celKey("when", "CEL: whether the rule applies to the conversion to the hub", func(r *Rule) **Text { return &r.When }),
		celKey("whenHub", "CEL: whether the rule applies to the conversion from the hub", func(r *Rule) **Text { return &r.WhenHub }),
		textKey("use", "the rule set that converts what is below the two places", func(r *Rule) **Text { return &r.Use }),
	}
	return slices.Concat(first, lastRuleKeys(textKey))
}

func lastRuleKeys(textKey func(name, doc string, field func(*Rule) **Text) key[Rule]) []key[Rule] {
	return []key[Rule]{
		{
			name: "default", doc: "the field's value where the hub gives none; for named paths {name: value, ...}", schema: schema{},
			read: func(p *parser, r *Rule, n *yaml.Node) { r.Default = p.literal(n) },
		},
		{
			name: "hubDefault", doc: "the hub's value where this version gives none; for named paths {name: value, ...}", schema: schema{},
			read: func(p *parser, r *Rule, n *yaml.Node) { r.HubDefault = p.literal(n) },
		},
		textKey("drop", "why the value is lost on purpose; for a place that the other side does not have",
			func(r *Rule) **Text { return &r.Drop }),
		textKey("go", "the registered Go function that converts", func(r *Rule) **Text { return &r.Go }),
	}
}

// rules reads a list of rules; set is the rule set they are in, or empty.
func (p *parser) rules(n *yaml.Node, set string) []*Rule {
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" {
		return nil // rules: with nothing behind it, as one writes it at first
	}
	var rules []*Rule
	for i, e := range p.list(n, "rules") {
		before := len(p.findings)
		r := &Rule{Pos: p.source.of(e), Index: i + 1, Set: set}
		ok := mapping(p, e, "a rule", ruleKeys(), r)
		if ok && e.Kind == yaml.MappingNode {
			combination{parser: p, rule: r, given: positionsOf(e)}.check()
		}
		r.Broken = !ok || len(p.findings) > before
		rules = append(rules, r)
	}
	return rules
}

// positionsOf returns where each key of a mapping stands.
func positionsOf(n *yaml.Node) map[string]*yaml.Node {
	at := map[string]*yaml.Node{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if at[n.Content[i].Value] == nil {
			at[n.Content[i].Value] = n.Content[i]
		}
	}
	return at
}
