package syntax

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/crdconvert/webhookd/internal/didyoumean"
)

// A document is a Conversion while it is read.
type document struct {
	Conversion
	spec *yaml.Node
}

func documentKeys() []key[document] {
	return []key[document]{
		{
			name: "apiVersion", required: true, doc: "the version of this format: " + APIVersion, schema: constant(APIVersion),
			read: func(p *parser, _ *document, n *yaml.Node) {
				if t := p.anyText(n, "apiVersion"); t != nil && t.Value != APIVersion {
					p.sayAt(n, "wrong-api-version", fmt.Sprintf("apiVersion is %.100q", t.Value), "write "+APIVersion)
				}
			},
		},
		{
			name: "kind", required: true, doc: "what this document is: " + Kind, schema: constant(Kind),
			read: func(*parser, *document, *yaml.Node) {}, // read before the others
		},
		{
			name: "metadata", required: true, doc: "whose versions are converted", schema: objectSchema(metadataKeys()),
			read: func(p *parser, d *document, n *yaml.Node) { mapping(p, n, "metadata", metadataKeys(), &d.Conversion) },
		},
		{
			name: "spec", required: true, doc: "how the versions relate", schema: objectSchema(specKeys()),
			read: func(p *parser, d *document, n *yaml.Node) {
				d.spec = n
				mapping(p, n, "spec", specKeys(), &d.Conversion)
			},
		},
	}
}

func metadataKeys() []key[Conversion] {
	return []key[Conversion]{{
		name: "name", required: true, doc: "the name of the CRD: PLURAL.GROUP", schema: stringSchema(),
		read: func(p *parser, c *Conversion, n *yaml.Node) {
			if t := p.text(n, "metadata.name"); t != nil {
				c.Name, c.NamePos = t.Value, t.Pos
			}
		},
	}}
}

func specKeys() []key[Conversion] {
	return []key[Conversion]{
		{
			name: "hub", required: true, doc: "the version that all others are related to, usually the one that is stored",
			schema: stringSchema(),
			read: func(p *parser, c *Conversion, n *yaml.Node) {
				if t := p.text(n, "hub"); t != nil {
					c.Hub, c.HubPos = t.Value, t.Pos
				}
			},
		},
		{
			name: "ruleSets", doc: "rules by name, for a type that occurs in many places or in itself; rules apply them with use",
			schema: schema{"type": "object", "propertyNames": schema{"pattern": namePattern}, "additionalProperties": rulesSchema()},
			read:   (*parser).ruleSets,
		},
		{
			name: "versions", required: true, doc: "the other versions, each with its relation to the hub",
			schema: schema{"type": "array", "minItems": 1, "items": reference("version")},
			read:   (*parser).versions,
		},
	}
}

func versionKeys() []key[Version] {
	return []key[Version]{
		{
			name: "name", required: true, doc: "the version's name in the CRD", schema: stringSchema(),
			read: func(p *parser, v *Version, n *yaml.Node) {
				if t := p.text(n, "name"); t != nil {
					v.Name, v.Pos = t.Value, t.Pos
				}
			},
		},
		{
			name: "unmapped", doc: "what to do with fields that no rule covers and the other version does not have: " +
				"Error (the default) is a finding of check, Preserve keeps them in an annotation",
			schema: schema{"enum": []string{string(Error), string(Preserve)}},
			read:   (*parser).unmapped,
		},
		{
			name: "rules", doc: "what is not the same in this version and in the hub", schema: rulesSchema(),
			read: func(p *parser, v *Version, n *yaml.Node) { v.Rules = p.rules(n, "") },
		},
	}
}

// conversion reads one document; nil if it is something else.
func (p *parser) conversion(root *yaml.Node) *Conversion {
	if !p.isMapping(root, "the document") || !p.kindFits(root) {
		return nil
	}
	d := document{Conversion: Conversion{Pos: p.source.of(root)}}
	before := len(p.findings)
	mapping(p, root, "a Conversion", documentKeys(), &d)
	c := &d.Conversion
	if d.spec != nil {
		p.checkNames(c)
		p.checkUses(c)
	}
	c.Broken = len(p.findings) > before && (c.Name == "" || c.Hub == "" || len(c.Versions) == 0)
	return c
}

// kindFits looks at the kind before anything else, so that a document of another kind is one finding.
func (p *parser) kindFits(root *yaml.Node) bool {
	for i := 0; i+1 < len(root.Content); i += 2 {
		name, value := root.Content[i], root.Content[i+1]
		if name.Value != "kind" || name.Kind != yaml.ScalarNode || value.Kind != yaml.ScalarNode || value.Value == Kind {
			continue
		}
		hint := "write kind: " + Kind
		if value.Value == "CustomResourceDefinition" {
			hint = "CRDs are given apart, with --crd or --crds"
		}
		p.sayAt(value, "wrong-kind", fmt.Sprintf("kind is %.100q, not %s", value.Value, Kind), hint)
		return false
	}
	return true
}

