package suggest

import (
	"cmp"
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// A guess is a rule that is likely right.
type guess struct {
	ends   [2][]string // paths; none: the rule has no place on that side
	keys   string      // further keys, in YAML
	reason string
	sure   bool
}

// A matcher has the places that lack a counterpart, and the guesses so far.
type matcher struct {
	names   [2]string // of the versions
	open    [2][]place
	taken   [2]map[string]bool // paths that guesses name
	guesses []guess
	objects []pair // that are counterparts
	scopes  int
}

// match returns the likely rules between a version and the hub, and the objects that are
// counterparts.
func match(versionName, hubName string, version, hub *crdschema.Node) ([]guess, []pair) {
	m := &matcher{names: [2]string{versionName, hubName}, taken: [2]map[string]bool{{}, {}}}
	m.object(pair{{node: version}, {node: hub}})
	m.split()
	for m.acceptAll() {
		continue // a pair of objects or lists shows new places
	}
	slices.SortStableFunc(m.guesses, func(a, b guess) int {
		return cmp.Or(slices.Compare(a.ends[ofVersion], b.ends[ofVersion]), slices.Compare(a.ends[ofHub], b.ends[ofHub]))
	})
	return m.guesses, m.objects
}

// object compares two objects that are counterparts.
func (m *matcher) object(at pair) {
	m.objects = append(m.objects, at)
	v, h := at.nodes()
	root := len(at[ofVersion].path) == 0
	for _, name := range set(slices.Concat(v.Properties(), h.Properties())) {
		if root && slices.Contains([]string{"apiVersion", "kind", "metadata"}, name) {
			continue
		}
		p := at.step([2][]syntax.Segment{{field(name)}, {field(name)}})
		if root {
			m.versioned(p)
		}
		var has [2]bool
		for side := range p {
			has[side] = p[side].node != nil && !m.taken[side][p[side].String()]
		}
		switch {
		case has[ofVersion] && has[ofHub]:
			m.both(p)
		case has[ofVersion] && !h.PreservesUnknown():
			m.open[ofVersion] = append(m.open[ofVersion], p[ofVersion])
		case has[ofHub] && !v.PreservesUnknown():
			m.open[ofHub] = append(m.open[ofHub], p[ofHub])
		}
	}
}

func set(list []string) []string { return slices.Compact(slices.Sorted(slices.Values(list))) }

// both compares two places that are counterparts. If their values cannot be copied, it makes a
// guess if there is one way to convert them; else each may be another place.
func (m *matcher) both(at pair) {
	v, h := at.nodes()
	s, ok := between(at)
	switch {
	case v.Kind() == crdschema.Any || h.Kind() == crdschema.Any: // a value that is copied if it fits
	case v.Kind() == h.Kind() && v.Kind() == crdschema.Object && (len(at[ofVersion].path) == 1 || v.Same(h) || v.SharesName(h)):
		m.object(at)
	case v.Kind() == h.Kind() && (v.Kind() == crdschema.Array || v.Kind() == crdschema.Map):
		m.both(m.scoped(at.step(each(v).suffix)))
	case v.Kind() == h.Kind() && v.Scalar() && v.Agrees(h) && s.keys == "":
	case ok && (!s.doubt || s.keys == "codec: YAML"):
		m.accept(candidate{pair: at, shape: s, clear: true})
	default:
		for side, p := range at {
			p.doubt = true
			m.open[side] = append(m.open[side], p)
		}
	}
}

// scoped returns a pair of elements or values in a scope of its own.
func (m *matcher) scoped(at pair) pair {
	m.scopes++
	at[ofVersion].scope, at[ofHub].scope = m.scopes, m.scopes
	return at
}

// versioned pairs the fields of an object that is named after the other version with the fields
// around it: Cluster API's .status.v1beta2.conditions of v1beta1 are .status.conditions of v1beta2,
// and .status.conditions of v1beta1 are .status.deprecated.v1beta1.conditions there.
func (m *matcher) versioned(around pair) {
	var inside pair
	for side, p := range around {
		for _, at := range append([]place{p}, p.fields()...) {
			if found := at.field(m.names[1-side]); found.node.Kind() == crdschema.Object && inside[side].node == nil {
				inside[side] = found
			}
		}
	}
	for side := range inside {
		for _, f := range inside[side].fields() {
			var p pair
			p[side], p[1-side] = f, around[1-side].field(f.name())
			old := around[side].field(f.name()).node
			displaced := old == nil || inside[1-side].node.Property(f.name()) != nil || !old.Agrees(p[1-side].node)
			if p[1-side].node != nil && displaced && f.node.Agrees(p[1-side].node) {
				m.accept(candidate{pair: p, clear: true, why: "in an object that is named after the other version"})
			}
		}
	}
}

// accept makes a guess of a candidate, and compares what is in its places.
func (m *matcher) accept(c candidate) {
	g := guess{keys: c.keys, reason: c.reason(), sure: c.isSure()}
	at := c.step(c.suffix)
	for side, p := range at {
		g.ends[side] = []string{p.String()}
		m.taken[side][c.pair[side].String()] = true
	}
	m.guesses = append(m.guesses, g)
	iterates, under := false, len(m.guesses)
	for side, by := range c.suffix {
		p := &at[side]
		p.under, p.base, p.doubt = under, len(p.path), !g.sure
		for _, s := range by {
			iterates = iterates || s.Iterates()
			if s.Kind == syntax.First {
				rest := guess{sure: g.sure, reason: "further elements are kept"}
				rest.ends[side] = []string{c.pair[side].String() + "[]"}
				m.guesses = append(m.guesses, rest)
			}
			if s.Kind == syntax.KeyedElements {
				m.taken[side][c.pair[side].step(s, field(s.Name)).String()] = true
			}
		}
	}
	if iterates {
		at = m.scoped(at)
	}
	if v, h := at.nodes(); v.Kind() == h.Kind() && !v.Scalar() && c.keys == "" {
		m.both(at)
	}
}

// spread returns the open places of a side and those below them.
func (m *matcher) spread(side int) []place {
	var all []place
	var add func(open []place)
	add = func(open []place) {
		for _, p := range open {
			if !m.taken[side][p.String()] {
				all = append(all, p)
				add(p.fields())
			}
		}
	}
	add(m.open[side])
	return all
}

// acceptAll accepts the likeliest candidates: those that cover several fields, else those that are
// near, else any. It reports whether there are any.
func (m *matcher) acceptAll() bool {
	var all []candidate
	at := map[[2]string]int{}
	versions, hubs := m.spread(ofVersion), m.spread(ofHub)
	many := len(versions)*len(hubs) > maxPairs
	for _, v := range versions {
		for _, h := range hubs {
			if many && !slices.ContainsFunc(v.nameWords(), func(w string) bool { return slices.Contains(h.nameWords(), w) }) {
				continue
			}
			if c, ok := score(pair{v, h}); ok {
				at[[2]string{v.String(), h.String()}] = len(all)
				all = append(all, c)
			}
		}
	}
	for _, c := range slices.Backward(all) { // what is around fields of one name is at least as likely
		if i, ok := at[[2]string{c.pair[ofVersion].outer(), c.pair[ofHub].outer()}]; ok && c.sameName() && c.holds() {
			all[i].score = max(all[i].score, c.score+perStep)
		}
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return cmp.Compare(b.score, a.score) })
	for _, some := range []func(candidate) bool{candidate.holds, candidate.near, func(candidate) bool { return true }} {
		chosen := m.choose(slices.DeleteFunc(slices.Clone(all), func(c candidate) bool { return !some(c) }))
		for _, c := range chosen {
			m.accept(c)
		}
		if len(chosen) > 0 {
			return true
		}
	}
	return false
}

