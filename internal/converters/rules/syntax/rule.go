package syntax

import (
	"fmt"
	"regexp"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/crdconvert/webhookd/internal/document/didyoumean"
)

// namePattern is the form of names of rule sets and Go functions.
const namePattern = `^[A-Za-z][A-Za-z0-9_-]*$`

func isName(text string) bool {
	ok, err := regexp.MatchString(namePattern, text)
	return ok && err == nil
}

// ruleKeys returns the keys of a rule in the order of the documentation.
func ruleKeys() []key[Rule] {
	placeKey := func(name, was, doc string, place func(*Rule) **Place) key[Rule] {
		doc += ": a path, or named paths {name: path, ...}; without the other side also a list of paths, each with a rule like this"
		return key[Rule]{name: name, was: was, doc: doc, schema: reference("places"), read: func(p *parser, r *Rule, n *yaml.Node) {
			*place(r) = p.place(n, name)
		}}
	}
	valuesKey := func(name, doc string, values func(*Rule) *[]Mapping) key[Rule] {
		return key[Rule]{name: name, doc: doc, schema: valuesSchema(), read: func(p *parser, r *Rule, n *yaml.Node) {
			*values(r) = p.mappings(n, name)
		}}
	}
	textKey := func(name, doc string, text func(*Rule) **Text) key[Rule] {
		return key[Rule]{name: name, doc: doc, schema: stringSchema(), read: func(p *parser, r *Rule, n *yaml.Node) {
			*text(r) = p.text(n, name)
		}}
	}
	celKey := func(name, was, doc string, text func(*Rule) **Text) key[Rule] {
		s := schema{"type": []string{"string", "number", "boolean"}, "minLength": 1}
		return key[Rule]{name: name, was: was, doc: "CEL: " + doc, schema: s, read: func(p *parser, r *Rule, n *yaml.Node) {
			*text(r) = p.expression(n, name)
		}}
	}
	defaultKey := func(name, was, doc string, literal func(*Rule) **Literal) key[Rule] {
		doc += "; for named paths {name: value, ...}"
		return key[Rule]{name: name, was: was, doc: doc, schema: schema{}, read: func(p *parser, r *Rule, n *yaml.Node) {
			*literal(r) = p.literal(n)
		}}
	}
	return []key[Rule]{
		placeKey("spoke", "field", "a place in this version", func(r *Rule) **Place { return &r.Spoke }),
		placeKey("hub", "", "the place in the hub", func(r *Rule) **Place { return &r.Hub }),
		valuesKey("values", "this version's value: the hub's value; values that are not listed are the same on both sides",
			func(r *Rule) *[]Mapping { return &r.Values }),
		valuesKey("hubValues", "the hub's value: this version's value, for values that no entry of values yields",
			func(r *Rule) *[]Mapping { return &r.HubValues }),
		textKey("template", `one string and its parts, with the names of the paths in braces: "{host}:{port}"`,
			func(r *Rule) **Text { return &r.Template }),
		{
			name: "absent", doc: "the text for a part of the template that is absent", schema: schema{"type": "string"},
			read: func(p *parser, r *Rule, n *yaml.Node) { r.Absent = p.anyText(n, "absent") },
		},
		textKey("codec", "a conversion by name: String, DurationSeconds, DurationNanoseconds, QuantityInt, JSON, YAML, Base64",
			func(r *Rule) **Text { return &r.Codec }),
		celKey("toHub", "", "the hub's value; self is this version's, object the whole object, metadata its metadata, element the element around it",
			func(r *Rule) **Text { return &r.ToHub }),
		celKey("toSpoke", "fromHub", "this version's value; self is the hub's, object the whole object, metadata its metadata, element the element around it",
			func(r *Rule) **Text { return &r.ToSpoke }),
		celKey("whenToHub", "when", "whether the rule applies to the conversion to the hub", func(r *Rule) **Text { return &r.WhenToHub }),
		celKey("whenToSpoke", "whenHub", "whether the rule applies to the conversion from the hub", func(r *Rule) **Text { return &r.WhenToSpoke }),
		{
			name: "omitEmpty", doc: `where "", 0, false, null, [] and {} are left out: in the Hub, the Spoke or Both`,
			schema: schema{"enum": omissions()}, read: (*parser).omission,
		},
		textKey("use", "the rule set that converts what is below the two places", func(r *Rule) **Text { return &r.Use }),
		defaultKey("defaultInSpoke", "default", "this version's value where the hub gives none", func(r *Rule) **Literal { return &r.DefaultInSpoke }),
		defaultKey("defaultInHub", "hubDefault", "the hub's value where this version gives none", func(r *Rule) **Literal { return &r.DefaultInHub }),
		{
			name: "defaultFrom", doc: "schema: each side that the other gives no value gets the default of its version's schema",
			schema: constant("schema"), read: (*parser).defaultFrom,
		},
		textKey("drop", "why the value is lost on purpose; for a place that the other side does not have",
			func(r *Rule) **Text { return &r.Drop }),
		{
			name: "unmapped", doc: "what to do with fields below both places that no rule covers, as the version's key of that name says it for the others",
			schema: unmappedSchema(),
			read:   func(p *parser, r *Rule, n *yaml.Node) { r.Unmapped = p.unmapped(n) },
		},
		textKey("mayBeAbsent", "why the places, and all below them, may stay absent where their version requires them",
			func(r *Rule) **Text { return &r.MayBeAbsent }),
		textKey("go", "the registered Go function that converts", func(r *Rule) **Text { return &r.Go }),
		{
			name: "transitional", doc: "true while other replicas may lack the rule or have another one for its places, which then lose nothing",
			schema: schema{"type": "boolean"}, read: (*parser).transitional,
		},
	}
}

