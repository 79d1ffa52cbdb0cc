package suggest

import (
	"cmp"
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/crdschema"
)

// Scores are from 0, nothing in common, to 1.
const (
	enough        = 0.5     // the least score of a guess
	enoughOverlap = 0.5     // the least part of its fields that an object shares with another one
	overlapAlone  = 0.75    // factor of that, where the names say nothing
	farPenalty    = 0.02    // for each step that two places are apart
	otherRoot     = 0.6     // factor where one place is in spec and the other is not
	maxPairs      = 1 << 18 // of places, for names without a word in common to be compared
	otherText     = 0.7     // factor of descriptions that are alike
)

// A guess is two places that are likely the same.
type guess struct {
	field, hub place
	how        how
	score      float64
	moved      bool    // under the same name
	described  bool    // the descriptions say so, not the names
	template   string  // if the pair is one string and
	parts      []place // its parts, of which the field or the hub is the first
	silent     bool    // it is one of the parts, of a pair that is told with the first
}

// A leftover is a place for which nothing was found, or two that clash.
type leftover struct{ field, hub *place }

// match finds the likely pairs of a difference, in the order of their paths, and what is left. No place is in two pairs.
func match(d *difference) ([]guess, []leftover) {
	m := &matcher{}
	m.objects(d)
	m.templates()
	m.values()
	left := make([]leftover, 0, len(d.clashes)+len(m.field)+len(m.hub))
	for _, c := range append(slices.Clone(d.clashes), m.inner...) {
		m.clash(c, &left)
	}
	for _, p := range m.rest(m.field, func(g guess) place { return g.field }) {
		left = append(left, leftover{field: &p})
	}
	for _, p := range m.rest(m.hub, func(g guess) place { return g.hub }) {
		left = append(left, leftover{hub: &p})
	}
	m.guesses = slices.DeleteFunc(m.guesses, func(g guess) bool { return g.silent })
	slices.SortFunc(m.guesses, func(a, b guess) int {
		return cmp.Or(strings.Compare(a.field.path(), b.field.path()), strings.Compare(a.hub.path(), b.hub.path()))
	})
	slices.SortStableFunc(left, func(a, b leftover) int { return strings.Compare(a.path(), b.path()) })
	return m.guesses, left
}

// A matcher has the places that lack a counterpart, and the pairs that were made of them.
type matcher struct {
	field, hub []place
	inner      [][2]place // clashes below pairs
	guesses    []guess
	brief      bool // there are too many places to compare names without a word in common
}

// objects pairs objects that have fields in common, the outermost first: one rule then stands for all of these fields. What
// differs within is dealt with as the rest.
func (m *matcher) objects(d *difference) {
	field, hub := d.field, d.hub
	for len(field)+len(hub) > 0 {
		guesses := m.best(field, hub, objectScore)
		m.field, m.hub = append(m.field, field...), append(m.hub, hub...)
		field, hub = nil, nil
		for _, g := range guesses {
			m.guesses = append(m.guesses, g)
			below := &difference{}
			below.both(g.field, g.hub)
			field, hub = append(field, below.field...), append(hub, below.hub...)
			m.inner = append(m.inner, below.clashes...)
		}
	}
}

// values pairs all that is left.
func (m *matcher) values() {
	m.guesses = append(m.guesses, m.best(m.field, m.hub, valueScore)...)
}

