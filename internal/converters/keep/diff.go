package keep

import (
	"context"
	"slices"

	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// Diff returns what has to be kept of x so that it comes back: g is what the way back gives for what x was converted to,
// and so what will be seen at the version of x as long as nobody edits that. Both are objects of the layout's version, and are
// only read. With unknown, fields that no schema knows are kept although they are there: they may be pruned on the way.
//
// It costs time in proportion to both objects. Its error is that of the context, or of an object with more members than are looked at.
//
// Y is what x was converted to. Restored is what Restore has returned in the same conversion, if anything was kept of the other
// version.
func Diff(ctx context.Context, x, g, y *jsondoc.Object, l *Layout, unknown bool, restored *Restored) ([]*Entry, error) {
	if restored == nil {
		restored = &Restored{}
	}
	d := &differ{deadline: newDeadline(ctx), memo: &memo{}, unknown: unknown, restored: restored}
	entries, err := d.diff(x, g, y, l)
	if err != nil || len(entries) <= maxAnnotations {
		return entries, err
	}
	// What only x has is kept as it is then, and not leaf by leaf.
	d = &differ{deadline: newDeadline(ctx), memo: &memo{}, unknown: unknown, restored: restored, coarse: true}
	return d.diff(x, g, y, l)
}

// A differ goes through two values of one version.
type differ struct {
	deadline     *deadline
	memo         *memo
	unknown      bool
	restored     *Restored
	otherVersion string
	// coarse says that what only x has is one entry, whatever is in it.
	coarse  bool
	path    Path
	within  int // how many lists without keys this is in
	in      int // how much of the path has to be there for what is below to return
	entries []*Entry
	object  *jsondoc.Node   // what the way back gives as a whole
	scopes  []*jsondoc.Node // what the way back gives at the path, from the root on
	err     error
}

func (d *differ) diff(x, g, y *jsondoc.Object, l *Layout) ([]*Entry, error) {
	d.otherVersion, d.object, d.scopes = label(l.OtherVersion), g.Node, []*jsondoc.Node{g.Node}
	root := l.root(y)
	if err := d.metadata(x, g, root.member("metadata", 1)); err != nil {
		return nil, err
	}
	d.members(x.Node, g.Node, root, isHead)
	return d.entries, d.err
}

// isHead is true of the members of an object that no conversion may change, or only a part of them.
func isHead(name string) bool { return name == "apiVersion" || name == "kind" || name == "metadata" }

func (d *differ) note(err error) {
	if err != nil && d.err == nil {
		d.err = err
	}
}

// stopped reports whether there is nothing more to be done. It is asked for each value.
func (d *differ) stopped() bool {
	if d.err == nil {
		d.err = d.deadline.passed(1)
	}
	return d.err != nil
}

// A level is where a differ has been above.
type level struct{ depth, in int }

// push goes a step down, and pop back up.
func (d *differ) push(s Step, g *jsondoc.Node) level {
	up := level{len(d.path), d.in}
	d.path, d.scopes = append(d.path, s), append(d.scopes, g)
	return up
}

func (d *differ) pop(up level) {
	d.path, d.scopes, d.in = d.path[:up.depth], d.scopes[:up.depth+1], up.in
}

// metadata compares labels and annotations, but for those of webhookd. That there are none or an empty object is the same.
func (d *differ) metadata(x, g *jsondoc.Object, w where) error {
	was, err := x.Member("metadata")
	if err != nil {
		return err
	}
	now, err := g.Member("metadata")
	if err != nil {
		return err
	}
	for _, field := range []string{"labels", "annotations"} {
		a, err := was.Member(field)
		if err != nil {
			return err
		}
		b, err := now.Member(field)
		if err != nil {
			return err
		}
		if a == nil && b == nil || a.SameText(b) {
			continue
		}
		d.path = append(d.path[:0], Step{Name: "metadata"}, Step{Name: field})
		d.scopes = append(d.scopes[:1], now, b)
		d.members(a, b, w.member(field, 2), IsOwn)
	}
	d.path, d.scopes = d.path[:0], d.scopes[:1]
	return d.err
}

// members compares the members of two objects, either of which may be nil, but for those that are left out.
func (d *differ) members(x, g *jsondoc.Node, w where, leaveOut func(string) bool) {
	d.note(jsondoc.Pairs(x, g, d.unknown, func(name string, a, b *jsondoc.Node) bool {
		if leaveOut != nil && leaveOut(name) {
			return true
		}
		up := d.push(Step{Name: name, data: w.userNamed(name)}, b)
		d.value(a, b, w.member(name, len(d.path)))
		d.pop(up)
		return !d.stopped()
	}))
}

// value compares a value of x with what the way back gives there; either may be nil, not both.
func (d *differ) value(x, g *jsondoc.Node, w where) {
	switch {
	case d.stopped() || w.place != nil && w.place.Dropped:
	case d.unknown && x != nil && w.unknown():
		if !d.restored.survived[survivor(d.path, x)] {
			d.add(&Entry{value: x.Text()}, w)
		}
	case x == nil:
		d.absent(g, w)
	case g == nil:
		d.only(x, w.nothing(len(d.path)))
	case x.SameText(g) && !d.unknown:
	case x.Kind() == jsondoc.Map && g.Kind() == jsondoc.Map && d.goesInto(x):
		d.objects(x, g, w)
	case x.Kind() == jsondoc.Array && g.Kind() == jsondoc.Array && d.goesInto(x):
		d.lists(x, g, w)
	case d.gained(w) && w.filled(x):
	case !same(x, g):
		d.keep(&Entry{value: x.Text()}, g, w)
	}
}

// objects compares two objects. One that is an element of a list in the other version is compared as that.
func (d *differ) objects(x, g *jsondoc.Node, w where) {
	if w.place == nil || !w.place.Element {
		d.both(w)
		d.members(x, g, w, nil)
		return
	}
	e := w.alone()
	if d.within >= maxNested {
		d.keep(&Entry{value: x.Text()}, g, w)
		return
	}
	if kept := d.part(x, g, e); len(kept) > 0 {
		d.add(&Entry{kind: isList, list: &listEntry{
			was: []string{digestText(g)}, parts: map[int][]*Entry{0: kept}, alike: map[int][]string{0: likeness(g, e)},
		}}, w)
	}
}

// part compares two elements, at which paths start anew.
func (d *differ) part(x, g *jsondoc.Node, w where) []*Entry {
	sub := &differ{
		deadline: d.deadline, memo: d.memo, unknown: d.unknown, restored: d.restored, coarse: d.coarse,
		otherVersion: d.otherVersion, object: d.object, scopes: []*jsondoc.Node{g}, within: d.within + 1,
	}
	if x.Kind() == jsondoc.Map && g.Kind() == jsondoc.Map {
		sub.members(x, g, w, nil)
	} else {
		sub.value(x, g, w)
	}
	d.note(sub.err)
	return sub.entries
}

// both notes that there is an object or a list at the path in x and on the way back.
func (d *differ) both(w where) {
	if w.required() && !w.missing() {
		d.in = len(d.path)
	}
}

// only keeps a value that the way back does not give: leaf by leaf, as server-side apply sees them.
func (d *differ) only(x *jsondoc.Node, w where) {
	if w.oneSided() && w.filled(x) || d.gained(w) && w.filled(x) {
		return // the schema fills it in again
	}
	before := len(d.entries)
	switch {
	case d.coarse && !w.hasDropped():
		d.keep(&Entry{value: x.Text()}, nil, w)
	case x.Kind() == jsondoc.Map && !d.isEmpty(x) && d.goesInto(x):
		if d.members(x, nil, w, nil); len(d.entries) == before && !w.hasDropped() {
			d.keep(&Entry{value: []byte("{}")}, nil, w) // the schema fills in the rest
		}
	case x.Kind() == jsondoc.Array && d.goesInto(x) && (d.onlyElements(d.list(x), w) || d.onlyBehindFirst(d.list(x), w)):
	default:
		d.keep(&Entry{value: x.Text()}, nil, w)
	}
}

// absent keeps that there was nothing where the way back gives g: all of it, so that an edit of a part is one of the whole.
func (d *differ) absent(g *jsondoc.Node, w where) {
	if !w.schemaFills(g) && !d.allGained(g, w) {
		d.keep(&Entry{kind: isAbsent}, g, w)
	}
}

// allGained is gained for all that is in what the way back gives.
func (d *differ) allGained(g *jsondoc.Node, w where) bool {
	if len(d.restored.gained) == 0 || d.gained(w) || g.Kind() != jsondoc.Map || d.isEmpty(g) {
		return d.gained(w)
	}
	all := true
	d.note(g.Each(func(name string, m *jsondoc.Node) bool {
		all = d.allGained(m, w.member(name, len(d.path)+1))
		return all
	}))
	return all
}

// gained reports whether the other version has got what is here, or what it shows of the unit, from what was kept of it, although
// nothing was shown: rules have grown.
func (d *differ) gained(w where) bool {
	if len(d.restored.gained) == 0 {
		return false
	}
	if w.peer != nil && d.restored.gained[w.peer] {
		return true
	}
	for _, m := range w.unit.places(false) {
		if n, err := find(w.unitPeer, m.Path); err == nil && n != nil && d.restored.gained[n] {
			return true
		}
	}
	return false
}

// keep adds an entry for the path, with what its unit shows: g is what the way back gives at the path itself.
func (d *differ) keep(e *Entry, g *jsondoc.Node, w where) {
	e.base = baseOf(g, w, true, d.path, d.scope, d.note, d.memo)
	e.shown = versioned(d.otherVersion, w.shown(g == nil || e.kind == isAbsent, true, d.scope, len(d.path), d.memo))
	d.add(e, w)
}

// add adds an entry for the path.
func (d *differ) add(e *Entry, w where) {
	e.path, e.in, e.twoSided = slices.Clone(d.path), min(d.in, usualIn(d.path)), !w.oneSided()
	d.entries = append(d.entries, e)
}

func (d *differ) scope(depth int) *jsondoc.Node {
	if depth == ofObject {
		return d.object
	}
	return d.scopes[depth]
}

func versioned(version, digest string) string {
	if digest == "" {
		return ""
	}
	return version + ":" + digest
}

// goesInto reports whether the parts of an object or a list have paths that are not too long.
func (d *differ) goesInto(n *jsondoc.Node) bool {
	most := maxSteps - 1
	if n.Kind() == jsondoc.Array {
		most-- // what is kept of an element are its parts
	}
	return len(d.path) < most
}

func (d *differ) isEmpty(n *jsondoc.Node) bool {
	nothing := true
	d.note(n.Filter(func([]byte, jsondoc.Member) bool {
		nothing = false
		return true
	}))
	return nothing
}

func (d *differ) list(n *jsondoc.Node) []member {
	list, err := membersOf(n)
	d.note(err)
	return list
}

// A member is one of an object, or an element of a list, which has no name.
type member struct {
	name  string
	value *jsondoc.Node
}

func membersOf(n *jsondoc.Node) ([]member, error) {
	list := make([]member, 0, n.Len())
	err := n.Each(func(name string, value *jsondoc.Node) bool {
		list = append(list, member{name, value})
		return true
	})
	return list, err
}
