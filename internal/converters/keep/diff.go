package keep

import (
	"context"
	"errors"
	"slices"

	"github.com/crdconvert/webhookd/internal/converters/keep/annotation"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
)

// A Conversion is an object x that was converted to y, and g, which y converts back to, as in the
// package comment. Trace says where g's elements come from. The objects are not changed.
type Conversion struct {
	X, Y, G *jsondoc.Object
	Trace   *Trace
	Layout  *Layout // of the version of x and g
	// Unknown says that x has fields that no schema knows. They are kept although g has them, since
	// the API server may prune them from y.
	Unknown bool
	// Stored says that the objects are no fragments, so that they have all defaults.
	Stored bool
	// Restored is what [Restore] returned for y, or nil.
	Restored *Restored
}

// Diff returns the entries that bring x back. It takes time in proportion to x and g, and the
// entries are valid until m is reset. It fails if the context is done, or for an object with too
// many members.
func Diff(ctx context.Context, m *Memory, c *Conversion) ([]*annotation.Entry, error) {
	if c.Restored == nil {
		c.Restored = &Restored{}
	}
	d := &differ{Conversion: c, walker: newWalker(ctx, m, c.G)}
	if d.diff(); errors.Is(d.err, errMany) {
		d = &differ{Conversion: c, walker: newWalker(ctx, m, c.G), coarse: true}
		d.diff()
	}
	return d.entries, d.err
}

// A differ compares two values of one version, x and g.
type differ struct {
	*Conversion
	walker // of g

	// coarse keeps what only x has as one entry, not leaf by leaf.
	coarse  bool
	within  int // how many lists without keys this is in
	entries []*annotation.Entry
}

func (d *differ) diff() {
	root := d.Layout.root(d.X, d.Y, d.Trace)
	x, g := d.part(d.X.Node, "metadata"), d.part(d.object, "metadata")
	d.metadata(x, g, root.member("metadata", 1, d.object, d.X.Node))
	d.members(d.X.Node, d.object, root, isHead)
}

// isHead reports whether a conversion must not change a member of an object, or may change only
// part of it.
func isHead[T string | []byte](name T) bool {
	return string(name) == "apiVersion" || string(name) == "kind" || string(name) == "metadata"
}

func (d *differ) part(n *jsondoc.Node, name string) *jsondoc.Node {
	m, err := n.Member(name)
	d.note(err)
	return m
}

// metadata compares labels and annotations, apart from webhookd's own. An empty object is like
// none.
func (d *differ) metadata(x, g *jsondoc.Node, c cursor) {
	for _, field := range []string{"labels", "annotations"} {
		was, now := d.part(x, field), d.part(g, field)
		if was == nil && now == nil || was.SameText(now) || d.stopped() {
			continue
		}
		d.push(annotation.PathElement{Name: "metadata"}, g)
		d.push(annotation.PathElement{Name: field}, now)
		d.members(was, now, c.member(field, 2, g, x), annotation.IsOwn)
		d.pop()
		d.pop()
	}
}

// members compares the members of two objects, either of which may be nil.
func (d *differ) members(x, g *jsondoc.Node, c cursor, leaveOut func(string) bool) {
	d.note(jsondoc.Pairs(x, g, d.Unknown, func(field []byte, a, b *jsondoc.Node) bool {
		name := c.schema.Name(field)
		if leaveOut != nil && leaveOut(name) {
			return true
		}
		d.push(annotation.PathElement{Name: name, IsData: c.userNamed(name)}, b)
		d.value(a, b, c.member(name, len(d.path), g, x))
		d.pop()
		return !d.stopped()
	}))
}

// value compares two values, one of which may be nil.
func (d *differ) value(x, g *jsondoc.Node, c cursor) {
	switch {
	case d.stopped() || c.place.dropped():
	case d.Unknown && x != nil && c.unknown():
		if !d.Restored.unknown[survivor(d.path, x)] {
			d.add(annotation.Entry{Value: x.Text()}, c)
		}
	case x == nil:
		d.absent(g, c)
	case g == nil:
		before := d.missing(c)
		d.only(x, c)
		d.watched = d.watched[:before]
	case x.SameText(g) && !d.Unknown:
	case c.isDefaultContainer(g) && (c.there.Kind() != jsondoc.Map || x.Kind() != jsondoc.Map || !d.goesInto(x)):
		if !same(x, g) { // Restore does not see what is filled in, only what the other version has
			d.keep(annotation.Entry{Value: x.Text()}, g, c)
		}
	case x.Kind() == jsondoc.Map && g.Kind() == jsondoc.Map && d.goesInto(x):
		d.objects(x, g, c)
	case x.Kind() == jsondoc.Array && g.Kind() == jsondoc.Array && d.goesInto(x):
		d.lists(x, g, c)
	case d.newlyMapped(nil, c) && c.isFilled(x, true):
	case !same(x, g):
		d.keep(annotation.Entry{Value: x.Text()}, g, c)
	}
}

