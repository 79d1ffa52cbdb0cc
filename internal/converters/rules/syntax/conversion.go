package syntax

import (
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
	"github.com/crdconvert/webhookd/internal/document/didyoumean"
)

// typeKeys returns the keys that say what a document is.
func typeKeys[T any](kind string) []key[T] {
	return []key[T]{
		{
			name: "apiVersion", required: true, doc: "the version of this format: " + APIVersion, schema: constant(APIVersion),
			read: func(p *parser, _ *T, n *yaml.Node) {
				if t := p.anyText(n, "apiVersion"); t != nil && t.Value != APIVersion {
					p.sayAt(n, "wrong-api-version", fmt.Sprintf("apiVersion is %.100q, not %s", t.Value, APIVersion),
						"write "+APIVersion+", or upgrade webhookd if this is newer")
				}
			},
		},
		{
			name: "kind", required: true, doc: "the type of this document: " + kind, schema: constant(kind),
			read: func(*parser, *T, *yaml.Node) {}, // read before the others
		},
	}
}

func documentKeys() []key[Conversion] {
	return append(typeKeys[Conversion](Kind), []key[Conversion]{
		{
			name: "metadata", required: true, doc: "whose versions are converted", schema: objectSchema(metadataKeys()),
			read: func(p *parser, c *Conversion, n *yaml.Node) { mapping(p, n, "metadata", metadataKeys(), c) },
		},
		{
			name: "spec", required: true, doc: "how the versions relate", schema: objectSchema(specKeys()),
			read: func(p *parser, c *Conversion, n *yaml.Node) { mapping(p, n, "spec", specKeys(), c) },
		},
	}...)
}

// nameKey is a required key with a name; called is what messages call it.
func nameKey[T any](name, called, doc string, set func(into *T, name string, at Position)) key[T] {
	return key[T]{name: name, required: true, doc: doc, schema: stringSchema(), read: func(p *parser, into *T, n *yaml.Node) {
		if t := p.text(n, called); t != nil {
			set(into, t.Value, t.Pos)
		}
	}}
}

func metadataKeys() []key[Conversion] {
	return []key[Conversion]{
		nameKey("name", "metadata.name", "the name of the CRD: PLURAL.GROUP",
			func(c *Conversion, name string, at Position) { c.Name, c.NamePos = name, at }),
	}
}

