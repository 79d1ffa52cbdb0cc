package lsp

import (
	"github.com/crdconvert/webhookd/internal/converters/rules/binding"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
	"github.com/crdconvert/webhookd/internal/serve/ruleset"
)

// A scope is a pair of places that paths start from: two versions, or the places of a rule that
// uses a rule set.
type scope struct {
	crd       *crdschema.CRD
	spoke     string // version
	hub       string
	ofSpoke   end
	ofHub     end
	inRuleSet bool
}

// An end is the place of a scope in one version.
type end struct {
	path string // from the object's root, "" for the root
	node *crdschema.Node
}

func (s *scope) end(side binding.Side) (own end, version, other string) {
	if side == binding.OfHub {
		return s.ofHub, s.hub, s.spoke
	}
	return s.ofSpoke, s.spoke, s.hub
}

// maxScopes bounds the places that are known of a rule set.
const maxScopes = 50

// scopesOf returns the places that use each rule set, by its name.
func scopesOf(set *ruleset.Set) map[string][]scope {
	c := &scopes{all: map[string][]scope{}, seen: map[seenScope]bool{}}
	for _, conversion := range set.Conversions {
		for _, crd := range set.CRDs {
			hub := crd.Version(conversion.Hub)
			if crd.Name != conversion.Name || hub == nil {
				continue
			}
			for _, v := range conversion.Versions {
				if spoke := crd.Version(v.Name); spoke != nil {
					c.visit(v.Rules, &scope{crd: crd, spoke: v.Name, hub: conversion.Hub, ofSpoke: end{node: spoke.Root}, ofHub: end{node: hub.Root}})
				}
			}
		}
	}
	return c.all
}

type seenScope struct {
	set        *syntax.RuleSet
	spoke, hub *crdschema.Node
}

type scopes struct {
	all  map[string][]scope
	seen map[seenScope]bool
}

// visit follows the rules that use rule sets. A type that occurs in itself ends where its schema
// does, or at the limit.
func (c *scopes) visit(rules []*syntax.Rule, from *scope) {
	for _, r := range rules {
		if r.Uses == nil || r.Spoke == nil || r.Hub == nil || len(r.Spoke.Paths) != 1 || len(r.Hub.Paths) != 1 {
			continue
		}
		below := scope{crd: from.crd, spoke: from.spoke, hub: from.hub, inRuleSet: true}
		below.ofSpoke, below.ofHub = from.ofSpoke.below(r.Spoke.Paths[0].Path), from.ofHub.below(r.Hub.Paths[0].Path)
		at := seenScope{r.Uses, below.ofSpoke.node, below.ofHub.node}
		if at.spoke == nil || at.hub == nil || c.seen[at] || len(c.all[r.Uses.Name]) >= maxScopes {
			continue
		}
		c.seen[at] = true
		c.all[r.Uses.Name] = append(c.all[r.Uses.Name], below)
		c.visit(r.Uses.Rules, &below)
	}
}

func (e end) below(path syntax.Path) end {
	return end{e.path + path.Text, nodeAt(e.node, path.Segments)}
}

// scopes returns what the paths at a cursor start from, nil if nothing is known.
func (a *analysis) scopes(c *cursor) []scope {
	if c.set != "" {
		return a.sets[c.set]
	}
	for _, crd := range a.crds {
		hub := crd.Version(c.hub)
		if crd.Name != c.kind || hub == nil {
			continue
		}
		if spoke := crd.Version(c.version); spoke != nil && c.version != c.hub {
			return []scope{{crd: crd, spoke: c.version, hub: c.hub, ofSpoke: end{node: spoke.Root}, ofHub: end{node: hub.Root}}}
		}
	}
	return nil
}

// A namedSet is a rule set that rules may use: those of its own Conversion, or all.
type namedSet struct{ name, conversion, file string }

func ruleSetsOf(files []ruleset.File) (all []namedSet) {
	for _, f := range files {
		file, _ := syntax.Parse(f.Name, f.Text)
		for _, c := range file.Conversions {
			for _, set := range c.RuleSets {
				all = append(all, namedSet{set.Name, c.Name, f.Name})
			}
		}
		for _, d := range file.RuleSets {
			for _, set := range d.Sets {
				all = append(all, namedSet{set.Name, "", f.Name})
			}
		}
	}
	return all
}
