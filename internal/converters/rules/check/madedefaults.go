package check

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/rules/binding"
	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/crdschema"
)

// A made is an object of the target that rules make, and defaults in it that the source would show.
type made struct {
	rules    []*syntax.Rule
	object   string
	defaults []place
	empty    bool // the values are those that Go's types have for nothing
}

// madeDefaults reports defaults that the API server fills in for an object that rules make though
// the source has none: after that the source shows the object, too.
func (d *direction) madeDefaults() {
	var all []*made
	for _, b := range d.Bindings {
		for _, r := range b.Rules {
			if !r.Doubtful && r.How != binding.Computes && writes(r, d.dst) { // what is computed from nothing makes no object
				all = d.objectsOf(all, b, r.Syntax, r.Ends, r.When[d.src].Implied())
			}
		}
		for _, e := range b.Elements {
			if e.Paired() {
				all = d.objectsOf(all, b, e.Rule, [2][]binding.Path{{e.Ends[0]}, {e.Ends[1]}}, nil)
			}
		}
	}
	for _, m := range all {
		severity := finding.Warning
		if m.empty {
			severity = finding.Note
		}
		d.add(severity, posOf(m.rules[0], d.dst), "default-in-made-object", d.defaultRule(m.defaults[0]),
			"%s makes %s, also for an object of %s without it: then the API server fills in %s, which %s shows as well: "+
				"add a rule with `defaultFrom: schema`", rulesText(m.rules), m.object, d.Names[d.src], finding.Few(targets(m.defaults), maxMembers), d.Names[d.src])
	}
}

// objectsOf adds the objects that a rule makes above its places, given the places of the source that
// its condition implies.
func (d *direction) objectsOf(all []*made, b *binding.Binding, rule *syntax.Rule, ends [2][]binding.Path, implied [][]syntax.Segment) []*made {
	for _, to := range ends[d.dst] {
		at := b.Base[d.dst]
		for i, by := range to.Segments[:max(len(to.Segments)-1, 0)] {
			if at = at.Step(by); by.Kind != syntax.Field || at.Kind() != crdschema.Object {
				break
			}
			path := to.Segments[:i+1]
			for _, name := range at.Node.Properties() {
				member := append(slices.Clip(path), syntax.Segment{Kind: syntax.Field, Name: name})
				text, fills := at.Node.Property(name).Default()
				if !fills || slices.ContainsFunc(ends[d.dst], func(e binding.Path) bool { return binding.Same(e.Segments, member) }) {
					continue
				}
				if from := d.shownFor(b, member); from != nil && d.mayLack(b, from[:len(from)-1], ends[d.src], implied) {
					all = add(all, rule, b.Text(d.dst, path), place{b.Text(d.src, from), b.Text(d.dst, member)}, slices.Contains(emptyDefaults(), text))
				}
			}
		}
	}
	return all
}

// shownFor returns the place of the source that shows a place of the target, or nil if there is none
// or a rule has a default.
func (d *direction) shownFor(b *binding.Binding, path []syntax.Segment) []syntax.Segment {
	rules := b.RulesAt(d.dst, path)
	for _, r := range rules {
		if len(r.Ends[d.src]) != 1 || r.HasDefault(d.dst) || r.How == binding.Computes {
			return nil
		}
	}
	if len(rules) > 0 {
		return rules[0].Ends[d.src][0].Segments
	}
	from, ok := b.Counterpart(d.dst, path)
	if !ok || len(from) == 0 || b.ElementsAt(d.dst, path) != nil || !b.Base[d.src].Walk(from).Known {
		return nil
	}
	return from
}

// mayLack reports whether the source may lack an object though all of some places are there, and
// those that a condition implies.
func (d *direction) mayLack(b *binding.Binding, object []syntax.Segment, ends []binding.Path, implied [][]syntax.Segment) bool {
	var given []string
	for _, end := range ends {
		given = optional(b, d.src, end.Segments, given)
	}
	if b.Prefix[d.src] == "" { // conditions name places of the whole object
		for _, path := range implied {
			given = optional(b, d.src, path, given)
		}
	}
	return slices.ContainsFunc(optional(b, d.src, object, nil), func(place string) bool { return !slices.Contains(given, place) })
}

// add adds a default to what is known of its object.
func add(all []*made, rule *syntax.Rule, object string, at place, empty bool) []*made {
	i := slices.IndexFunc(all, func(m *made) bool { return m.object == object && m.empty == empty })
	if i < 0 {
		i, all = len(all), append(all, &made{object: object, empty: empty})
	}
	m := all[i]
	if !slices.Contains(m.rules, rule) {
		m.rules = append(m.rules, rule)
	}
	if !slices.Contains(m.defaults, at) {
		m.defaults = append(m.defaults, at)
		slices.SortFunc(m.defaults, func(a, b place) int { return cmp.Or(strings.Compare(a.to, b.to), strings.Compare(a.from, b.from)) })
	}
	return all
}

// defaultRule returns a rule that has the default of a schema.
func (d *direction) defaultRule(p place) string {
	var paths [2]string
	paths[d.src], paths[d.dst] = p.from, p.to
	return fmt.Sprintf("such as {spoke: %s, hub: %s, defaultFrom: schema}",
		syntax.Quoted(paths[binding.OfSpoke]), syntax.Quoted(paths[binding.OfHub]))
}
