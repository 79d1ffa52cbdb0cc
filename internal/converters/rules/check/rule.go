package check

import (
	"slices"

	"github.com/crdconvert/webhookd/internal/converters/rules/binding"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
)

// defaultKey returns the key that gives a side a value where the other one gives none.
func defaultKey(s binding.Side) string { return [...]string{"default", "hubDefault"}[s] }

// guardKey returns the key of the condition under which a rule writes its place on a side.
func guardKey(s binding.Side) string { return [...]string{"whenHub", "when"}[s] }

// guarded reports whether a rule writes its place on a side only under a condition.
func guarded(r *binding.Rule, s binding.Side) bool {
	return [...]*syntax.Text{r.Syntax.WhenHub, r.Syntax.When}[s] != nil
}

// writes reports whether a rule gives its place on a side a value from what the other version says.
func writes(r *binding.Rule, s binding.Side) bool {
	return r.Hands() || r.How == binding.Converts || r.How == binding.Computes && len(r.Ends[s]) > 0
}

// implicit returns the binding of elements that are copied one by one.
func implicit(b *binding.Binding, src binding.Side, by syntax.Segment, from, to []syntax.Segment, places [2]binding.Place) *binding.Binding {
	of, dst := &binding.Binding{}, src.Other()
	of.Base[src], of.Base[dst] = places[0].Step(by), places[1].Step(by)
	of.Prefix[src], of.Prefix[dst] = b.Text(src, append(slices.Clone(from), by)), b.Text(dst, append(slices.Clone(to), by))
	return of
}

// pickKey reports whether a path ends at the field by which its element was picked: its value is in the path.
func pickKey(b *binding.Binding, s binding.Side, path []syntax.Segment) bool {
	switch n := len(path); n {
	case 0:
		return false
	case 1:
		return b.Picked[s] != "" && path[0].Name == b.Picked[s]
	default:
		return path[n-2].Kind == syntax.Pick && path[n-1].Name == path[n-2].Name
	}
}

// optional returns the places on the way to another one that may not be there, added to those that are known to be.
func optional(b *binding.Binding, s binding.Side, path []syntax.Segment, more []string) []string {
	all := slices.Clone(more)
	at := b.Base[s]
	for i, by := range path {
		if !surely(at, by) {
			all = append(all, (syntax.Path{Segments: path[:i+1]}).String())
		}
		at = at.Step(by)
	}
	return all
}

// surely reports whether a member is in every object of a place: it is required, or the API server adds it.
func surely(p binding.Place, by syntax.Segment) bool {
	if by.Kind != syntax.Field || p.Node == nil {
		return false
	}
	_, added := p.Node.Property(by.Name).Default()
	return added || p.Node.IsRequired(by.Name)
}