func (p *parser) ruleSets(c *Conversion, n *yaml.Node) {
	if !p.isMapping(n, "ruleSets") {
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		name, value := n.Content[i], n.Content[i+1]
		if name.Kind != yaml.ScalarNode || isMerge(name) || seen[name.Value] {
			continue // said by sound
		}
		seen[name.Value] = true
		if !isName(name.Value) {
			p.sayAt(name, "bad-name", fmt.Sprintf("%.64q cannot name a rule set", name.Value), "write letters, digits, _ and -, and a letter first")
			continue
		}
		c.RuleSets = append(c.RuleSets, &RuleSet{
			Pos: p.source.of(name), Name: name.Value, Rules: p.rules(value, name.Value),
		})
	}
}

func (p *parser) versions(c *Conversion, n *yaml.Node) {
	elements := p.list(n, "versions")
	if n.Kind == yaml.SequenceNode && len(elements) == 0 {
		p.say(p.source.of(n), "no-versions", "versions is empty", "add `- name: VERSION` for every version but the hub")
	}
	for _, e := range elements {
		v := &Version{Pos: p.source.of(e), Unmapped: Error, Broken: hasOther(e, versionKeys())}
		if mapping(p, e, "a version", versionKeys(), v) && v.Name != "" {
			c.Versions = append(c.Versions, v)
		}
	}
}

func (p *parser) unmapped(v *Version, n *yaml.Node) {
	t := p.anyText(n, "unmapped")
	if t == nil {
		return
	}
	switch u := Unmapped(t.Value); u {
	case Error, Preserve:
		v.Unmapped, v.UnmappedPos = u, t.Pos
	default:
		hint := didyoumean.Hint(t.Value, []string{string(Error), string(Preserve)}, "write Error or Preserve")
		p.sayAt(n, "bad-unmapped", fmt.Sprintf("unmapped cannot be %.64q", t.Value), hint)
	}
}

// checkNames says which versions are there twice, or are the hub.
func (p *parser) checkNames(c *Conversion) {
	seen := map[string]*Version{}
	kept := c.Versions[:0]
	for _, v := range c.Versions {
		switch first := seen[v.Name]; {
		case v.Name == c.Hub:
			p.say(v.Pos, "version-is-hub", "version "+v.Name+" is the hub", "remove it: the hub is what the others are related to")
			continue
		case first != nil:
			message := fmt.Sprintf("version %s is there twice, the first is in line %d", v.Name, first.Pos.Line)
			p.say(v.Pos, "duplicate-version", message, "put the rules together")
			continue
		}
		seen[v.Name] = v
		kept = append(kept, v)
	}
	c.Versions = kept
}

// checkUses says which rule sets are used and not there, and the other way round.
func (p *parser) checkUses(c *Conversion) {
	names := make([]string, 0, len(c.RuleSets))
	c.sets = make(map[string]*RuleSet, len(c.RuleSets))
	for _, s := range c.RuleSets {
		names = append(names, s.Name)
		c.sets[s.Name] = s
	}
	used, missing := map[string]bool{}, false
	for _, r := range c.allRules() {
		if r.Use == nil {
			continue
		}
		used[r.Use.Value] = true
		if c.RuleSet(r.Use.Value) != nil {
			continue
		}
		hint := "add it under spec.ruleSets"
		if len(names) > 0 {
			hint = didyoumean.Hint(r.Use.Value, names, "there are "+few(names))
		}
		r.Broken, missing = true, true
		p.say(r.Use.Pos, "no-such-rule-set", fmt.Sprintf("%s uses %.64s: there is no such rule set", r, r.Use.Value), hint)
	}
	for _, s := range c.RuleSets {
		if !used[s.Name] && !missing {
			p.say(s.Pos, "unused-rule-set", "no rule uses the rule set "+s.Name, "remove it, or apply it with use: "+s.Name)
		}
	}
}

// few names some of a list.
func few(names []string) string {
	const most = 12
	if len(names) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ")
}

// allRules returns the rules of all versions and rule sets.
func (c *Conversion) allRules() []*Rule {
	var all []*Rule
	for _, v := range c.Versions {
		all = append(all, v.Rules...)
	}
	for _, s := range c.RuleSets {
		all = append(all, s.Rules...)
	}
	return all
}
