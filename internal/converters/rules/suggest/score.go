package suggest

import (
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// containerScore says how likely two objects, or two lists or maps of objects, are the same. One
// rule then covers all fields that they have in common, so the outermost ones come first.
func containerScore(p pair) (guess, bool) {
	v, h := content(p[ofVersion].node), content(p[ofHub].node)
	if v == nil || h == nil {
		return guess{}, false
	}
	g := guess{pair: p}
	if p[ofVersion].node.Kind() != crdschema.Object || p[ofHub].node.Kind() != crdschema.Object {
		how, _, ok := between(p)
		if !ok || how.codec != "" {
			return guess{}, false
		}
		g.how = how
	}
	names, same := nameScore(p), shared(v, h)
	few, most := len(v.Properties()), len(h.Properties())
	if few > most {
		few, most = most, few
	}
	overlap := float64(same) / float64(most)
	if same == few && same >= manyFields {
		overlap = max(overlap, nearlyAll) // one has all that the other has
	}
	if len(v.Properties()) >= manyFields && p.siblings() || p.sameName() && p.upOrDown() {
		overlap = float64(same) / float64(few) // A field may be new. Many are hardly the same by chance in one object.
	}
	switch g.score = max((names+overlap)/2, overlap*overlapAlone) - far(p) + around(p); {
	case g.how.keyed() && names == 1 && p.siblings():
		g.score = names
		return g, true
	case overlap >= enoughOverlap && g.score >= enough && (names > 0 || len(v.Properties()) >= manyFields):
		return g, true
	}
	// In one object, what the two have in common counts whatever their names are.
	g.structural, g.score = true, enough
	return g, p.siblings() && (same >= telltale || overlap >= enoughOverlap || v.Same(h))
}

// content returns the object that a place is or has elements of, or nil.
func content(n *crdschema.Node) *crdschema.Node {
	switch n.Kind() {
	case crdschema.Array:
		n = n.Items()
	case crdschema.Map:
		n = n.Values()
	case crdschema.None, crdschema.Object, crdschema.String, crdschema.Integer, crdschema.Number, crdschema.Boolean,
		crdschema.IntOrString, crdschema.Any:
	}
	if n.Kind() != crdschema.Object || len(n.Properties()) == 0 {
		return nil
	}
	return n
}

// shared returns how many fields two objects have in common. Objects of one name that have nothing
// in common do not count.
func shared(a, b *crdschema.Node) int {
	n := 0
	for _, name := range a.Properties() {
		x, y := a.Property(name), b.Property(name)
		if inX, inY := content(x), content(y); y != nil && x.Kind() == y.Kind() && (inX == nil || inY == nil || shareName(inX, inY)) {
			n++
		}
	}
	return n
}

// part returns the part of the fields of the larger object that the other one has, too.
func part(a, b *crdschema.Node) float64 {
	return float64(shared(a, b)) / float64(max(len(a.Properties()), len(b.Properties()), 1))
}

func shareName(a, b *crdschema.Node) bool {
	return slices.ContainsFunc(a.Properties(), func(name string) bool { return b.Property(name) != nil })
}

// valueScore says how likely two places hold the same value.
func valueScore(p pair) (guess, bool) {
	h, fit, ok := between(p)
	if !ok || h.plain() && p.samePath() {
		return guess{}, false
	}
	g := guess{pair: p, how: h}
	names := nameScore(p)
	if !h.plain() {
		names = max(names, likeness(g.withoutUnits(p[ofVersion].nameWords()), g.withoutUnits(p[ofHub].nameWords())))
	}
	if text := textScore(p) * otherText; text > names {
		names, g.described = text, true
	}
	g.score = names*fit - far(p) + around(p)
	if !p.sameName() {
		g.score -= far(p) // a similar name says little far away
	}
	if !p[ofVersion].segments[0].Equal(p[ofHub].segments[0]) {
		g.score *= otherRoot
	}
	return g, g.score >= enough
}

// nearScore is valueScore for places that have the same name or are in one object.
func nearScore(p pair) (guess, bool) {
	g, ok := valueScore(p)
	return g, ok && (p.sameName() || p.siblings() || p.upOrDown())
}

// nameScore compares the names of two places, alone and with the objects that they do not share.
func nameScore(p pair) float64 {
	version, hub := p.own()
	if !p.siblings() && (everywhere(p[ofVersion].name()) || everywhere(p[ofHub].name())) {
		return likeness(version, hub) // the names around it count
	}
	if p.sameName() {
		return 1
	}
	if short, long := sorted(version, hub); len(short) > 1 && slices.Equal(short, long[len(long)-len(short):]) {
		return 1 // build.resources is more likely buildResources than resources
	}
	return max(alike(p[ofVersion].nameWords(), p[ofHub].nameWords()), likeness(version, hub))
}

func sorted(a, b []string) (short, long []string) {
	if len(a) > len(b) {
		return b, a
	}
	return a, b
}

// around says how much the names of the objects around two places of one name have in common:
// metrics.credentials is likely metricsServer.credentials, not endpoint.credentials.
func around(p pair) float64 {
	if nameScore(p) < 1 {
		return 0
	}
	version, hub := p.own()
	return aroundWeight * likeness(version, hub)
}

// far returns the penalty for the steps between two places.
func far(p pair) float64 {
	p = p.relative()
	return farPenalty * float64(len(p[ofVersion].segments)+len(p[ofHub].segments)-2*p.common()-2)
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
