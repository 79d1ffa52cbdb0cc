package check

import (
	"cmp"
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/rules/binding"
	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/converters/rules/transform"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// meetings reports tables of values that may give two elements of a list the same key, or a set the
// same value twice, or an element no key.
func (p *pair) meetings(b *binding.Binding) {
	for _, r := range b.Rules {
		p.inCommon(b, r)
	}
	for _, e := range b.Elements {
		p.fewerKeys(e)
		p.unbounded(b, e)
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

// inCommon reports a rule that pairs objects, or the elements of lists, that have no field of one
// name, unless rules pair fields of them: {} arrives then.
func (p *pair) inCommon(b *binding.Binding, r *binding.Rule) {
	if r.How != binding.Pairs || r.Syntax.Broken {
		return
	}
	spoke, hub := r.Ends[binding.OfSpoke][0], r.Ends[binding.OfHub][0]
	v, h, elements := spoke.Place.Node, hub.Place.Node, false
	for v.Kind() == h.Kind() && (v.Kind() == crdschema.Array || v.Kind() == crdschema.Map) {
		elements, v, h = true, cmp.Or(v.Items(), v.Values()), cmp.Or(h.Items(), h.Values())
	}
	objects := len(v.Properties()) > 0 && len(h.Properties()) > 0 && !v.SharesName(h) && !v.PreservesUnknown() && !h.PreservesUnknown()
	if v == nil || h == nil {
		return
	}
	named := len(b.Next(binding.OfSpoke, spoke.Segments)) > 0 && len(b.Next(binding.OfHub, hub.Segments)) > 0
	on := func(p, from binding.Path) bool {
		return binding.Same(p.Segments, from.Segments) || binding.Within(p.Segments, from.Segments)
	}
	below := func(s, h binding.Path) bool { return on(s, spoke) && on(h, hub) }
	switch {
	case !objects && (!elements || transform.Related(v, h)),
		named && slices.ContainsFunc(b.Rules, func(o *binding.Rule) bool {
			return o != r && len(o.Ends[0]) > 0 && len(o.Ends[1]) > 0 && below(o.Ends[0][0], o.Ends[1][0])
		}),
		b.ElementsAt(binding.OfSpoke, spoke.Segments) != nil && b.ElementsAt(binding.OfHub, hub.Segments) != nil,
		named && slices.ContainsFunc(b.Elements, func(e *binding.Elements) bool {
			return e.Paired() && below(e.Ends[0], e.Ends[1])
		}):
		return
	}
	p.say(r.Syntax.Pos, "nothing-in-common", "pair places that hold the same, or pair the fields inside them as well",
		"%s: %s and %s have nothing in common, in name or type: what one version writes there, the other one never sees",
		r.Syntax, b.Text(binding.OfSpoke, spoke.Segments), b.Text(binding.OfHub, hub.Segments))
}

// fewerKeys warns of two lists of which one tells elements apart by fewer fields.
func (p *pair) fewerKeys(e *binding.Elements) {
	if !e.Paired() {
		return
	}
	name := map[string]string{} // in the hub, of the fields that rules rename
	for _, r := range e.Binding.Rules {
		if len(r.Ends[0]) == 1 && len(r.Ends[1]) == 1 && len(r.Ends[0][0].Segments) == 1 && len(r.Ends[1][0].Segments) == 1 {
			name[r.Ends[0][0].Segments[0].Name] = r.Ends[1][0].Segments[0].Name
		}
	}
	var keys [2][]string
	for _, s := range sides() {
		keys[s] = slices.Clone(e.Ends[s].Place.Node.ListMapKeys())
	}
	for i, key := range keys[binding.OfSpoke] {
		keys[binding.OfSpoke][i] = cmp.Or(name[key], key)
	}
	p.subset(e.Rule.Pos, keys, e.Binding.Prefix)
}

// subset warns if the keys of one side, with the names of the hub, are some of the other one's.
func (p *pair) subset(pos syntax.Position, keys [2][]string, lists [2]string) {
	for _, s := range sides() {
		few, more := keys[s], keys[s.Other()]
		if len(few) > 0 && len(few) < len(more) && !slices.ContainsFunc(few, func(key string) bool { return !slices.Contains(more, key) }) {
			p.warn(pos, "fewer-keys", "give both lists the same x-kubernetes-list-map-keys, or see that no list has two elements with one "+strings.Join(few, ", "),
				"%s of %s has the key %s, %s of %s has %s: two elements that differ in the rest have one key in %s, and the API server refuses the list",
				lists[s], p.Names[s], strings.Join(few, ", "), lists[s.Other()], p.Names[s.Other()], strings.Join(more, ", "), p.Names[s])
		}
	}
}

// unbounded notes a keyed list of any length whose elements each keep many values.
func (p *pair) unbounded(b *binding.Binding, e *binding.Elements) {
	const many = 8 // with 100 bytes each, 300 elements fill the annotations of an object
	for _, s := range sides() {
		list := e.Ends[s].Place.Node
		if list.ListType() != "map" {
			continue
		}
		kept := 0
		for _, r := range e.Binding.Rules {
			for _, end := range r.Ends[s] {
				if r.How == binding.Keeps {
					kept += leaves(end.Place.Node)
				}
			}
		}
		bounds := list.Structural().ValueValidation
		if kept >= many && (bounds == nil || bounds.MaxItems == nil) {
			p.note(e.Rule.Pos, "unbounded-list", "set maxItems in the schema of "+p.Names[s],
				"%s of %s has no maxItems, and each element keeps up to %d values in annotations, of which an object has 256 KiB",
				b.Text(s, e.Ends[s].Segments), p.Names[s], kept)
		}
	}
}

// movesToStatus warns of pairs of a place of spec and one of status, once for the version.
func (p *pair) movesToStatus() {
	var moved []string
	look := func(spoke, hub binding.Path) {
		a, b := p.Root.Text(binding.OfSpoke, spoke.Segments), p.Root.Text(binding.OfHub, hub.Segments)
		if syntax.Within(a, ".spec") && syntax.Within(b, ".status") || syntax.Within(a, ".status") && syntax.Within(b, ".spec") {
			moved = append(moved, a+" and "+b)
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