// choose returns candidates that do not meet, the likeliest first, unless others are nearly as
// likely and the names do not tell.
func (m *matcher) choose(all []candidate) (chosen []candidate) {
	var best [2]map[string][]float64 // the two best scores of each place
	for side := range best {
		best[side] = map[string][]float64{}
		for _, c := range all {
			if path := c.pair[side].String(); len(best[side][path]) < 2 {
				best[side][path] = append(best[side][path], c.score)
			}
		}
	}
	for _, c := range all {
		c.clear = true
		for side, p := range c.pair {
			rivals := best[side][p.String()]
			if i := slices.Index(rivals, c.score); i == 0 {
				rivals = rivals[1:]
			}
			c.clear = c.clear && (len(rivals) == 0 || rivals[0] <= c.score-rivalry)
		}
		if (c.clear || c.tells()) && !slices.ContainsFunc(chosen, c.meets) && !m.holdsTaken(c.pair) {
			chosen = append(chosen, c)
		}
	}
	return chosen
}

// holdsTaken reports whether a guess names a place that is one of a pair or below it.
func (m *matcher) holdsTaken(at pair) bool {
	for side, p := range at {
		for path := range m.taken[side] {
			if rest, below := strings.CutPrefix(path, p.String()); below && (rest == "" || strings.IndexAny(rest, ".[{") == 0) {
				return true
			}
		}
	}
	return false
}
