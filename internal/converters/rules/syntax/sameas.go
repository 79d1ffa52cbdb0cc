package syntax

import (
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
	"github.com/crdconvert/webhookd/internal/document/didyoumean"
)

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
