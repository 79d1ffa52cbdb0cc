package suggest

import (
	"cmp"
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/internal/crdschema"
)

// Scores are from 0, nothing in common, to 1.
const (
	enough        = 0.5     // the least score of a guess
	enoughOverlap = 0.5     // the least part of its fields that an object shares with another one
	overlapAlone  = 0.75    // factor of that part, if the names say nothing
	farPenalty    = 0.02    // for each step between two places
	otherRoot     = 0.6     // factor if one place is in spec and the other is not
	maxPairs      = 1 << 18 // with more pairs of places, names without a word in common are not compared
	otherText     = 0.7     // factor of similar descriptions
)

// A guess is a pair of places that are likely the same.
type guess struct {
	pair
	how       how
	score     float64
	described bool    // the descriptions say so, not the names
	template  string  // if one place of the pair is a string made of parts
	parts     []place // its parts; the pair has the first one
	silent    bool    // it pairs the string with one of the other parts, which the rule of the first one has
}

func (p pair) sameName() bool { return p[ofVersion].name() == p[ofHub].name() }

// A leftover is a place without a guess, or two that clash.
type leftover [2]*place

// match returns the likely pairs of a difference in the order of their paths, and what is left. No
// place is in two pairs.
func match(d *difference) ([]guess, []leftover) {
	m := &matcher{clashes: d.clashes}
	m.objects(d)
	m.templates()
	m.guesses = append(m.guesses, m.best(m.places, valueScore)...)
	var left []leftover
	for _, c := range m.clashes {
		if !m.resolve(c) {
			left = append(left, leftover{&c[ofVersion], &c[ofHub]})
		}
	}
	for side, places := range m.places {
		for _, p := range m.rest(places, side) {
			var l leftover
			l[side] = &p
			left = append(left, l)
		}
	}
	m.guesses = slices.DeleteFunc(m.guesses, func(g guess) bool { return g.silent })
	slices.SortFunc(m.guesses, func(a, b guess) int {
		return cmp.Or(strings.Compare(a.pair[ofVersion].path(), b.pair[ofVersion].path()),
			strings.Compare(a.pair[ofHub].path(), b.pair[ofHub].path()))
	})
	slices.SortStableFunc(left, func(a, b leftover) int { return strings.Compare(a.place().path(), b.place().path()) })
	return m.guesses, left
}

// A matcher has the places that lack a counterpart, and the guesses for them.
type matcher struct {
	places  [2][]place
	clashes []pair
	guesses []guess
}

// objects pairs objects that have fields in common, the outermost first: one rule then covers all
// of these fields. Whatever differs within a pair is matched like the rest.
func (m *matcher) objects(d *difference) {
	for len(d.only[ofVersion])+len(d.only[ofHub]) > 0 {
		guesses := m.best(d.only, objectScore)
		for side := range m.places {
			m.places[side] = append(m.places[side], d.only[side]...)
		}
		m.guesses = append(m.guesses, guesses...)
		d = &difference{}
		for _, g := range guesses {
			d.both(g.pair)
		}
		m.clashes = append(slices.Clip(m.clashes), d.clashes...)
	}
}

