package keep

import (
	"context"

	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// Diff returns the entries that bring x back: x was converted to y, and y converts back to g, both
// as in the package comment. X and g are objects of the layout's version. Diff only reads the
// objects. With unknown, it also keeps fields that no schema knows and that g has, as the API
// server may prune them from y. Restored is what Restore returned in the same conversion, or nil.
//
// Diff takes time in proportion to x and g, and the entries are valid until m is reset. It fails if
// the context is done, or for an object with too many members.
func Diff(ctx context.Context, m *Memory, x, g, y *jsondoc.Object, l *Layout, unknown bool, restored *Restored) ([]*Entry, error) {
	if restored == nil {
		restored = &Restored{}
	}
	d := &differ{walker: newWalker(ctx, g, l), arena: &m.arena, unknown: unknown, restored: restored}
	if d.diff(x, y, l); d.err == nil && len(d.entries) > maxAnnotations {
		d = &differ{walker: newWalker(ctx, g, l), arena: &m.arena, unknown: unknown, restored: restored, coarse: true}
		d.diff(x, y, l)
	}
	return d.entries, d.err
}

// A differ compares two values of one version, x and g.
type differ struct {
	walker // of g

	arena    *arena
	unknown  bool
	restored *Restored
	// coarse keeps what only x has as one entry, not leaf by leaf.
	coarse  bool
	within  int // how many lists without keys this is in
	in      int // how many steps of the path have to be there for an entry below to return
	entries []*Entry
}

func (d *differ) diff(x, y *jsondoc.Object, l *Layout) {
	root := l.root(y)
	d.metadata(d.member(x.Node, "metadata"), d.member(d.object, "metadata"), root.member("metadata", 1))
	d.members(x.Node, d.object, root, isHead)
}

// isHead reports whether a conversion must not change a member of an object, or may change only
// part of it.
func isHead[T string | []byte](name T) bool {
	return string(name) == "apiVersion" || string(name) == "kind" || string(name) == "metadata"
}

func (d *differ) member(n *jsondoc.Node, name string) *jsondoc.Node {
	m, err := n.Member(name)
	d.note(err)
	return m
}

// metadata compares labels and annotations, apart from webhookd's own. An empty object is like
// none.
func (d *differ) metadata(x, g *jsondoc.Node, c cursor) {
	for _, field := range []string{"labels", "annotations"} {
		was, now := d.member(x, field), d.member(g, field)
		if was == nil && now == nil || was.SameText(now) || d.stopped() {
			continue
		}
		d.push(Step{Name: "metadata"}, g)
		d.push(Step{Name: field}, now)
		d.members(was, now, c.member(field, 2), IsOwn)
		d.pop()
		d.pop()
	}
}

// members compares the members of two objects, either of which may be nil.
func (d *differ) members(x, g *jsondoc.Node, c cursor, leaveOut func(string) bool) {
	d.note(jsondoc.Pairs(x, g, d.unknown, func(name string, a, b *jsondoc.Node) bool {
		if leaveOut != nil && leaveOut(name) {
			return true
		}
		in := d.in
		d.push(Step{Name: name, data: c.userNamed(name)}, b)
		d.value(a, b, c.member(name, len(d.path)))
		d.pop()
		d.in = in
		return !d.stopped()
	}))
}

// value compares two values, one of which may be nil.
func (d *differ) value(x, g *jsondoc.Node, c cursor) {
	switch {
	case d.stopped() || c.place != nil && c.place.Dropped:
	case d.unknown && x != nil && c.unknown():
		if !d.restored.survived[survivor(d.path, x)] {
			d.add(Entry{value: x.Text()}, c)
		}
	case x == nil:
		d.absent(g, c)
	case g == nil:
		d.missing(c)
		d.only(x, c.nothing(len(d.path)))
	case x.SameText(g) && !d.unknown:
	case x.Kind() == jsondoc.Map && g.Kind() == jsondoc.Map && d.goesInto(x):
		d.objects(x, g, c)
	case x.Kind() == jsondoc.Array && g.Kind() == jsondoc.Array && d.goesInto(x):
		d.lists(x, g, c)
	case d.gained(c) && c.filled(x):
	case !same(x, g):
		d.keep(Entry{value: x.Text()}, g, c)
	}
}

// objects compares two objects, as elements if the other version has this one in a list.
func (d *differ) objects(x, g *jsondoc.Node, c cursor) {
	if c.place == nil || !c.place.Element {
		d.both(c)
		d.members(x, g, c, nil)
		return
	}
	e := c.alone()
	if d.within >= maxNested {
		d.keep(Entry{value: x.Text()}, g, c)
		return
	}
	if kept := d.part(x, g, e); len(kept) > 0 {
		d.add(Entry{kind: isList, list: &listEntry{
			was: []stamps{one(stampOf(digest(g)))}, parts: []listPart{{0, kept, likeness(g, e)}},
		}}, c)
	}
}

// part compares two elements, where paths start again.
func (d *differ) part(x, g *jsondoc.Node, c cursor) []*Entry {
	if !d.unknown && x.SameText(g) {
		return nil
	}
	sub := &differ{
		walker: d.startingAt(g), arena: d.arena, unknown: d.unknown, restored: d.restored, coarse: d.coarse, within: d.within + 1,
	}
	if x.Kind() == jsondoc.Map && g.Kind() == jsondoc.Map {
		sub.members(x, g, c, nil)
	} else {
		sub.value(x, g, c)
	}
	d.note(sub.err)
	return sub.entries
}

// both notes that x and g have an object or a list at the path.
func (d *differ) both(c cursor) {
	if c.required() && !c.missing() {
		d.in = len(d.path)
	}
}

// only keeps a value that g lacks, leaf by leaf, as server-side apply sees them.
func (d *differ) only(x *jsondoc.Node, c cursor) {
	if c.oneSided() && c.filled(x) || d.gained(c) && c.filled(x) {
		return // the schema fills it in again
	}
	before := len(d.entries)
	switch {
	case d.coarse && !c.place.drops():
		d.keep(Entry{value: x.Text()}, nil, c)
	case x.Kind() == jsondoc.Map && !d.isEmpty(x) && d.goesInto(x):
		if d.members(x, nil, c, nil); len(d.entries) == before && !c.place.drops() {
			d.keep(Entry{value: []byte("{}")}, nil, c) // the schema fills in the rest
		}
	case x.Kind() == jsondoc.Array && d.goesInto(x) && (d.onlyElements(d.elements(x), c) || d.onlyBehindFirst(d.elements(x), c)):
	default:
		d.keep(Entry{value: x.Text()}, nil, c)
	}
}

// absent keeps that x has nothing where g has a value. All of g is its base, so an edit of a part
// is an edit of the whole. What the schema fills in is not kept: a manifest in Git that leaves it
// to the API server converts without annotations.
func (d *differ) absent(g *jsondoc.Node, c cursor) {
	if !c.schemaFills(g) && !d.allGained(g, c) {
		d.keep(Entry{kind: isAbsent}, g, c)
	}
}

// allGained reports whether all leaves of g are gained.
func (d *differ) allGained(g *jsondoc.Node, c cursor) bool {
	if len(d.restored.gained) == 0 || d.gained(c) || g.Kind() != jsondoc.Map || d.isEmpty(g) {
		return d.gained(c) && !c.fallback(g)
	}
	all := true
	d.note(g.Each(func(name string, m *jsondoc.Node) bool {
		all = d.allGained(m, c.member(name, len(d.path)+1))
		return all
	}))
	return all
}

// gained reports whether the other version has got this place, or its unit, from a kept value
// although it showed nothing: the rules have grown.
func (d *differ) gained(c cursor) bool {
	if len(d.restored.gained) == 0 || c.conditional {
		return false
	}
	if c.tracked && c.peer != nil {
		return d.restored.gained[c.peer]
	}
	for _, m := range c.unit.places(false) {
		if n, err := find(c.unitPeer, m.Path); err == nil && n != nil && d.restored.gained[n] {
			return true
		}
	}
	return false
}

// keep adds an entry for the path, with the digests of its unit.
func (d *differ) keep(e Entry, g *jsondoc.Node, c cursor) {
	absent := e.kind == isAbsent
	e.base, e.shown, e.watch = one(d.base(g, c, true)), one(d.shown(c, absent || d.lacks(g), true)), one(d.watch(c, absent, true))
	if e.shown.first.any {
		e.shownBy = d.otherVersion
	}
	d.add(e, c)
}

// add adds an entry for the path.
func (d *differ) add(e Entry, c cursor) {
	e.path, e.in, e.twoSided = d.arena.path(d.path), max(e.in, min(d.in, usualIn(d.path))), !c.oneSided()
	d.entries = append(d.entries, d.arena.entry(e))
}

// goesInto reports whether the parts of a value have paths that are not too long.
func (d *differ) goesInto(n *jsondoc.Node) bool {
	most := maxSteps - 1
	if n.Kind() == jsondoc.Array {
		most-- // entries of an element are for its parts
	}
	return len(d.path) < most
}

func (d *differ) isEmpty(n *jsondoc.Node) bool {
	d.member(n, "") // Len has no error
	return n.Len() == 0
}