func specKeys() []key[Conversion] {
	return []key[Conversion]{
		nameKey("hub", "hub", "the version that all others are related to, usually the storage version",
			func(c *Conversion, name string, at Position) { c.Hub, c.HubPos = name, at }),
		{
			name: "ruleSets", doc: "rules by name, for a type that occurs in many places or in itself; rules apply them with use",
			schema: ruleSetsSchema(),
			read:   func(p *parser, c *Conversion, n *yaml.Node) { c.RuleSets = p.ruleSets(n, "") },
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
		nameKey("name", "name", "the version's name in the CRD",
			func(v *Version, name string, at Position) { v.Name, v.Pos = name, at }),
		{
			name: "sameAs", doc: "another version, whose rules and other keys are this version's as well", schema: stringSchema(),
			read: func(p *parser, v *Version, n *yaml.Node) { v.SameAs = p.text(n, "sameAs") },
		},
		{
			name: "unmapped", doc: "what to do with fields that no rule covers and the other version does not have: " +
				"Error (the default) is a finding of check, Preserve keeps them in an annotation",
			schema: unmappedSchema(),
			read:   func(p *parser, v *Version, n *yaml.Node) { v.Unmapped = p.unmapped(n) },
		},
		{
			name: "mayBeAbsent", doc: "why what this version or the hub requires may stay absent, wherever the other one lacks it",
			schema: stringSchema(),
			read:   func(p *parser, v *Version, n *yaml.Node) { v.MayBeAbsent = p.text(n, "mayBeAbsent") },
		},
		{
			name: "rules", doc: "what differs between this version and the hub", schema: rulesSchema(),
			read: func(p *parser, v *Version, n *yaml.Node) { v.Rules = p.rules(n, "") },
		},
	}
}

// conversion reads one document.
func (p *parser) conversion(root *yaml.Node) *Conversion {
	c := &Conversion{Pos: p.source.of(root)}
	before := len(p.findings)
	mapping(p, root, "a Conversion", documentKeys(), c)
	p.checkVersions(c)
	p.resolveSameAs(c)
	c.Broken = len(p.findings) > before && (c.Name == "" || c.Hub == "" || len(c.Versions) == 0)
	return c
}

// kindOf looks at the kind before anything else, so that a document of another kind is one finding.
// It returns an empty text for that.
func (p *parser) kindOf(root *yaml.Node) string {
	for name, value := range entries(root) {
		if name.Value != "kind" || value.Kind != yaml.ScalarNode || value.Value == Kind {
			continue
		}
		if value.Value == KindRuleSets {
			return KindRuleSets
		}
		hint := didyoumean.Hint(value.Value, []string{Kind, KindRuleSets}, "write kind: "+Kind+"; for an object, webhookd kept prints what it keeps")
		if value.Value == "CustomResourceDefinition" || value.Value == "CompositeResourceDefinition" {
			hint = "pass CRDs with --crds"
		}
		p.sayAt(value, "wrong-kind", fmt.Sprintf("kind is %.100q, not %s or %s", value.Value, Kind, KindRuleSets), hint)
		return ""
	}
	return Kind
}

func (p *parser) versions(c *Conversion, n *yaml.Node) {
	elements := p.list(n, "versions")
	if n.Kind == yaml.SequenceNode && len(elements) == 0 {
		p.say(p.source.of(n), "no-versions", "versions is empty", "add `- name: VERSION` for every version but the hub")
	}
	for _, e := range elements {
		v := &Version{Pos: p.source.of(e), Unmapped: Error}
		known := mapping(p, e, "a version", versionKeys(), v)
		v.Broken = !known || slices.ContainsFunc(e.Content, isMerge)
		p.checkSameAs(v, e)
		if v.Name != "" {
			c.Versions = append(c.Versions, v)
		}
	}
}

// unmapped reads a value of unmapped, and returns Error after a finding.
func (p *parser) unmapped(n *yaml.Node) Unmapped {
	t := p.anyText(n, "unmapped")
	if t == nil {
		return Error
	}
	if u := Unmapped(t.Value); u == Error || u == Preserve {
		return u
	}
	hint := didyoumean.Hint(t.Value, []string{string(Error), string(Preserve)}, "write Error or Preserve")
	p.sayAt(n, "bad-unmapped", fmt.Sprintf("unmapped cannot be %.64q", t.Value), hint)
	return Error
}

// checkVersions reports versions that are duplicates or the hub, and removes them.
func (p *parser) checkVersions(c *Conversion) {
	firsts := map[string]*Version{}
	kept := c.Versions[:0]
	for _, v := range c.Versions {
		switch first := firsts[v.Name]; {
		case v.Name == c.Hub:
			p.say(v.Pos, "version-is-hub", "version "+v.Name+" is the hub", "remove it, or correct hub: the other versions are related to it")
		case first != nil:
			message := fmt.Sprintf("version %s is listed twice, the first is on line %d", v.Name, first.Pos.Line)
			p.say(v.Pos, "duplicate-version", message, "put the rules together")
		default:
			firsts[v.Name] = v
			kept = append(kept, v)
		}
	}
	c.Versions = kept
}

// checkSameAs reports keys that a version with sameAs cannot have of its own.
func (p *parser) checkSameAs(v *Version, n *yaml.Node) {
	if v.SameAs == nil {
		return
	}
	for name := range entries(n) {
		known := slices.ContainsFunc(versionKeys(), func(k key[Version]) bool { return k.name == name.Value })
		if !known || name.Value == "name" || name.Value == "sameAs" {
			continue
		}
		v.Broken = true
		p.sayAt(name, "same-as-and-more", fmt.Sprintf("version %s has sameAs, and %s of its own", v.Name, name.Value),
			"remove one of them; rules that only some versions share go into ruleSets")
	}
}

// resolveSameAs gives each version with sameAs the keys of the other version.
func (p *parser) resolveSameAs(c *Conversion) {
	r := sameAs{parser: p, hub: c.Hub, versions: map[string]*Version{}, begun: map[*Version]bool{}, done: map[*Version]bool{}}
	for _, v := range c.Versions {
		r.versions[v.Name] = v
		r.names = append(r.names, v.Name)
	}
	for _, v := range c.Versions {
		r.resolve(v)
	}
}

// A sameAs resolves the versions of a Conversion.
type sameAs struct {
	*parser
	hub         string
	versions    map[string]*Version
	names       []string
	begun, done map[*Version]bool
}

func (r *sameAs) resolve(v *Version) {
	if v.SameAs == nil || r.done[v] {
		return
	}
	r.begun[v] = true
	if other := r.other(v); other == nil {
		v.Broken = true
	} else {
		r.resolve(other)
		resolved := *other
		resolved.Name, resolved.Pos, resolved.SameAs = v.Name, v.Pos, v.SameAs
		resolved.Broken = resolved.Broken || v.Broken
		*v = resolved
	}
	r.done[v] = true
}

// other returns the version that v is the same as. It returns nil, and reports why, if there is
// none, or if that one leads back to v.
func (r *sameAs) other(v *Version) *Version {
	name := v.SameAs.Value
	say := func(code, hint, problem string) {
		message := fmt.Sprintf("version %s is the same as %.64s: %s", v.Name, name, problem)
		r.sayIn(v.SameAs.origin, 0, len(name), code, message, hint)
	}
	other := r.versions[name]
	switch {
	case name == v.Name:
		say("same-as-itself", "name another version, or give it rules", "that is the version itself")
	case name == r.hub:
		say("same-as-hub", "remove sameAs: what the hub has as well needs no rules", "that is the hub")
	case other == nil:
		say("no-such-version", didyoumean.Hint(name, r.others(v), "the other versions are "+finding.Few(r.others(v), 12)),
			"the file has no such version")
	case r.begun[other] && !r.done[other]:
		say("same-as-cycle", "give one of them rules", "that leads back to "+v.Name)
	default:
		return other
	}
	return nil
}

// others returns the names of the other versions, but of many versions those of all.
func (r *sameAs) others(v *Version) []string {
	const many = 500
	if len(r.names) > many {
		return r.names
	}
	return slices.DeleteFunc(slices.Clone(r.names), func(name string) bool { return name == v.Name })
}
