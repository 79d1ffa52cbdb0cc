package suggest

import (
	"cmp"
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/rules/binding"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/document/didyoumean"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// A guess is a rule that is likely right.
type guess struct {
	ends   [2][]string // paths; none: the rule has no place on that side
	keys   string      // further keys, in YAML
	reason string
	sure   bool
}

// A matcher collects the guesses between a version and the hub.
type matcher struct {
	versions [2]string
	guesses  []guess
	objects  []pair // that are counterparts
}

// A region is a pair of counterparts with the places in them that have no counterpart. Rules pair
// places of one region, so none leads out of an element of a list.
type region struct {
	*matcher
	root  pair
	sure  bool // that the two are counterparts
	open  [2][]place
	taken [2][]place // that guesses name
}

// A place is the root of a region on one side, or a field of it, at any depth.
type place struct {
	path  string
	names []string // of the fields that lead to it from the root
	node  *crdschema.Node
	clash bool // the other version has another type there
}

// A pair is a place of a version and one of the hub.
type pair [2]place

const (
	ofVersion = iota
	ofHub
)

func (p place) field(name string) place {
	path := p.path + syntax.Segment{Kind: syntax.Field, Name: name}.String()
	return place{path, append(slices.Clone(p.names), name), p.node.Property(name), p.clash}
}

func (p place) fields() (all []place) {
	for _, name := range p.node.Properties() {
		all = append(all, p.field(name))
	}
	return all
}

func (p place) outer() []string { return p.names[:max(0, len(p.names)-1)] }

// name returns the name of the field, none of a root.
func (p place) name() string { return strings.Join(p.names[len(p.outer()):], "") }

func (p place) words() []string { return didyoumean.Words(p.name()) }

// in reports whether a place is another one or below it.
func (p place) in(outer place) bool {
	return len(p.names) >= len(outer.names) && slices.Equal(p.names[:len(outer.names)], outer.names)
}

// match returns the likely rules between a version and the hub, and the objects that are
// counterparts.
func match(versions [2]string, version, hub *crdschema.Node) ([]guess, []pair) {
	m := &matcher{versions: versions}
	m.compare(pair{{node: version}, {node: hub}}, true)
	slices.SortStableFunc(m.guesses, func(a, b guess) int {
		return cmp.Or(b.sides()-a.sides(), slices.Compare(a.ends[ofVersion], b.ends[ofVersion]), slices.Compare(a.ends[ofHub], b.ends[ofHub]))
	})
	return m.guesses, m.objects
}

func (g guess) sides() int { return min(1, len(g.ends[ofVersion])) + min(1, len(g.ends[ofHub])) }

// compare makes guesses about what is in two counterparts.
func (m *matcher) compare(root pair, sure bool) {
	r := &region{matcher: m, root: root, sure: sure}
	r.both(root)
	r.split()
	for r.acceptAll() {
		continue // what had rivals may have none now
	}
}

// both compares two places that are counterparts. If their values cannot be copied, it makes a
// guess if there is one way to convert them; else each may be another place.
func (r *region) both(at pair) {
	v, h := at[ofVersion].node, at[ofHub].node
	s, ok := between(at)
	alike, depth := v.Kind() == h.Kind(), len(at[ofVersion].names)
	outermost := depth == 0 || depth == 1 && r.root[ofVersion].path == "" // such as spec
	switch {
	case v.Kind() == crdschema.Any || h.Kind() == crdschema.Any: // a value that is copied if it fits
	case alike && v.Kind() == crdschema.Object && (outermost || v.Same(h) || v.SharesName(h)):
		r.object(at)
	case alike && (v.Kind() == crdschema.Array || v.Kind() == crdschema.Map):
		r.compare(candidate{pair: at, shape: each(v)}.ends(), r.sure)
	case alike && v.Scalar() && v.Agrees(h) && s.keys == "":
	case ok && (!s.doubt || depth == 0):
		r.accept(candidate{pair: at, shape: s, clear: true})
	case depth > 0:
		for side, p := range at {
			p.clash = true
			r.open[side] = append(r.open[side], p)
		}
	}
}

// object compares two objects that are counterparts.
func (r *region) object(at pair) {
	r.objects = append(r.objects, at)
	root := at[ofVersion].path == ""
	for _, name := range slices.Compact(slices.Sorted(slices.Values(slices.Concat(at[ofVersion].node.Properties(), at[ofHub].node.Properties())))) {
		p := pair{at[ofVersion].field(name), at[ofHub].field(name)}
		key := func(at place) bool { return strings.HasSuffix(at.path, "["+name+"]") }
		if root && slices.Contains([]string{"apiVersion", "kind", "metadata"}, name) || slices.ContainsFunc(at[:], key) {
			continue
		} else if root {
			r.versioned(p)
		}
		has := func(side int) bool {
			return p[side].node != nil && !slices.ContainsFunc(r.taken[side], p[side].in)
		}
		for side := range p {
			if has(side) && !has(1-side) && !at[1-side].node.PreservesUnknown() {
				r.open[side] = append(r.open[side], p[side])
			}
		}
		if has(ofVersion) && has(ofHub) {
			r.both(p)
		}
	}
}

// versioned pairs the fields of an object that is named after the other version with the fields
// around it: Cluster API's .status.v1beta2.conditions of v1beta1 are .status.conditions of v1beta2,
// and .status.conditions of v1beta1 are .status.deprecated.v1beta1.conditions there.
func (r *region) versioned(around pair) {
	for side, p := range around {
		for _, outer := range append(p.fields(), p) {
			for _, f := range outer.field(r.versions[1-side]).fields() {
				at := pair{f, f}
				at[1-side] = around[1-side].field(f.name())
				if f.node.Agrees(at[1-side].node) {
					r.accept(candidate{pair: at, clear: true, shape: shape{why: "in an object that is named after the other version", named: true}})
				}
			}
		}
	}
}

// accept makes a guess of a candidate, and compares what is in its places.
func (r *region) accept(c candidate) {
	at := c.ends()
	g := guess{[2][]string{{at[ofVersion].path}, {at[ofHub].path}}, c.keys, c.reason(), r.sure && c.isSure(r.root)}
	r.guesses = append(r.guesses, g)
	for side, p := range c.pair {
		r.taken[side] = append(r.taken[side], p)
		if slices.Contains(c.suffix[side], syntax.Segment{Kind: syntax.First}) {
			rest := guess{sure: g.sure, reason: "further elements are kept"}
			rest.ends[side] = []string{p.path + "[]"}
			r.guesses = append(r.guesses, rest)
		}
	}
	if c.keys == "" && (!at[ofVersion].node.Scalar() || !at[ofHub].node.Scalar()) {
		r.compare(at, g.sure)
	}
}

// ends returns what a rule for a candidate pairs.
func (c candidate) ends() (ends pair) {
	for side, p := range c.pair {
		path := p.path + syntax.Path{Segments: c.suffix[side]}.String()
		ends[side] = place{path: path, node: binding.Place{Node: p.node, Known: true}.Walk(c.suffix[side]).Node}
	}
	return ends
}

// spread returns the open places of a side and those below them.
func (r *region) spread(side int) (all []place) {
	open := slices.Clone(r.open[side])
	for len(open) > 0 {
		p := open[0]
		open = open[1:]
		if !slices.ContainsFunc(r.taken[side], p.in) {
			all, open = append(all, p), append(p.fields(), open...)
		}
	}
	return all
}

// isFree reports whether no guess names one of two places, what it is in, or what is below.
func (r *region) isFree(at pair) bool {
	taken := func(side int) bool {
		return slices.ContainsFunc(r.taken[side], func(t place) bool { return at[side].in(t) || t.in(at[side]) })
	}
	return !taken(ofVersion) && !taken(ofHub)
}
