package binding

import (
	"cmp"
	"slices"

	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
)

// An index finds the rules of a binding by their places on both sides, so that it takes no longer where there are more rules.
type index struct {
	roots           [2]indexed
	rules, elements int // how many of the binding's are in it
}

// An indexed place is one that rules name, or one on the way to it.
type indexed struct {
	path     []syntax.Segment // of one with rules
	rules    []*Rule          // that name the place, in the order of the binding
	elements []*Elements
	fields   map[string]*indexed
	members  []*indexed        // those of fields, in the order in which they were added
	others   []group           // by other segments than fields
	next     []syntax.Segment  // with which paths of rules go on
	listed   []syntax.Segment  // with which those of elements do
	has      map[segmentID]int // which of next (1) and listed (2) have a segment
}

// A segmentID is a segment, wherever it was written.
type segmentID struct {
	kind        syntax.SegmentKind
	name, value string
}

func idOf(s syntax.Segment) segmentID { return segmentID{s.Kind, s.Name, s.Value} }

// A group has the places below a list or map by segments of one kind and field.
type group struct {
	kind syntax.SegmentKind
	name string
	by   map[string]*indexed // by the values of segments
	all  []*indexed          // in the order in which they were added
}

// indexOf returns the index of a side. It writes nothing once the binding is complete, so that it is safe for concurrent use then.
func (b *Binding) indexOf(s Side) *indexed {
	x := &b.index
	if x.rules < len(b.Rules) || x.elements < len(b.Elements) {
		x.add(b)
	}
	return &x.roots[s]
}

// add adds the rules that are not in the index yet.
func (x *index) add(b *Binding) {
	for ; x.rules < len(b.Rules); x.rules++ {
		r := b.Rules[x.rules]
		r.order = x.rules
		for s := range r.Ends {
			for _, e := range r.Ends[s] {
				at := x.roots[s].place(e.Segments, (*indexed).named)
				if n := len(at.rules); n == 0 || at.rules[n-1] != r {
					at.path, at.rules = e.Segments, append(at.rules, r)
				}
			}
		}
	}
	for ; x.elements < len(b.Elements); x.elements++ {
		e := b.Elements[x.elements]
		e.order = x.elements
		for s := range e.Ends {
			if e.Has[s] {
				at := x.roots[s].place(e.Ends[s].Segments, (*indexed).gone)
				at.elements = append(at.elements, e)
			}
		}
	}
}

func (n *indexed) named(by syntax.Segment) { n.next = n.note(n.next, by, 1) }
func (n *indexed) gone(by syntax.Segment)  { n.listed = n.note(n.listed, by, 2) }

// note adds a segment to a list of the place, unless it is there.
func (n *indexed) note(list []syntax.Segment, by syntax.Segment, bit int) []syntax.Segment {
	id := idOf(by)
	if n.has[id]&bit != 0 {
		return list
	}
	if n.has == nil {
		n.has = map[segmentID]int{}
	}
	n.has[id] |= bit
	return append(list, by)
}

// place makes the place of a path; note is told of each segment on the way.
func (n *indexed) place(path []syntax.Segment, note func(*indexed, syntax.Segment)) *indexed {
	for _, by := range path {
		note(n, by)
		n = n.make(by)
	}
	return n
}

func (n *indexed) make(by syntax.Segment) *indexed {
	if by.Kind == syntax.Field {
		if n.fields == nil {
			n.fields = map[string]*indexed{}
		}
		if n.fields[by.Name] == nil {
			n.fields[by.Name] = &indexed{}
			n.members = append(n.members, n.fields[by.Name])
		}
		return n.fields[by.Name]
	}
	i := n.groupOf(by)
	if i < 0 {
		i = len(n.others)
		n.others = append(n.others, group{kind: by.Kind, name: by.Name, by: map[string]*indexed{}})
	}
	g := &n.others[i]
	if g.by[by.Value] == nil {
		g.by[by.Value] = &indexed{}
		g.all = append(g.all, g.by[by.Value])
	}
	return g.by[by.Value]
}

func (n *indexed) groupOf(by syntax.Segment) int {
	return slices.IndexFunc(n.others, func(g group) bool { return g.kind == by.Kind && g.name == by.Name })
}

