package check

import (
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/rules/binding"
	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// meetings reports tables of values that may give two elements of a list the same key, or a set the
// same value twice, or an element no key.
func (p *pair) meetings(b *binding.Binding) {
	for _, e := range b.Elements {
		for _, r := range e.Binding.Rules {
			for _, s := range sides() {
				if len(r.Ends[s]) == 1 && !r.Syntax.Broken && identifies(e.Ends[s].Place.Node, r.Ends[s][0].Segments) {
					p.meeting(r.Syntax, s, len(r.Ends[s][0].Segments) > 0)
				}
			}
		}
	}
}

// identifies reports whether a list has no two elements with the same value at a path.
func identifies(list *crdschema.Node, path []syntax.Segment) bool {
	return len(path) == 0 && list.ListType() == "set" || len(path) == 1 && slices.Contains(list.ListMapKeys(), path[0].Name)
}

// meeting reports what a table gives more than once on a side, and no value for a key.
func (p *pair) meeting(r *syntax.Rule, s binding.Side, isKey bool) {
	table := [...][]syntax.Mapping{r.HubValues, r.Values}[s]
	from := map[string][]string{}
	for _, m := range table {
		if to := string(m.To.JSON); to != "null" {
			from[to] = append(from[to], string(m.From.JSON))
		} else if isKey {
			p.say(m.To.Pos, "element-without-key", "give it a value of its own: "+string(m.From.JSON),
				"%s: null leaves an element without its key, and the API server refuses the list", r)
		}
	}
	for _, m := range table {
		if met := from[string(m.To.JSON)]; len(met) > 1 && met[0] == string(m.From.JSON) {
			what := "a set has it twice, which the API server refuses"
			if isKey {
				what = "two elements have one key, which the API server refuses"
			}
			p.warn(m.Pos, "values-meet", "give each a value of its own, or see that no list has both",
				"%s: %s become %s: in a list with both, %s", r, strings.Join(met, " and "), m.To.JSON, what)
		}
	}
}

// movesToStatus warns of pairs of a place of spec and one of status, once for the version.
func (p *pair) movesToStatus() {
	var moved []string
	root := func(end []syntax.Segment) string {
		if len(end) == 0 {
			return ""
		}
		return end[0].Name
	}
	look := func(spoke, hub binding.Path) {
		a, b := root(spoke.Segments), root(hub.Segments)
		if a == "spec" && b == "status" || a == "status" && b == "spec" {
			moved = append(moved, p.Root.Text(binding.OfSpoke, spoke.Segments)+" and "+p.Root.Text(binding.OfHub, hub.Segments))
		}
	}
	for _, r := range p.Root.Rules {
		if len(r.Ends[binding.OfSpoke]) == 1 && len(r.Ends[binding.OfHub]) == 1 {
			look(r.Ends[binding.OfSpoke][0], r.Ends[binding.OfHub][0])
		}
	}
	for _, e := range p.Root.Elements {
		if e.Paired() {
			look(e.Ends[binding.OfSpoke], e.Ends[binding.OfHub])
		}
	}
	if len(moved) > 0 {
		p.warn(p.Version.Pos, "status-in-spec", "a client that may write spec writes status then: see that RBAC allows both to the same clients, or keep it on one side",
			"%s: one version has it in spec, the other in status: %s", p.Version.Name, finding.Few(moved, maxMembers))
	}
}

// emptySpecs warns of a version whose spec has no field, while that of the other one has some: the
// API server removes all that clients write there.
func (p *pair) emptySpecs() {
	for _, s := range sides() {
		own, other := p.Root.Base[s].Node.Property("spec"), p.Root.Base[s.Other()].Node.Property("spec")
		if own != nil && own.Kind() == crdschema.Object && len(own.Properties()) == 0 && !own.PreservesUnknown() && len(other.Properties()) > 0 {
			p.warn(p.Version.Pos, "spec-without-fields", "give it the fields, or x-kubernetes-preserve-unknown-fields: true",
				"the schema of %s has no field in .spec: the API server prunes all that clients write there", p.Names[s])
		}
	}
}