func (p *parser) transitional(r *Rule, n *yaml.Node) {
	if n.Kind != yaml.AliasNode && (n.ShortTag() != "!!bool" || n.Decode(&r.Transitional) != nil) {
		p.sayAt(n, "wrong-type", "transitional is "+shape(n)+", not true or false", "write true, or remove it")
	}
}

func (p *parser) defaultFrom(r *Rule, n *yaml.Node) {
	if r.DefaultFrom = p.anyText(n, "defaultFrom"); r.DefaultFrom != nil && r.DefaultFrom.Value != "schema" {
		p.sayAt(n, "bad-default-from", fmt.Sprintf("defaultFrom cannot be %.64q", r.DefaultFrom.Value),
			"write schema; for a value of your own, defaultInSpoke or defaultInHub")
	}
}

func omissions() []string {
	return []string{string(OmitInHub), string(OmitInSpoke), string(OmitInBoth)}
}

func (p *parser) omission(r *Rule, n *yaml.Node) {
	t := p.anyText(n, "omitEmpty")
	if t == nil {
		return
	}
	if r.OmitEmpty = Omission(t.Value); !slices.Contains(omissions(), t.Value) {
		hint := didyoumean.Hint(t.Value, omissions(), "write Hub, Spoke or Both: where empty values are left out")
		p.sayAt(n, "bad-omit-empty", fmt.Sprintf("omitEmpty cannot be %.64q", t.Value), hint)
	}
}

// rules reads a list of rules; set is the name of their rule set, or empty.
func (p *parser) rules(n *yaml.Node, set string) []*Rule {
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" {
		return nil // a file in the making has `rules:` with nothing behind it
	}
	var rules []*Rule
	for i, e := range p.list(n, "rules") {
		before := len(p.findings)
		r := &Rule{Pos: p.source.of(e), Index: i + 1, Set: set}
		known := mapping(p, e, "a rule", ruleKeys(), r)
		if e.Kind == yaml.MappingNode {
			given := map[string]*yaml.Node{}
			for name := range entries(e) {
				given[currentName(ruleKeys(), name.Value)] = name
			}
			combination{parser: p, rule: r, given: given}.check()
		}
		r.Broken = !known || len(p.findings) > before
		rules = append(rules, r.each()...)
	}
	return rules
}