// step goes on by a segment. It returns nil where no path of a rule does.
func (n *indexed) step(by syntax.Segment) *indexed {
	if n == nil || by.Kind == syntax.Field {
		if n == nil {
			return nil
		}
		return n.fields[by.Name]
	}
	if i := n.groupOf(by); i >= 0 {
		return n.others[i].by[by.Value]
	}
	return nil
}

// find returns a place, or nil.
func (n *indexed) find(path []syntax.Segment) *indexed {
	for _, by := range path {
		if n = n.step(by); n == nil {
			return nil
		}
	}
	return n
}

// along visits the places that a path leads through, or may lead through, as far as rules name them; and its end. Exact are those
// that it does lead through.
func (n *indexed) along(path []syntax.Segment, visit func(at *indexed, depth int, exact bool)) {
	n.alongFrom(path, 0, true, visit)
}

func (n *indexed) alongFrom(path []syntax.Segment, depth int, exact bool, visit func(at *indexed, depth int, exact bool)) {
	visit(n, depth, exact)
	if depth == len(path) {
		return
	}
	by := path[depth]
	same := n.step(by)
	if same != nil {
		same.alongFrom(path, depth+1, exact, visit)
	}
	for i := range n.others {
		g := &n.others[i]
		if !mayBe(by, syntax.Segment{Kind: g.kind, Name: g.name, Value: by.Value}) || g.kind == by.Kind && g.name == by.Name {
			continue // those of one group are apart
		}
		for _, k := range g.all {
			k.alongFrom(path, depth+1, false, visit)
		}
	}
	if by.Kind != syntax.Field && mayBe(by, syntax.Segment{Kind: syntax.Field}) {
		for _, k := range n.members {
			k.alongFrom(path, depth+1, false, visit)
		}
	}
}

// below visits all places below another one.
func (n *indexed) below(visit func(at *indexed)) {
	for _, k := range n.members {
		visit(k)
		k.below(visit)
	}
	for i := range n.others {
		for _, k := range n.others[i].all {
			visit(k)
			k.below(visit)
		}
	}
}

// RulesAt returns the rules of a place itself. The list must not be changed.
func (b *Binding) RulesAt(s Side, path []syntax.Segment) []*Rule {
	if at := b.indexOf(s).find(path); at != nil {
		return at.rules
	}
	return nil
}

// RulesBelow returns the rules that name places below another one, in their order.
func (b *Binding) RulesBelow(s Side, path []syntax.Segment) []*Rule {
	at := b.indexOf(s).find(path)
	if at == nil {
		return nil
	}
	var found []*Rule
	at.below(func(at *indexed) { found = append(found, at.rules...) })
	slices.SortFunc(found, func(a, b *Rule) int { return cmp.Compare(a.order, b.order) })
	return slices.Compact(found)
}

// ElementsBelow returns the rules that go through the elements of places below another one, in their order.
func (b *Binding) ElementsBelow(s Side, path []syntax.Segment) []*Elements {
	at := b.indexOf(s).find(path)
	if at == nil {
		return nil
	}
	var found []*Elements
	at.below(func(at *indexed) { found = append(found, at.elements...) })
	slices.SortFunc(found, func(a, b *Elements) int { return cmp.Compare(a.order, b.order) })
	return found
}

// ElementsAt returns the rules that go through the elements of a place, or nil.
func (b *Binding) ElementsAt(s Side, path []syntax.Segment) *Elements {
	if at := b.indexOf(s).find(path); at != nil && len(at.elements) > 0 {
		return at.elements[0]
	}
	return nil
}

// Next returns the segments with which paths of rules go on below a place. The list must not be changed.
func (b *Binding) Next(s Side, path []syntax.Segment) []syntax.Segment {
	at := b.indexOf(s).find(path)
	if at == nil {
		return nil
	}
	if len(at.listed) == 0 {
		return at.next
	}
	found := slices.Clone(at.next)
	for _, by := range at.listed {
		if at.has[idOf(by)]&1 == 0 {
			found = append(found, by)
		}
	}
	return found
}
