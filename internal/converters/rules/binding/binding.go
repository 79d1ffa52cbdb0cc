package binding

import (
	"slices"

	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/converters/rules/transform"
)

// A Side is one of the two versions that rules are between.
type Side int

// The sides.
const (
	OfSpoke Side = iota // the version that the rules are of
	OfHub
)

// Other returns the other side.
func (s Side) Other() Side { return 1 - s }

// Key returns the name of the side in a rule.
func (s Side) Key() string { return [...]string{"spoke", "hub"}[s] }

// In returns what a rule names on the side, or nil.
func (s Side) In(r *syntax.Rule) *syntax.Place { return [...]*syntax.Place{r.Spoke, r.Hub}[s] }

// A Binding is the rules between a place of a version and a place of the hub: the whole objects, an
// element of a list and its counterpart, or the places of a rule set. Paths of its rules start at
// its bases. It is recursive if its rule sets are.
type Binding struct {
	Base     [2]Place
	Prefix   [2]string // the paths of the bases, for messages
	Rules    []*Rule
	Elements []*Elements
	Keys     [2]string    // the key field of an element whose counterpart is the entry of a map
	KeyBy    *syntax.Rule // which gives it
	Picked   [2]string    // the field by which the base is picked out of a list
	Covered  bool         // the rule that applies the rule set covers the base
	Units    []*Unit      // a place that is in none is a unit of its own
	index    index
}

// A Rule is a rule of a binding whose remaining path goes through no elements.
type Rule struct {
	Syntax    *syntax.Rule
	How       How
	Ends      [2][]Path
	Element   [2][]syntax.Segment // from the base to what expressions read as `element`
	Transform transform.Transform // of those that convert and compute, by the side that is converted from
	When      [2]*transform.Guard // for the conversion of a side to the other one
	Below     *Binding            // of those that use a rule set
	Doubtful  bool                // a finding is about it
	order     int                 // in its binding
}

// How is what a rule does with its places.
type How int

// What rules do.
const (
	Pairs    How = iota // it hands the value on
	Converts            // it computes each side from the other
	Uses                // it applies a rule set
	Keeps               // one-sided: kept in an annotation
	Computes            // one-sided: from the object
	Drops               // one-sided: lost on purpose
)

// A Path is a path of a rule and its place.
type Path struct {
	Segments []syntax.Segment // relative to the base of the binding
	Place    Place
	Base     Place
	Name     *syntax.NamedPath
}

// Elements are the rules that go through the elements of the same two lists or maps.
type Elements struct {
	Rule    *syntax.Rule // the first one
	Ends    [2]Path
	By      [2]syntax.Segment // the segments that go through them
	Has     [2]bool           // whether there is a list or map on the side
	Key     [2]string         // the key field that rules give for the elements of a list, or empty
	Binding *Binding
	rules   []pending
	order   int // in its binding
}

func howOf(r *syntax.Rule) How {
	computed := r.ToHub != nil || r.ToSpoke != nil
	switch {
	case r.Drop != nil:
		return Drops
	case r.Spoke == nil || r.Hub == nil:
		if computed {
			return Computes
		}
		return Keeps
	case r.Use != nil:
		return Uses
	case computed, r.Values != nil, r.HubValues != nil, r.Template != nil, r.Codec != nil, r.Go != nil, r.OmitEmpty != "",
		len(r.Spoke.Paths) != 1, len(r.Hub.Paths) != 1:
		return Converts
	}
	return Pairs
}

// Hands reports whether the rule hands on its value, apart from what rules say about parts of it.
func (r *Rule) Hands() bool { return r.How == Pairs || r.How == Uses }

// Whole returns the path of each element on a side.
func (e *Elements) Whole(s Side) []syntax.Segment {
	return append(slices.Clip(e.Ends[s].Segments), e.By[s])
}

// Paired reports whether both sides have a list or map.
func (e *Elements) Paired() bool { return e.Has[OfSpoke] && e.Has[OfHub] }

// DefaultOf returns the default of the rule's i-th place on a side, or nil.
func (r *Rule) DefaultOf(s Side, i int) *syntax.Literal {
	literal := [...]*syntax.Literal{r.Syntax.DefaultInSpoke, r.Syntax.DefaultInHub}[s]
	if name := r.Ends[s][i].Name; literal != nil && name != nil && name.Name != "" {
		literal = literal.Member(name.Name)
	}
	if from := r.Syntax.DefaultFrom; from != nil && literal == nil {
		if text, has := r.Ends[s][i].Place.Node.Default(); has {
			return &syntax.Literal{Pos: from.Pos, JSON: []byte(text)}
		}
	}
	return literal
}

// ReadsElement reports whether expressions for the conversion of a side read `element`.
func (r *Rule) ReadsElement(s Side) bool {
	reads := r.When[s].Reads()
	if way := r.Transform[s]; way != nil {
		reads = append(slices.Clip(reads), way.Reads...)
	}
	return slices.ContainsFunc(reads, func(read transform.Read) bool { return read.Element })
}

// HasDefault reports whether the rule has a default for a place of a side.
func (r *Rule) HasDefault(s Side) bool {
	for i := range r.Ends[s] {
		if r.DefaultOf(s, i) != nil {
			return true
		}
	}
	return false
}

// Owner returns a rule that owns a place, so that nothing is copied to or from it, or nil.
func (b *Binding) Owner(s Side, path []syntax.Segment) *syntax.Rule {
	if rules := b.RulesAt(s, path); len(rules) > 0 {
		return rules[0].Syntax
	}
	if e := b.ElementsAt(s, path); e != nil {
		return e.Rule
	}
	if len(path) == 1 && path[0].Kind == syntax.Field && path[0].Name == b.Keys[s] {
		return b.KeyBy
	}
	return nil
}

// Text returns the path of a place from the root of the object.
func (b *Binding) Text(s Side, path []syntax.Segment) string {
	if text := b.Prefix[s] + (syntax.Path{Segments: path}).String(); text != "" {
		return text
	}
	return "."
}

// Same reports whether two paths are the same.
func Same(a, b []syntax.Segment) bool { return slices.EqualFunc(a, b, syntax.Segment.Equal) }

// Within reports whether a place is below another one.
func Within(path, above []syntax.Segment) bool {
	return len(path) > len(above) && Same(path[:len(above)], above)
}

// IsMap reports whether a segment goes through the values of a map.
func IsMap(s syntax.Segment) bool { return s.Kind == syntax.Values || s.Kind == syntax.KeyedValues }
