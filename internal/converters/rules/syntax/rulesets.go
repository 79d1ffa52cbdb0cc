package syntax

import (
	"fmt"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

// RuleSets is a document of rule sets that the rules of other documents use by its name.
type RuleSets struct {
	Pos     Position // of the document's first key
	Name    string   // metadata.name
	NamePos Position
	Sets    []*RuleSet // in the order of the file
	node    *yaml.Node // of Sets, until the name is known
}

// dnsLabel is the form of a label of DNS (RFC 1123).
const dnsLabel = `^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`

func ruleSetsKeys() []key[RuleSets] {
	return append(typeKeys[RuleSets](KindRuleSets), []key[RuleSets]{
		{
			name: "metadata", required: true, doc: "the name that rules use", schema: objectSchema(ruleSetsMetadataKeys()),
			read: func(p *parser, d *RuleSets, n *yaml.Node) { mapping(p, n, "metadata", ruleSetsMetadataKeys(), d) },
		},
		{
			name: "ruleSets", required: true, doc: "rules by name; rules of other documents apply them with use: NAME/SET, " +
				"and rules of this one with use: SET",
			schema: minProperties(ruleSetsSchema()),
			read:   func(_ *parser, d *RuleSets, n *yaml.Node) { d.node = n },
		},
	}...)
}

func minProperties(s schema) schema {
	s["minProperties"] = 1
	return s
}

func ruleSetsMetadataKeys() []key[RuleSets] {
	name := nameKey("name", "metadata.name", "the name of this document in use: NAME/SET",
		func(d *RuleSets, name string, at Position) { d.Name, d.NamePos = name, at })
	read := name.read
	name.schema = schema{"type": "string", "pattern": dnsLabel}
	name.read = func(p *parser, d *RuleSets, n *yaml.Node) {
		read(p, d, n)
		if ok, err := regexp.MatchString(dnsLabel, d.Name); d.Name != "" && (!ok || err != nil) {
			p.sayAt(n, "bad-name", fmt.Sprintf("%.64q cannot name a %s", d.Name, KindRuleSets),
				"use at most 63 lower case letters, digits and -, with a letter or digit at both ends")
			d.Name = "" // no rule can use it
		}
	}
	return []key[RuleSets]{name}
}

// ruleSetsDocument reads one document, whose YAML has the findings from index before on. A finding
// about a rule set makes only that one doubtful.
func (p *parser) ruleSetsDocument(root *yaml.Node, before int) *RuleSets {
	d := &RuleSets{Pos: p.source.of(root)}
	mapping(p, root, "a "+KindRuleSets, ruleSetsKeys(), d)
	doubtful := p.doubtful(before)
	if d.node != nil {
		d.Sets = p.ruleSets(d.node, strings.TrimPrefix(d.Name+"/", "/"))
		if d.node.Kind == yaml.MappingNode && len(d.node.Content) == 0 {
			p.sayAt(d.node, "no-rule-sets", "ruleSets is empty", "add a rule set: NAME: [RULE, ...]")
		}
		d.node = nil
	}
	for _, s := range d.Sets {
		s.In, s.Doubtful = d, s.Doubtful || doubtful
	}
	return d
}

// ruleSets reads rule sets by name. Their names in messages start with prefix.
func (p *parser) ruleSets(n *yaml.Node, prefix string) []*RuleSet {
	if !p.isMapping(n, "ruleSets") {
		return nil
	}
	var sets []*RuleSet
	for name, value := range entries(n) {
		if !isName(name.Value) {
			p.sayAt(name, "bad-name", fmt.Sprintf("%.64q cannot name a rule set", name.Value), "use letters, digits, _ and -, starting with a letter")
			continue
		}
		before := len(p.findings)
		s := &RuleSet{Pos: p.source.of(name), Name: prefix + name.Value}
		s.Rules = p.rules(value, s.Name)
		s.Doubtful = p.doubtful(before)
		sets = append(sets, s)
	}
	return sets
}