// objects compares two objects, as elements if the other version has this one in a list.
func (d *differ) objects(x, g *jsondoc.Node, c cursor) {
	switch {
	case c.place == nil || !c.place.Element:
		d.members(x, g, c, nil)
	case d.within >= annotation.MaxNested:
		d.keep(annotation.Entry{Value: x.Text()}, g, c)
	default:
		e := c.alone()
		if kept := d.inElement(x, g, e); len(kept) > 0 {
			d.add(annotation.Entry{Kind: annotation.KindList, List: &annotation.ListEntry{Length: 1, Elements: []*annotation.Element{keptElement(0, g, e, kept)}}}, c)
		}
	}
}

// inElement compares two elements, where paths start again.
func (d *differ) inElement(x, g *jsondoc.Node, c cursor) []*annotation.Entry {
	if !d.Unknown && x.SameText(g) {
		return nil
	}
	sub := &differ{Conversion: d.Conversion, walker: d.startingAt(g), coarse: d.coarse, within: d.within + 1}
	if x.Kind() == jsondoc.Map && g.Kind() == jsondoc.Map {
		sub.members(x, g, c, nil)
	} else {
		sub.value(x, g, c)
	}
	d.note(sub.err)
	return sub.entries
}

// only keeps a value that g lacks, leaf by leaf, as server-side apply sees them. Restore fills in
// defaults of rules in the objects that it makes.
func (d *differ) only(x *jsondoc.Node, c cursor) {
	before := len(d.entries)
	switch {
	case !c.tracked && c.isFilled(x, d.Stored):
	case d.coarse && !c.place.drops():
		d.keep(annotation.Entry{Value: x.Text()}, nil, c)
	case x.Kind() == jsondoc.Map && d.goesInto(x):
		if d.members(x, nil, c, nil); len(d.entries) == before {
			d.keep(annotation.Entry{Value: []byte("{}")}, nil, c)
		}
		d.withoutDefaults(x, c)
	case x.Kind() == jsondoc.Array && d.goesInto(x) && (d.onlyKeyed(d.elements(x), c) || d.onlyBehindFirst(d.elements(x), c)):
	default:
		d.keep(annotation.Entry{Value: x.Text()}, nil, c)
	}
}

// withoutDefaults keeps that an object has nothing where a rule would fill something in.
func (d *differ) withoutDefaults(x *jsondoc.Node, c cursor) {
	c.place.eachDefault(func(name string, _ *Place) {
		if d.part(x, name) != nil {
			return
		}
		d.push(annotation.PathElement{Name: name}, nil)
		d.keep(annotation.Entry{Kind: annotation.KindAbsent}, nil, c.member(name, len(d.path), nil, x))
		d.pop()
	})
}

// absent keeps that x has nothing where g has a value, unless the rules have come to map a value
// that returned in this conversion. A manifest that leaves a default to the API server has nothing
// either.
func (d *differ) absent(g *jsondoc.Node, c cursor) {
	if !d.newlyMapped(g, c) {
		d.absentWith(g, c)
	}
}

// absentWith is absent for a value and its parts.
func (d *differ) absentWith(g *jsondoc.Node, c cursor) {
	if !c.given && fills(c.schema, g) {
		return
	}
	if d.keep(annotation.Entry{Kind: annotation.KindAbsent}, g, c); !c.layout.Opaque && !d.coarse {
		d.absentParts(g, c, c.otherFills() || c.place != nil && c.place.FilledThere)
	}
}

// absentParts keeps that x has no part of an object that it lacks: an edit may give the object
// something else. Parts that the other version fills in come along with that, unless rules compute
// them.
func (d *differ) absentParts(g *jsondoc.Node, c cursor, filled bool) {
	if g.Kind() != jsondoc.Map || !d.goesInto(g) {
		return
	}
	d.note(g.Each(func(name string, m *jsondoc.Node) bool {
		d.push(annotation.PathElement{Name: name, IsData: c.userNamed(name)}, m)
		part := c.member(name, len(d.path), g, nil)
		if !filled || part.there == nil || part.otherFills() {
			d.absentWith(m, part)
		} else {
			d.absentParts(m, part, filled)
		}
		d.pop()
		return !d.stopped()
	}))
}

