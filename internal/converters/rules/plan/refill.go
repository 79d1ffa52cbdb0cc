package plan

import (
	"slices"

	"github.com/crdconvert/webhookd/internal/converters/rules/binding"
	"github.com/crdconvert/webhookd/internal/converters/rules/transform"
)

// A Refill is a field that only the source has, and that the way back fills in again: with a
// default, or from metadata. If it has that value, nothing is lost. A reverse conversion of the
// whole object finds out the same, and takes much longer (BenchmarkKinds in package rules).
type Refill struct {
	Steps []Step
	Fixed []byte         // the default, as JSON
	Way   *transform.Way // or what computes it
}

// refill returns what the way back fills in for a one-sided rule of the source, or nil if that may
// depend on more than metadata. The field is one of the program's value, so that it comes back
// wherever the value does.
func (b *builder) refill(of *binding.Rule, r *Rule) *Refill {
	if !b.c.local || b.whole || len(r.Out) > 0 || of.How == binding.Drops || of.When != [2]*transform.Guard{} || len(r.In) != 1 || !r.In[0].isField() {
		return nil
	}
	back, fixed := of.Transform[b.dst], of.DefaultOf(b.src, 0)
	switch {
	case fixed != nil:
		return &Refill{Steps: r.In[0].Steps, Fixed: fixed.JSON}
	case of.How == binding.Computes && back != nil:
		return &Refill{Steps: r.In[0].Steps, Way: back}
	}
	return nil
}

// isField reports whether a route leads to a member of the program's value.
func (r *Route) isField() bool { return len(r.Steps) == 1 && r.Steps[0].Kind == ByName }

// isLocal reports whether no rule changes metadata, and what rules compute depends on metadata and
// on their own places alone, none of which has others in it. Then a field that the way back drops
// changes nothing else of its result, and what it computes from metadata is known beforehand.
func isLocal(root *binding.Binding) bool {
	seen := map[*binding.Binding]bool{}
	var local func(of *binding.Binding) bool
	local = func(of *binding.Binding) bool {
		if of == nil || seen[of] {
			return true
		}
		seen[of] = true
		return !slices.ContainsFunc(of.Rules, func(r *binding.Rule) bool {
			return !isLocalRule(r, of == root) || !local(r.Below)
		}) && !slices.ContainsFunc(of.Elements, func(e *binding.Elements) bool { return !local(e.Binding) })
	}
	return local(root)
}

func isLocalRule(r *binding.Rule, ofRoot bool) bool {
	for s := range r.Ends {
		if w := r.Transform[s]; w != nil && !readMetadata(w.Reads) || !readMetadata(r.When[s].Reads()) {
			return false
		}
		for _, path := range r.Ends[s] {
			inMetadata := ofRoot && len(path.Segments) > 0 && path.Segments[0].Name == "metadata"
			if inMetadata || r.How == binding.Converts && !path.Place.Node.Scalar() {
				return false
			}
		}
	}
	return true
}

// readMetadata reports whether all reads are of metadata.
func readMetadata(reads []transform.Read) bool {
	return !slices.ContainsFunc(reads, func(r transform.Read) bool { return r.Element || len(r.Path) == 0 || r.Path[0].Name != "metadata" })
}
