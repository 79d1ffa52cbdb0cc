package suggest

import (
	"cmp"
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// Scores are from 0, nothing in common, to 1, the same name, and aroundWeight more if the names
// around the two places are the same as well. The numbers were found by trying, on the kinds of
// testdata/kinds, examples and test/upstream and on the CRDs of two dozen projects: a number is
// where most of the right guesses are on one side of it, and most of the wrong ones on the other.
const (
	enough        = 0.5     // the least score of a guess
	likelyName    = 0.65    // so much of a name that a field has joined an object: two words of three
	enoughOverlap = 0.5     // the least part of its fields that an object shares with another one
	telltale      = 5       // so many say that two objects are the same, however many others there are
	manyFields    = 3       // so many are hardly the same by chance
	nearlyAll     = 0.75    // most of them
	overlapAlone  = 0.75    // factor of that part, if the names say nothing
	farPenalty    = 0.02    // for each step between two places
	otherRoot     = 0.6     // factor if one place is in spec and the other is not
	maxPairs      = 1 << 18 // with more pairs of places, names without a word in common are not compared
	aroundWeight  = 0.2     // for all of the names around two places in common: less than for a name
	otherText     = 0.7     // factor of similar descriptions
	namesakes     = 0.05    // so close are two places of one name if the names around them do not tell which
	rivalry       = 0.1     // a guess is doubtful if a place has another one that is this close
)

// A guess is a pair of places that are likely the same.
type guess struct {
	pair
	how        how
	score      float64
	clear      bool   // no other guess for either place is nearly as likely
	sure       bool   // it is written as a rule, not as a comment
	why        string // in words, if the names and types do not show it
	structural bool   // only what is in the places says so
	described  bool   // the descriptions say so, not the names
}

// match returns the likely pairs of two versions in the order of their paths. No place is in two
// pairs.
func match(versionName, hubName string, version, hub *crdschema.Node) []guess {
	m := &matcher{names: [2]string{versionName, hubName}, taken: [2]map[string]bool{{}, {}}}
	m.compare(pair{{node: version}, {node: hub}})
	for more := true; more; { // a pair of objects or lists shows new places
		more = m.accept(m.best(containerScore)) || m.accept(m.best(nearScore)) || m.accept(m.lone()) || m.accept(m.best(valueScore))
	}
	m.join()
	slices.SortFunc(m.guesses, func(a, b guess) int {
		return cmp.Or(strings.Compare(a.pair[ofVersion].path(), b.pair[ofVersion].path()),
			strings.Compare(a.pair[ofHub].path(), b.pair[ofHub].path()))
	})
	return m.guesses
}

// A matcher has the places that lack a counterpart, and the guesses for them.
type matcher struct {
	names   [2]string // of the versions
	places  [2][]place
	guesses []guess
	taken   [2]map[string]bool // the paths of the guesses
	scopes  int
}

// join makes a guess sure if several sure ones are for its neighbors: fields of one object that
// have moved to one object, all under their names.
func (m *matcher) join() {
	neighbors := map[[2]string]int{}
	outer := func(g guess) [2]string { return [2]string{g.pair[ofVersion].outer(), g.pair[ofHub].outer()} }
	for _, g := range m.guesses {
		if g.sure && g.sameName() && !g.samePath() {
			neighbors[outer(g)]++
		}
	}
	for i, g := range m.guesses {
		if g.sameName() && g.how.plain() && !g.pair[ofVersion].clashes && !g.pair[ofHub].clashes && neighbors[outer(g)] >= manyFields {
			m.guesses[i].sure = true
		}
	}
}

// accept takes guesses, and compares what is in their places. It reports whether there are any.
func (m *matcher) accept(guesses []guess) bool {
	for _, g := range guesses {
		g.sure = g.isSure()
		m.guesses = append(m.guesses, g)
		for side := range g.pair {
			m.taken[side][g.pair[side].path()] = true
		}
		m.inside(g)
	}
	return len(guesses) > 0
}

// inside compares what is in a pair of objects, lists or maps.
func (m *matcher) inside(g guess) {
	if g.how.codec != "" || g.how.values != nil {
		return
	}
	at := g.walk(g.how.suffix)
	for side := range at {
		at[side].doubtful, at[side].clashes = !g.sure, false
		at[side].under, at[side].base = len(m.guesses), len(at[side].segments)
	}
	if slices.ContainsFunc(slices.Concat(g.how.suffix[:]...), syntax.Segment.Iterates) {
		m.scopes++
		for side := range at {
			at[side].scope = m.scopes
			if last := g.how.suffix[side][len(g.how.suffix[side])-1]; last.Kind == syntax.KeyedElements {
				m.taken[side][at[side].field(last.Name).path()] = true
			}
		}
	}
	if at[ofVersion].node.Kind() == at[ofHub].node.Kind() && !at[ofVersion].node.Scalar() {
		m.both(at)
	}
}

// best pairs the places that are open and those below them, the likeliest pair first.
func (m *matcher) best(score func(p pair) (guess, bool)) []guess {
	var all []guess
	open := [2][]place{m.open(m.places[ofVersion], ofVersion), m.open(m.places[ofHub], ofHub)}
	many := len(open[ofVersion])*len(open[ofHub]) > maxPairs
	for _, v := range open[ofVersion] {
		for _, h := range open[ofHub] {
			p := pair{v, h}
			if !p.mayBe() || many && !shareWord(v.nameWords(), h.nameWords()) {
				continue
			}
			if g, ok := score(p); ok {
				all = append(all, g)
			}
		}
	}
	outermostFirst(all)
	slices.SortStableFunc(all, func(a, b guess) int { return cmp.Compare(b.score, a.score) })
	var chosen []guess
	for _, g := range all {
		if !overlaps(g.pair, m.guesses) && !slices.ContainsFunc(chosen, func(c guess) bool { return !g.apart(c.pair) }) {
			g.clear = !slices.ContainsFunc(all, g.rivals)
			// A name that is in many places says nothing.
			if g.clear || !g.structural && (!g.sameName() || g.upOrDown() || !slices.ContainsFunc(all, g.hasNamesake)) {
				chosen = append(chosen, g)
			}
		}
	}
	return chosen
}

// outermostFirst makes pairs at least as likely as the pairs of fields of one name in them: one
// rule is better than several. The places of a side come before those below them.
func outermostFirst(all []guess) {
	const bonus = 0.001
	at := map[[2]string]int{}
	for i, g := range all {
		at[[2]string{g.pair[ofVersion].path(), g.pair[ofHub].path()}] = i
	}
	for _, g := range slices.Backward(all) {
		outer, ok := at[[2]string{g.pair[ofVersion].outer(), g.pair[ofHub].outer()}]
		if ok && g.sameName() {
			all[outer].score = max(all[outer].score, g.score+bonus)
		}
	}
}

// rivals reports whether another guess for one of the places is nearly as likely.
func (g guess) rivals(other guess) bool {
	shares := 0
	for side := range g.pair {
		if g.pair[side].is(other.pair[side]) {
			shares++
		}
	}
	return shares == 1 && other.score > g.score-rivalry
}

// hasNamesake reports whether another guess for one of the places is for the same name, and no less
// likely by the names around it.
func (g guess) hasNamesake(other guess) bool {
	return g.rivals(other) && other.sameName() && other.score > g.score-namesakes
}

// open returns the places of a side and those below them, except for places in a pair and below
// one.
func (m *matcher) open(places []place, side int) []place {
	var all []place
	for _, p := range places {
		if m.taken[side][p.path()] {
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
		below := p[ofVersion].in(t.pair[ofVersion]) && p[ofHub].in(t.pair[ofHub]) &&
			!p[ofVersion].is(t.pair[ofVersion]) && !p[ofHub].is(t.pair[ofHub])
		return !p.apart(t.pair) && (!below && (!t.contains(p) || !p.mayLeave()) || t.how.codec != "" || t.how.values != nil)
	})
}

// mayLeave reports whether two places are likely the same even if only one is below a guess: by
// their names, or by what is in them.
func (p pair) mayLeave() bool {
	v, h := p[ofVersion], p[ofHub]
	switch {
	case v.node.Kind() == h.node.Kind() && len(v.node.Enum()) > 1 && sameEnum(v.node, h.node):
		return true
	case !v.node.Same(h.node):
		return false
	case p.sameName():
		return p.upOrDown() || p.common() > 1 || p.telling()
	}
	return nameScore(p) >= likelyName || content(v.node) != nil && shareWord(v.nameWords(), h.nameWords())
}

// contains reports whether one place of a pair is below that of the guess, and the other is not.
func (g guess) contains(p pair) bool {
	in := [2]bool{}
	for side := range p {
		in[side] = p[side].in(g.pair[side])
		if p[side].is(g.pair[side]) || !in[side] && g.pair[side].in(p[side]) {
			return false
		}
	}
	return in[ofVersion] != in[ofHub]
}

// lone pairs the only places of a kind that are left on both sides: in one object, or anywhere if
// the kind is rare.
func (m *matcher) lone() []guess {
	var found []guess
	versions, hubs := m.leaves(ofVersion), m.leaves(ofHub)
	for _, v := range versions {
		h, ok := nearest(hubs, func(h place) pair { return pair{v, h} })
		if !ok {
			continue
		}
		if back, ok := nearest(versions, func(o place) pair { return pair{o, h} }); !ok || !back.is(v) {
			continue
		}
		if p := (pair{v, h}); !overlaps(p, m.guesses) {
			_, noun, _ := strings.Cut(v.node.Kind().String(), " ") // without its article
			found = append(found, guess{pair: p, score: enough, why: "the only " + noun + " left on both sides"})
		}
	}
	return found
}

// nearest returns the only place that is alike and has no other one as near as it.
func nearest(all []place, with func(p place) pair) (best place, ok bool) {
	least := 0.0
	for _, p := range all {
		switch at := far(with(p)); {
		case !with(p).alike() || best.node != nil && at > least:
		case best.node != nil && at == least:
			ok = false
		default:
			best, least, ok = p, at, true
		}
	}
	return best, ok
}

// leaves returns the open places of a side that have no places below them, and do not clash.
func (m *matcher) leaves(side int) []place {
	return slices.DeleteFunc(m.open(m.places[side], side), func(p place) bool { return p.clashes || len(p.node.Properties()) > 0 })
}

// alike reports whether two places could be a pair if no other place had their kind.
func (p pair) alike() bool {
	kind := p[ofVersion].node.Kind()
	if kind != p[ofHub].node.Kind() || kind == crdschema.Any || !p.mayBe() || p.opposite() || !p.rare() && !p.siblings() && !p.upOrDown() {
		return false
	}
	v, h := p[ofVersion].node, p[ofHub].node
	return kind == crdschema.Integer || kind == crdschema.Number || v.Same(h) && (p.siblings() || p[ofVersion].under > 0 || kind != crdschema.String && kind != crdschema.Object) || len(v.Enum()) > 1 && sameEnum(v, h)
}

func sameEnum(a, b *crdschema.Node) bool {
	return slices.Equal(slices.Sorted(slices.Values(a.Enum())), slices.Sorted(slices.Values(b.Enum())))
}

// rare reports whether few fields have the type of a place.
func (p pair) rare() bool {
	n := p[ofVersion].node
	return n.Kind() == crdschema.IntOrString || len(n.Enum()) > 1 || n.Kind() == crdschema.Map && n.Values().Kind() == crdschema.IntOrString
}
