package check

import (
	"slices"

	"github.com/crdconvert/webhookd/internal/converters/rules/binding"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

func sides() [2]binding.Side { return [2]binding.Side{binding.OfSpoke, binding.OfHub} }

// defaultKey returns the key of a rule that gives a side a value where the other side gives none.
func defaultKey(s binding.Side) string { return [...]string{"defaultInSpoke", "defaultInHub"}[s] }

// guardKey returns the key of the condition under which a rule writes its place on a side.
func guardKey(s binding.Side) string { return [...]string{"whenToSpoke", "whenToHub"}[s] }

// computeKey returns the key of the expression that computes a side.
func computeKey(s binding.Side) string { return [...]string{"toSpoke", "toHub"}[s] }

func guardOf(r *syntax.Rule, s binding.Side) *syntax.Text {
	return [...]*syntax.Text{r.WhenToSpoke, r.WhenToHub}[s]
}

// guarded reports whether a rule writes its place on a side only under a condition.
func guarded(r *binding.Rule, s binding.Side) bool { return guardOf(r.Syntax, s) != nil }

// writes reports whether a rule gives its place on a side a value that depends on the other side.
func writes(r *binding.Rule, s binding.Side) bool {
	return r.Hands() || r.How == binding.Converts || r.How == binding.Computes && len(r.Ends[s]) > 0
}

// posOf returns where a rule names its place on a side, or where it starts if it has none.
func posOf(r *syntax.Rule, s binding.Side) syntax.Position {
	if place := s.In(r); place != nil {
		return place.Pos
	}
	return r.Pos
}

// implicit returns the binding of elements that are copied one by one.
func implicit(b *binding.Binding, src binding.Side, by syntax.Segment, from, to []syntax.Segment, places [2]binding.Place) *binding.Binding {
	of, dst := &binding.Binding{}, src.Other()
	of.Base[src], of.Base[dst] = places[0].Step(by), places[1].Step(by)
	of.Prefix[src], of.Prefix[dst] = b.Text(src, append(slices.Clone(from), by)), b.Text(dst, append(slices.Clone(to), by))
	return of
}

// pickKey reports whether a path ends at the field by which its element is picked: the path has its
// value.
func pickKey(b *binding.Binding, s binding.Side, path []syntax.Segment) bool {
	n := len(path)
	return n == 1 && b.Picked[s] != "" && path[0].Name == b.Picked[s] ||
		n > 1 && path[n-2].Kind == syntax.Pick && path[n-1].Name == path[n-2].Name
}

func isPick(s syntax.Segment) bool { return s.Kind == syntax.Pick || s.Kind == syntax.First }

// skipped reports whether a member of a whole object is outside of coverage: every object has
// apiVersion, kind and metadata, and they pass from version to version as they are.
func skipped(name string) bool {
	return name == "apiVersion" || name == "kind" || name == "metadata"
}

// optional returns the places on a path that may be absent, appended to those that are known to be
// there.
func optional(b *binding.Binding, s binding.Side, path []syntax.Segment, given []string) []string {
	all := slices.Clone(given)
	at := b.Base[s]
	for i, by := range path {
		if by.Kind != syntax.Field || at.Node == nil || !at.Node.IsRequired(by.Name) && !hasDefault(at.Node.Property(by.Name)) {
			all = append(all, (syntax.Path{Segments: path[:i+1]}).String())
		}
		at = at.Step(by)
	}
	return all
}

// hasDefault reports whether the API server adds a value that is absent.
func hasDefault(n *crdschema.Node) bool {
	_, has := n.Default()
	return has
}
