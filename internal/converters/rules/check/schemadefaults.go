package check

import (
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/rules/binding"
	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// A defaulted collects places of the target whose default its counterpart does not have.
type defaulted struct {
	alone, differ []place
	ruled         []place // whose rule has a default
}

// A place is the path of a place of the source, and that of its counterpart.
type place struct{ from, to string }

func (p place) step(by string) place { return place{p.from + by, p.to + by} }

// deepestDefault bounds the comparison of recursive schemas.
const deepestDefault = 32

// compare compares two places and all below them.
func (d *defaulted) compare(at place, src, dst *crdschema.Node, depth int) {
	if src == nil || dst == nil || src == dst || depth > deepestDefault {
		return
	}
	d.look(at, src, dst)
	for _, name := range dst.Properties() {
		d.compare(at.step(syntax.Segment{Kind: syntax.Field, Name: name}.String()), src.Property(name), dst.Property(name), depth+1)
	}
	d.compare(at.step("[]"), src.Items(), dst.Items(), depth+1)
	d.compare(at.step("{}"), src.Values(), dst.Values(), depth+1)
}

// look compares two places themselves.
func (d *defaulted) look(at place, src, dst *crdschema.Node) {
	there, fills := dst.Default()
	here, same := src.Default()
	switch {
	case !fills || src == nil || slices.Contains(d.ruled, at):
	case !same:
		d.alone = append(d.alone, at)
	case here != there:
		d.differ = append(d.differ, at)
	}
}

// defaultOfRule compares the places of a rule that converts one value to one.
func (w *walker) defaultOfRule(v visit, r *binding.Rule) {
	if len(r.Ends[w.src]) == 1 && len(r.Ends[w.dst]) == 1 && !r.HasDefault(w.dst) {
		there := r.Ends[w.dst][0]
		if _, has := v.src.Node.Default(); !has {
			w.filled.look(place{v.binding.Text(w.src, v.path), v.binding.Text(w.dst, there.Segments)}, v.src.Node, there.Place.Node)
		}
	}
}

// sayDefaults reports defaults that only the target has, and, once for both directions, defaults
// that differ.
func (w *walker) sayDefaults() {
	d, src, dst := &w.filled, w.Names[w.src], w.Names[w.dst]
	if alone := distinct(d.alone); len(alone) > 0 {
		w.note(w.Version.Pos, "default-in-one-version", "give both versions the same default, or none",
			"%s -> %s: only %s has a default for %s: an annotation keeps that an object at %s has none",
			src, dst, dst, finding.Few(targets(alone), maxMembers), src)
	}
	if differ := distinct(d.differ); len(differ) > 0 && w.src == binding.OfSpoke {
		w.note(w.Version.Pos, "defaults-differ", "",
			"%s and %s have different defaults for %s: who leaves it out means something else at each version",
			src, dst, finding.Few(targets(differ), maxMembers))
	}
}

func distinct(places []place) []place {
	slices.SortFunc(places, func(a, b place) int { return strings.Compare(a.to, b.to) })
	return slices.Compact(places)
}

func targets(places []place) []string {
	texts := make([]string, 0, len(places))
	for _, p := range places {
		texts = append(texts, p.to)
	}
	return texts
}