// best pairs places in and below those given, the likeliest first.
func (m *matcher) best(fields, hubs []place, score func(a, b place) (guess, bool)) []guess {
	var all []guess
	fields = m.open(fields, func(g guess) place { return g.field })
	hubs = m.open(hubs, func(g guess) place { return g.hub })
	m.brief = len(fields)*len(hubs) > maxPairs
	for _, f := range fields {
		for _, h := range hubs {
			if m.brief && !shareWord(f.nameWords(), h.nameWords()) ||
				!slices.EqualFunc(f.iteration(), h.iteration(), syntax.Segment.Equal) {
				continue
			}
			if g, ok := score(f, h); ok {
				all = append(all, g)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b guess) int { return cmp.Compare(b.score, a.score) })
	var chosen []guess
	for _, g := range all {
		if !overlaps(g, m.guesses) && !overlaps(g, chosen) {
			chosen = append(chosen, g)
		}
	}
	return chosen
}

// open returns the places and those below them, but none that is in a pair, or below one that is.
func (m *matcher) open(places []place, of func(guess) place) []place {
	var all []place
	for _, p := range places {
		if slices.ContainsFunc(m.guesses, func(g guess) bool { return p.is(of(g)) }) {
			continue
		}
		all = append(all, p)
		if p.node.Kind() == crdschema.Object {
			all = append(all, m.open(p.fields(), of)...)
		}
	}
	return all
}

// overlaps reports whether one of the places is in a pair already. Below a pair of objects there may be another one, of what
// these do not share.
func overlaps(g guess, taken []guess) bool {
	return slices.ContainsFunc(taken, func(t guess) bool {
		outer := strictlyIn(g.field, t.field) && strictlyIn(g.hub, t.hub) && t.how.plain()
		return !outer && (related(g.field, t.field) || related(g.hub, t.hub))
	})
}

func related(a, b place) bool { return in(a, b) || in(b, a) }

func strictlyIn(p, outer place) bool { return len(p.segments) > len(outer.segments) && in(p, outer) }

// in reports whether a place is another one or below it.
func in(p, outer place) bool {
	return len(p.segments) >= len(outer.segments) &&
		slices.EqualFunc(p.segments[:len(outer.segments)], outer.segments, syntax.Segment.Equal)
}

// objectScore says how likely two objects are the same one.
func objectScore(a, b place) (guess, bool) {
	if a.node.Kind() != b.node.Kind() || a.node.Kind() != crdschema.Object || len(a.node.Properties()) == 0 {
		return guess{}, false
	}
	overlap := shared(a.node, b.node)
	if overlap < enoughOverlap {
		return guess{}, false
	}
	g := guess{field: a, hub: b, moved: a.name() == b.name()}
	g.score = max((nameScore(a, b)+overlap)/2, overlap*overlapAlone) - far(a, b)
	return g, g.score >= enough
}

// shared is the part of the fields of the larger object that the other one has, too.
func shared(a, b *crdschema.Node) float64 {
	n := 0
	for _, name := range a.Properties() {
		if f, h := a.Property(name), b.Property(name); h != nil && f.Kind() == h.Kind() {
			n++
		}
	}
	return float64(n) / float64(max(len(a.Properties()), len(b.Properties())))
}

// valueScore says how likely two places hold the same value.
func valueScore(a, b place) (guess, bool) {
	h, fit, ok := between(a, b)
	if !ok {
		return guess{}, false
	}
	g := guess{field: a, hub: b, how: h, moved: a.name() == b.name()}
	names := nameScore(a, b)
	if text := textScore(a.node, b.node) * otherText; text > names {
		names, g.described = text, true
	}
	g.score = names*fit - far(a, b)
	if a.segments[0].Name != b.segments[0].Name {
		g.score *= otherRoot
	}
	return g, g.score >= enough
}

// nameScore compares the names of two places, alone and with those of the objects they do not have in common.
func nameScore(a, b place) float64 {
	if a.name() == b.name() {
		return 1
	}
	return max(alike(a.nameWords(), b.nameWords()), likeness(apart(a, b), apart(b, a)))
}

// apart returns the words of the path where it has left that of another place.
func apart(a, b place) []string {
	var all []string
	for i, s := range a.segments {
		if i < len(b.segments)-1 && i < len(a.segments)-1 && s.Equal(b.segments[i]) && len(all) == 0 {
			continue
		}
		all = append(all, a.words[i]...)
	}
	return all
}

// far is the penalty for places that are not beside each other.
func far(a, b place) float64 {
	n := 0
	for n < min(len(a.segments), len(b.segments))-1 && a.segments[n].Equal(b.segments[n]) {
		n++
	}
	return farPenalty * float64(len(a.segments)+len(b.segments)-2*n-2)
}

// textScore compares descriptions.
func textScore(a, b *crdschema.Node) float64 {
	const fewWords = 4
	left, right := strings.Fields(a.Structural().Description), strings.Fields(b.Structural().Description)
	if min(len(left), len(right)) < fewWords {
		return 0
	}
	return likeness(left, right)
}

// clash makes a pair of two places of one path where there is a way to convert, else it is left.
func (m *matcher) clash(c [2]place, left *[]leftover) {
	h, _, ok := between(c[0], c[1])
	g := guess{field: c[0], hub: c[1], how: h}
	if !ok || h.plain() || overlaps(g, m.guesses) {
		*left = append(*left, leftover{&c[0], &c[1]})
		return
	}
	m.guesses = append(m.guesses, g)
}

// rest returns the outermost places that are in no pair: a place is left out if it is in one, and taken apart if one is
// below it.
func (m *matcher) rest(places []place, of func(guess) place) []place {
	left := make([]place, 0, len(places))
	for _, p := range places {
		left = append(left, m.restOf(p, of)...)
	}
	return left
}

func (m *matcher) restOf(p place, of func(guess) place) []place {
	partly := false
	for _, g := range m.guesses {
		q := of(g)
		if p.is(q) {
			return nil
		}
		partly = partly || in(q, p)
	}
	if !partly {
		return []place{p}
	}
	return m.rest(p.fields(), of)
}
