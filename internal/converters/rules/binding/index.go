package binding

import (
	"cmp"
	"slices"

	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
)

// An index finds the rules of a binding by their places on both sides, in the same time however
// many rules there are.
type index struct {
	roots           [2]indexNode
	rules, elements int // the number of the binding's rules and elements that it has
}

// An indexNode is a place that rules name, or that is above one.
type indexNode struct {
	by       syntax.Segment   // which leads here
	path     []syntax.Segment // of a place with rules
	rules    []*Rule          // that name the place, in the order of the binding
	elements []*Elements
	kids     []*indexNode // in the order in which they were added
	groups   []group      // of the kids

	free, reader *node // see uniter.joinFree
}

// A group is the kids of a place by segments of one kind and key field.
type group struct {
	kind syntax.SegmentKind
	key  string
	by   map[string]*indexNode // by the names of fields, or the values of other segments
	all  []*indexNode          // in the order in which they were added
}

// keysOf returns the key field of a segment's group and the key of the segment in it.
func keysOf(by syntax.Segment) (group, key string) {
	if by.Kind == syntax.Field {
		return "", by.Name
	}
	return by.Name, by.Value
}

func (n *indexNode) group(by syntax.Segment) *group {
	key, _ := keysOf(by)
	i := slices.IndexFunc(n.groups, func(g group) bool { return g.kind == by.Kind && g.key == key })
	if i < 0 {
		return nil
	}
	return &n.groups[i]
}

// indexOf returns the index of a side. It writes nothing once the binding is complete, so it is
// then safe for concurrent use.
func (b *Binding) indexOf(s Side) *indexNode {
	x := &b.index
	for ; x.rules < len(b.Rules); x.rules++ {
		r := b.Rules[x.rules]
		r.order = x.rules
		for s := range r.Ends {
			for _, e := range r.Ends[s] {
				at := x.roots[s].make(e.Segments)
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
				at := x.roots[s].make(e.Ends[s].Segments)
				at.elements = append(at.elements, e)
			}
		}
	}
	return &x.roots[s]
}

// make returns the node of a path, which it creates if needed.
func (n *indexNode) make(path []syntax.Segment) *indexNode {
	for _, by := range path {
		key, value := keysOf(by)
		g := n.group(by)
		if g == nil {
			n.groups = append(n.groups, group{kind: by.Kind, key: key, by: map[string]*indexNode{}})
			g = &n.groups[len(n.groups)-1]
		}
		k := g.by[value]
		if k == nil {
			k = &indexNode{by: by}
			g.by[value], g.all, n.kids = k, append(g.all, k), append(n.kids, k)
		}
		n = k
	}
	return n
}

// step returns the kid that a segment leads to, or nil.
func (n *indexNode) step(by syntax.Segment) *indexNode {
	if g := n.group(by); g != nil {
		_, value := keysOf(by)
		return g.by[value]
	}
	return nil
}

// find returns the node of a path, an empty one if no rule names it.
func (n *indexNode) find(path []syntax.Segment) indexNode {
	for _, by := range path {
		if n = n.step(by); n == nil {
			return indexNode{}
		}
	}
	return *n
}

// along visits the nodes that a path leads through or may lead through, and its end. Exact says
// that it does lead there.
func (n *indexNode) along(path []syntax.Segment, visit func(at *indexNode, depth int, exact bool)) {
	n.alongFrom(path, 0, true, visit)
}

func (n *indexNode) alongFrom(path []syntax.Segment, depth int, exact bool, visit func(at *indexNode, depth int, exact bool)) {
	visit(n, depth, exact)
	if depth == len(path) {
		return
	}
	by := path[depth]
	same := n.group(by) // whose nodes are distinct places
	if k := n.step(by); k != nil {
		k.alongFrom(path, depth+1, exact, visit)
	}
	for i := range n.groups {
		if g := &n.groups[i]; g != same && mayBe(by, g.all[0].by) {
			for _, k := range g.all {
				k.alongFrom(path, depth+1, false, visit)
			}
		}
	}
}

// below visits all nodes below a node.
func (n *indexNode) below(visit func(at *indexNode)) {
	for _, k := range n.kids {
		visit(k)
		k.below(visit)
	}
}

// inOrder sorts rules or elements and removes duplicates.
func inOrder[T interface{ position() int }](all []T) []T {
	slices.SortFunc(all, func(a, b T) int { return cmp.Compare(a.position(), b.position()) })
	return slices.CompactFunc(all, func(a, b T) bool { return a.position() == b.position() })
}

func (r *Rule) position() int     { return r.order }
func (e *Elements) position() int { return e.order }

// RulesAt returns the rules that name a place. The list must not be changed.
func (b *Binding) RulesAt(s Side, path []syntax.Segment) []*Rule {
	return b.indexOf(s).find(path).rules
}

// RulesBelow returns the rules that name places below a place, in their order.
func (b *Binding) RulesBelow(s Side, path []syntax.Segment) []*Rule {
	var found []*Rule
	at := b.indexOf(s).find(path)
	at.below(func(at *indexNode) { found = append(found, at.rules...) })
	return inOrder(found)
}

// ElementsBelow returns the rules that go through the elements of places below a place, in their
// order.
func (b *Binding) ElementsBelow(s Side, path []syntax.Segment) []*Elements {
	var found []*Elements
	at := b.indexOf(s).find(path)
	at.below(func(at *indexNode) { found = append(found, at.elements...) })
	return inOrder(found)
}

// ElementsAt returns the rules that go through the elements of a place, or nil.
func (b *Binding) ElementsAt(s Side, path []syntax.Segment) *Elements {
	if elements := b.indexOf(s).find(path).elements; len(elements) > 0 {
		return elements[0]
	}
	return nil
}

// Next returns the segments that lead from a place to places that rules name.
func (b *Binding) Next(s Side, path []syntax.Segment) []syntax.Segment {
	kids := b.indexOf(s).find(path).kids
	next := make([]syntax.Segment, 0, len(kids))
	for _, k := range kids {
		next = append(next, k.by)
	}
	return next
}