// newlyMapped reports whether g comes from kept values that returned in this conversion although
// the other version showed nothing of them: the rules map them only by now.
func (d *differ) newlyMapped(g *jsondoc.Node, c cursor) bool {
	if len(d.Restored.newlyMapped) == 0 || c.conditional {
		return false
	}
	all, some := d.newLeaves(g, c)
	return all && some
}

// newLeaves reports whether all leaves of g are newly mapped or what rules fill in, and whether one
// is newly mapped.
func (d *differ) newLeaves(g *jsondoc.Node, c cursor) (all, some bool) {
	switch {
	case c.conditional:
		return false, false
	case g != nil && c.place != nil && c.place.Default != nil && isText(g, string(c.place.Default)):
		return true, false
	case d.mapsNewly(c):
		return true, true
	case g.Kind() != jsondoc.Map || d.isEmpty(g):
		return false, false
	}
	all = true
	d.note(g.Each(func(name string, m *jsondoc.Node) bool {
		mapped, one := d.newLeaves(m, c.member(name, len(d.path)+1, g, nil))
		all, some = mapped, some || one
		return all
	}))
	return all, some
}

// mapsNewly reports whether a place that the value comes from is newly mapped.
func (d *differ) mapsNewly(c cursor) bool {
	if c.tracked && c.there != nil && d.Restored.newlyMapped[c.there] {
		return true
	}
	return c.place != nil && slices.ContainsFunc(c.place.From, func(path annotation.Path) bool {
		return d.Restored.newlyMaps(c.scope.there, path)
	})
}

// keep adds an entry for the path, with the digest of its inputs.
func (d *differ) keep(e annotation.Entry, g *jsondoc.Node, c cursor) {
	if e.Inputs = c.ofObject(d.inputs(g, c, &e)); e.Kind != annotation.KindValue && e.Inputs.IsDefaults() {
		e.Inputs = annotation.Digest{} // only of values does it matter why nothing else is shown
	}
	if e.Kind == annotation.KindValue && c.couldShow(e.Value) {
		e.Inputs.Any = true // so the rules map it already
	}
	d.add(e, c)
}

// add adds an entry for the path.
func (d *differ) add(e annotation.Entry, c cursor) {
	e.Path, e.Around, e.Of = d.memory.NewPath(d.path), c.around, c.claim(false)
	if len(e.Path) > 0 && e.Path[0].Name == "metadata" {
		e.Around = annotation.UsualAround(e.Path) // without the value around there is nothing to remove
	}
	d.entries = append(d.entries, d.memory.NewEntry(e))
	if len(d.entries) > annotation.MaxAnnotations && !d.coarse && d.within == 0 {
		d.note(errMany)
	}
}

// errMany ends a comparison leaf by leaf.
var errMany = errors.New("more entries than annotations")

// claim returns the unit of the place, and its scope in the version that is converted from: in the
// object itself, or in that of the other version.
func (c cursor) claim(there bool) annotation.Claim {
	unit, in := c.unit, c.unitScope
	if unit == nil {
		unit, in = c.outer, c.outerScope
	}
	switch {
	case unit == nil && c.layout.Opaque:
		return annotation.Claim{Unit: "opaque"}
	case unit == nil:
		return annotation.Claim{}
	case there:
		return annotation.Claim{Unit: unit.id, In: in.there}
	}
	return annotation.Claim{Unit: unit.id, In: in.own}
}

// goesInto reports whether the parts of a value have paths that are not too long.
func (d *differ) goesInto(n *jsondoc.Node) bool {
	most := annotation.MaxSteps - 1
	if n.Kind() == jsondoc.Array {
		most-- // entries of an element are for its parts
	}
	return len(d.path) < most
}

func (d *differ) isEmpty(n *jsondoc.Node) bool {
	d.part(n, "") // Len has no error
	return n.Len() == 0
}

// IsStored reports whether an object may be one that the API server has stored, and which so has
// all defaults. Fragments are not: in server-side apply their manager would come to own the
// defaults.
func IsStored(obj *jsondoc.Object) bool {
	uid, _, err := obj.NestedText("metadata", "uid")
	return err == nil && len(uid) > len(`""`) && uid[0] == '"'
}