// best pairs the given places and those below them, the likeliest pair first.
func (m *matcher) best(places [2][]place, score func(p pair) (guess, bool)) []guess {
	var all []guess
	open := [2][]place{m.open(places[ofVersion], ofVersion), m.open(places[ofHub], ofHub)}
	many := len(open[ofVersion])*len(open[ofHub]) > maxPairs
	for _, v := range open[ofVersion] {
		for _, h := range open[ofHub] {
			if many && !shareWord(v.nameWords(), h.nameWords()) || !sameElements(v, h) {
				continue
			}
			if g, ok := score(pair{v, h}); ok {
				all = append(all, g)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b guess) int { return cmp.Compare(b.score, a.score) })
	var chosen []guess
	for _, g := range all {
		if !overlaps(g.pair, m.guesses) && !overlaps(g.pair, chosen) {
			chosen = append(chosen, g)
		}
	}
	return chosen
}

// open returns the places of a side and those below them, except for places in a pair and below
// one.
func (m *matcher) open(places []place, side int) []place {
	var all []place
	for _, p := range places {
		if slices.ContainsFunc(m.guesses, func(g guess) bool { return p.is(g.pair[side]) }) {
			continue
		}
		all = append(all, p)
		if p.node.Kind() == crdschema.Object {
			all = append(all, m.open(p.fields(), side)...)
		}
	}
	return all
}

// overlaps reports whether a place is in a guess already. A pair of objects may have other pairs
// below it, of fields that they do not share.
func overlaps(p pair, taken []guess) bool {
	return slices.ContainsFunc(taken, func(t guess) bool {
		below := 0
		apart := true
		for side, q := range t.pair {
			if p[side].in(q) && !p[side].is(q) {
				below++
			}
			apart = apart && !p[side].in(q) && !q.in(p[side])
		}
		return !apart && (below < len(p) || !t.how.plain())
	})
}

// objectScore says how likely two objects are the same.
func objectScore(p pair) (guess, bool) {
	v, h := p[ofVersion].node, p[ofHub].node
	if v.Kind() != h.Kind() || v.Kind() != crdschema.Object || len(v.Properties()) == 0 {
		return guess{}, false
	}
	overlap := shared(v, h)
	score := max((nameScore(p)+overlap)/2, overlap*overlapAlone) - far(p)
	return guess{pair: p, score: score}, overlap >= enoughOverlap && score >= enough
}

// shared returns the part of the fields of the larger object that the other one has, too.
func shared(a, b *crdschema.Node) float64 {
	n := 0
	for _, name := range a.Properties() {
		if other := b.Property(name); other != nil && other.Kind() == a.Property(name).Kind() {
			n++
		}
	}
	return float64(n) / float64(max(len(a.Properties()), len(b.Properties())))
}

// valueScore says how likely two places hold the same value.
func valueScore(p pair) (guess, bool) {
	h, fit, ok := between(p)
	if !ok {
		return guess{}, false
	}
	g := guess{pair: p, how: h}
	names := nameScore(p)
	if text := textScore(p) * otherText; text > names {
		names, g.described = text, true
	}
	g.score = names*fit - far(p)
	if !p[ofVersion].segments[0].Equal(p[ofHub].segments[0]) {
		g.score *= otherRoot
	}
	return g, g.score >= enough
}

// nameScore compares the names of two places, alone and with the objects that they do not share.
func nameScore(p pair) float64 {
	if p.sameName() {
		return 1
	}
	n := p.common()
	return max(alike(p[ofVersion].nameWords(), p[ofHub].nameWords()),
		likeness(slices.Concat(p[ofVersion].words[n:]...), slices.Concat(p[ofHub].words[n:]...)))
}

// far returns the penalty for the steps between two places.
func far(p pair) float64 {
	return farPenalty * float64(len(p[ofVersion].segments)+len(p[ofHub].segments)-2*p.common()-2)
}

// common returns how many segments the paths of the objects around two places have in common.
func (p pair) common() int {
	n := 0
	for n < min(len(p[ofVersion].segments), len(p[ofHub].segments))-1 && p[ofVersion].segments[n].Equal(p[ofHub].segments[n]) {
		n++
	}
	return n
}

// textScore compares descriptions.
func textScore(p pair) float64 {
	const fewWords = 4
	var texts [2][]string
	for side := range p {
		texts[side] = strings.Fields(p[side].node.Structural().Description)
	}
	if min(len(texts[ofVersion]), len(texts[ofHub])) < fewWords {
		return 0
	}
	return likeness(texts[ofVersion], texts[ofHub])
}

// resolve makes a guess of two places of one path, if there is a way to convert their values.
func (m *matcher) resolve(p pair) bool {
	h, _, ok := between(p)
	if !ok || h.plain() || overlaps(p, m.guesses) {
		return false
	}
	m.guesses = append(m.guesses, guess{pair: p, how: h})
	return true
}

// rest returns the outermost places of a side that no guess is about. It takes an object apart if a
// guess is about a place below it.
func (m *matcher) rest(places []place, side int) []place {
	var left []place
	for _, p := range places {
		below := slices.ContainsFunc(m.guesses, func(g guess) bool { return g.pair[side].in(p) })
		switch {
		case !below:
			left = append(left, p)
		case !slices.ContainsFunc(m.guesses, func(g guess) bool { return g.pair[side].is(p) }):
			left = append(left, m.rest(p.fields(), side)...)
		}
	}
	return left
}

func (l leftover) place() place { return *cmp.Or(l[ofVersion], l[ofHub]) }
