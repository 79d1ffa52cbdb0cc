package suggest

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/crdconvert/webhookd/internal/document/didyoumean"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// How likely a pair is goes from 0 to 1: the part of the names, or of the fields, that is the same.
const (
	likely  = 0.5  // the least of a guess
	perStep = 1e-6 // less for each object that a place has left or entered
	similar = 0.9  // the most of names that are not the same words in order
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

// A candidate is a pair of places that may be the same.
type candidate struct {
	pair
	ends     pair    // what a rule pairs: the places, or what is in them
	keys     string  // further keys of the rule, in YAML
	why      string  // it is likely, if the names do not show it
	doubt    bool    // there are other ways to convert the values
	likeness float64 // of the names
	score    float64
	clear    bool // no other candidate of either place is as likely
	depth    int  // how many fields lead to two objects: they are compared before what is in them
}

// match returns the likely rules between a version and the hub, and the objects that are
// counterparts.
func match(versions [2]string, root pair) ([]guess, []pair) {
	m := &matcher{versions: versions}
	m.compare(root, true)
	slices.SortStableFunc(m.guesses, func(a, b guess) int {
		return cmp.Or(b.sides()-a.sides(), slices.Compare(a.ends[ofVersion], b.ends[ofVersion]), slices.Compare(a.ends[ofHub], b.ends[ofHub]))
	})
	return m.guesses, m.objects
}

func (g guess) sides() int { return min(1, len(g.ends[ofVersion])) + min(1, len(g.ends[ofHub])) }

// compare makes guesses about what is in two counterparts.
func (m *matcher) compare(root pair, sure bool) {
	root[ofVersion].names, root[ofHub].names = nil, nil
	r := &region{matcher: m, root: root, sure: sure}
	r.both(root)
	r.split()
	r.acceptAll()
}

// both compares two places that are counterparts. If their values cannot be copied, it makes a
// guess if there is one way to convert them; else each may be another place.
func (r *region) both(at pair) {
	v, h := at[ofVersion].node, at[ofHub].node
	c := candidate{pair: at, clear: true, likeness: 1}
	ok := c.convert()
	alike, depth := v.Kind() == h.Kind(), len(at[ofVersion].names)
	switch {
	case v.Kind() == crdschema.Any || h.Kind() == crdschema.Any || v.Same(h): // values that are copied
	case alike && v.Kind() == crdschema.Object:
		r.object(at)
	case alike && (v.Kind() == crdschema.Array || v.Kind() == crdschema.Map):
		r.compare(at.elements(), r.sure)
	case alike && v.Scalar() && v.Agrees(h) && c.keys == "":
	case ok && (!c.doubt || depth == 0):
		r.accept(c)
	case depth > 0: // each may be another place
		r.open[ofVersion] = append(r.open[ofVersion], at[ofVersion].below()...)
		r.open[ofHub] = append(r.open[ofHub], at[ofHub].below()...)
	}
}

// object compares two objects that are counterparts.
func (r *region) object(at pair) {
	r.objects = append(r.objects, at)
	names := slices.Concat(at[ofVersion].node.Properties(), at[ofHub].node.Properties())
	for _, name := range slices.Compact(slices.Sorted(slices.Values(names))) {
		p := pair{at[ofVersion].field(name), at[ofHub].field(name)}
		if key := "[" + name + "]"; strings.HasSuffix(at[ofVersion].path, key) || strings.HasSuffix(at[ofHub].path, key) {
			continue
		}
		r.versioned(at, p)
		has := func(side int) bool { return p[side].node != nil && !slices.ContainsFunc(r.taken[side], p[side].in) }
		for side := range p {
			if has(side) && !has(1-side) && !at[1-side].node.PreservesUnknown() {
				r.open[side] = append(r.open[side], p[side].below()...)
			}
		}
		if has(ofVersion) && has(ofHub) {
			r.both(p)
		}
	}
}

// versioned pairs a field with that of an object that is named after the other version: Cluster
// API's .status.v1beta2.conditions of v1beta1 are .status.conditions of v1beta2, and
// .status.conditions of v1beta1 are .status.deprecated.v1beta1.conditions there.
func (r *region) versioned(around, at pair) {
	for side, p := range at {
		for _, object := range []place{around[1-side], around[1-side].field("deprecated")} {
			other := at
			other[1-side] = object.field(r.versions[side]).field(p.name())
			if p.node != nil && other[1-side].node.Agrees(p.node) {
				r.accept(candidate{pair: other, clear: true, likeness: 1, ends: other, why: "in an object that is named after the other version"})
			}
		}
	}
}

// accept makes a guess of a candidate, and compares what is in its places.
func (r *region) accept(c candidate) {
	at := c.ends
	g := guess{[2][]string{{at[ofVersion].path}, {at[ofHub].path}}, c.keys, c.reason(), r.sure && c.isSure(r.root)}
	r.guesses = append(r.guesses, g)
	for side, p := range c.pair {
		r.taken[side] = append(r.taken[side], p)
		if strings.HasSuffix(at[side].path, "[0]") {
			rest := guess{sure: g.sure, reason: "further elements are kept"}
			rest.ends[side] = []string{p.path + "[]"}
			r.guesses = append(r.guesses, rest)
		}
	}
	if c.keys == "" && !at[ofVersion].node.Scalar() {
		r.compare(at, g.sure)
	}
}

// isFree reports whether no guess names one of two places, what it is in, or what is below.
func (r *region) isFree(at pair) bool {
	taken := func(side int) bool {
		return slices.ContainsFunc(r.taken[side], func(t place) bool { return at[side].in(t) || t.in(at[side]) })
	}
	return !taken(ofVersion) && !taken(ofHub)
}

// acceptAll accepts the candidates without rivals, and the likeliest of those whose names tell,
// until there are none: what had rivals may have none then.
func (r *region) acceptAll() {
	var all []candidate
	for _, v := range r.open[ofVersion] {
		for _, h := range r.open[ofHub] {
			if c, ok := rate(pair{v, h}); ok {
				all = append(all, c)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return cmp.Or(a.depth-b.depth, cmp.Compare(b.score, a.score)) })
	for accepted := true; accepted; {
		accepted = false
		all = slices.DeleteFunc(all, func(c candidate) bool { return !r.isFree(c.pair) })
		for _, c := range all {
			is := func(o candidate, side int) bool { return slices.Equal(o.pair[side].names, c.pair[side].names) }
			c.clear = !slices.ContainsFunc(all, func(o candidate) bool { return o.score >= c.score && is(o, ofVersion) != is(o, ofHub) })
			tells := c.likeness > 0 && (!c.sameName() || c.own() == min(len(c.pair[ofVersion].outer()), len(c.pair[ofHub].outer())))
			if (c.clear || tells) && r.isFree(c.pair) {
				r.accept(c)
				accepted = true
			}
		}
	}
}

// rate returns a candidate, and whether it is likely.
func rate(p pair) (c candidate, ok bool) {
	v, h := p[ofVersion], p[ofHub]
	c = candidate{pair: p, depth: math.MaxInt}
	if !c.convert() || (v.names[0] == "status") != (h.names[0] == "status") || !p.samePath() && (v.in(h) || h.in(v)) {
		return c, false
	}
	c.likeness = p.likeness(c.keys != "")
	c.score = c.likeness
	a, b := content(v.node), content(h.node)
	switch {
	case a != nil && b != nil && c.keys == "":
		part := shared(a, b)
		if part < likely {
			return c, false
		}
		c.score, c.depth = max(c.score, part), len(v.names)+len(h.names)
	case p.distance() <= 1 && v.node.Same(h.node): // right if no other one is as near
		c.score = max(c.score, likely)
	}
	ok = c.score >= likely
	c.score -= float64(p.distance()) * perStep
	return c, ok
}

// likeness compares the names of two places, with those of the objects that they do not share. It
// is 1 if the words of one are the last ones of the other, as one name or in two words or more:
// keySize is privateKey.size. A conversion accounts for units.
func (p pair) likeness(converted bool) float64 {
	var words [2][]string
	for side, at := range p {
		words[side] = slices.DeleteFunc(didyoumean.Words(strings.Join(at.names[p.own():], ".")), func(w string) bool {
			return converted && slices.Contains([]string{"byte", "base64", "second", "enable", "enabled", "disable", "disabled"}, w)
		})
	}
	a, b := words[ofVersion], words[ofHub]
	n := min(len(a), len(b))
	if strings.Join(a, "") == strings.Join(b, "") || (n > 1 || p.sameName()) && slices.Equal(a[len(a)-n:], b[len(b)-n:]) {
		return 1
	}
	return min(similar, didyoumean.Similarity(a, b))
}

// isSure reports whether nothing else is as likely, the schemas agree to the leaves, and the names
// leave little doubt.
func (c candidate) isSure(root pair) bool {
	if !c.clear || c.doubt || c.keys == "" && !c.ends[ofVersion].node.Agrees(c.ends[ofHub].node) {
		return false
	}
	return c.likeness == 1 && !c.branch(root)
}

// branch reports whether a place has moved into an object that is something else in the other
// version, or a branch of a union, which needs conditions: one of the values of a field next to it,
// or in an object that may have one field.
func (p pair) branch(root pair) bool {
	for side, moved := range p {
		for i := p.own(); i < len(moved.outer()); i++ {
			here, there := root[side].at(moved.names[:i]), root[1-side].at(moved.names[:i])
			named := func(value string) bool { return spelledAlike(value, strconv.Quote(moved.names[i])) }
			names := func(f place) bool { return slices.ContainsFunc(f.node.Enum(), named) }
			v := here.node.Structural().ValueValidation
			union := v != nil && v.MaxProperties != nil && *v.MaxProperties == 1
			if union || there.node.Property(moved.names[i]).Scalar() || slices.ContainsFunc(append(here.fields(), there.fields()...), names) {
				return true
			}
		}
	}
	return false
}

// reason says why a candidate was found.
func (c candidate) reason() string {
	switch {
	case c.why != "":
		return c.why
	case c.samePath():
		return "the same place"
	case c.sameName():
		return "moved under the same name"
	case c.likeness == 0:
		return "alike inside, or the only one left"
	}
	return "a similar name"
}
