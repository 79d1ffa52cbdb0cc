package exec

import (
	"slices"
	"strconv"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/rules/binding"
	"github.com/crdconvert/webhookd/internal/converters/rules/plan"
	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// A kept is one entry of a stash: the value that a place had, or its absence.
type kept struct {
	path  []plan.Step
	value *jsondoc.Node // nil: absent
	// shape: it is the presence or absence of an object alone.
	shape  bool
	free   bool // it returns only to a place that is absent
	must   int  // how many steps of the path have to be there already
	links  []tiedTo
	place  *plan.Node
	spot   binding.Place
	branch branch
	// merged: the value has been merged with an edit.
	merged bool
}

// A tiedTo is a place of the other version that says whether the entry still counts: converting it must give what is there.
type tiedTo struct {
	path  []plan.Step
	shape bool // only the kind of value there counts
}

// A reader finds the entries of a stash: those that the version has a place for.
type reader struct {
	r    *run
	list []kept
}

// A spotted is where a reader is: the place of the program, what runs it, and its counterpart.
type spotted struct {
	place *plan.Node
	spot  binding.Place
	at    []plan.Step
	to    []plan.Step // of the counterpart, nil if there is none
	base  []plan.Step // of the value that the place's program makes
	must  int
	now   *jsondoc.Node // what is there, nil if nothing
}

// entriesOf reads a stash of the version that p converts from; n is the object as it is without.
func (r *run) entriesOf(stash, n *jsondoc.Node, p *plan.Program) []kept {
	d := reader{r: r}
	root := spotted{place: p.Root, spot: p.Src, at: []plan.Step{}, to: []plan.Step{}, base: []plan.Step{}, now: n}
	for _, e := range r.entries(stash) {
		switch e.name {
		case "apiVersion", "kind", exactly:
		case "metadata":
			d.metadata(e.value, root)
		default:
			d.value(e.value, d.part(root, plainName(e.name)))
		}
	}
	return d.list
}

// metadata reads labels and annotations, whose objects come and go as they are needed.
func (d *reader) metadata(stash *jsondoc.Node, root spotted) {
	for _, field := range []string{"labels", "annotations"} {
		at := d.part(d.part(root, "metadata"), field)
		for _, e := range d.r.entries(d.r.member(stash, field)) {
			if c := d.part(at, plainName(e.name)); !isOwn(e.name) && d.r.member(stash, field).Kind() == jsondoc.Map {
				c.must = 0
				d.value(e.value, c)
			}
		}
	}
}

// part goes on to a member of an object or a value of a map.
func (d *reader) part(s spotted, name string) spotted {
	c := spotted{at: plan.Join(s.at, plan.Step{Name: name}), base: s.base, must: s.must, now: d.r.member(s.now, name)}
	c.spot = s.spot.Member(name)
	p := s.place
	if p == nil || p.Disposition != plan.Through {
		c.must = len(s.at)
	}
	if s.to != nil {
		c.to = plan.Join(s.to, plan.Step{Name: name})
	}
	switch {
	case p == nil:
	case p.Elem != nil && p.Elem.From == plan.Dict:
		if p.Elem.To == plan.List {
			c.to = plan.Join(s.to, plan.Step{Kind: plan.ByPick, Name: p.Elem.Name, Value: name})
		}
		c.place, c.base = p.Elem.Program.Root, c.to
	default:
		if c.place = p.Kid(name); c.place == nil && p.Sub != nil {
			c.place, c.base = p.Sub.Root.Kid(name), s.to
		}
	}
	return d.moved(c)
}

// moved sets the counterpart of a place that a rule moves, and of one that has none.
func (d *reader) moved(c spotted) spotted {
	switch p := c.place; {
	case p == nil:
	case p.Move != nil:
		c.to = plan.Join(c.base, p.Move.Out[0].Steps...)
	case p.Disposition != plan.Stays:
		c.to = nil
	}
	return c
}

// value reads what a stash has at a place.
func (d *reader) value(stash *jsondoc.Node, s spotted) {
	p := s.place
	object := stash.Kind() == jsondoc.Map
	marked := object && d.r.member(stash, exactly) != nil
	absent := stash.Kind() == jsondoc.Null
	switch {
	case p != nil && p.Disposition == plan.Gone && (p.Dropped || absent && !p.Computed):
	case p.OpensObject() && object && marked && p.First != nil && d.tells(stash):
		if d.r.isTold(p.First, d.r.member(stash, exactly), s.now) {
			d.members(stash, s)
		}
	case p.OpensObject() && object && (!marked || d.tombstones(stash)):
		d.members(stash, s)
	case p.OpensObject() && absent && len(p.Picks) == 0:
		d.add(kept{shape: true}, s)
	case p.OpensList() && object && !marked:
		d.elements(stash, s)
	case absent:
		d.add(kept{}, s)
	default:
		v, sound, as := d.exact(stash)
		if v != nil && (sound || s.spot.Admits(v.Text())) {
			d.add(kept{value: v, branch: branchOf(p, as, s.base)}, s)
		}
	}
}

// tombstones reports whether the marker says that the object was absent, and all that is in it.
func (d *reader) tombstones(stash *jsondoc.Node) bool {
	return len(d.r.entries(stash)) > 1 && d.r.member(stash, exactly).Kind() == jsondoc.Null &&
		d.r.member(stash, unchecked).Kind() != jsondoc.Bool
}

// tells reports whether the marker says which object the stash is of.
func (d *reader) tells(stash *jsondoc.Node) bool {
	return len(d.r.entries(stash)) > 1 && d.r.member(stash, exactly).Kind() == jsondoc.Map &&
		d.r.member(stash, unchecked).Kind() != jsondoc.Bool
}

// exact returns the value itself, whether it is to be taken unchecked, and the branch that it took; nil for what is no value.
func (d *reader) exact(stash *jsondoc.Node) (v *jsondoc.Node, sound bool, as string) {
	if v = d.r.member(stash, exactly); v == nil {
		return stash, false, ""
	}
	for _, e := range d.r.entries(stash) {
		ok := e.name == exactly
		switch e.name {
		case unchecked:
			sound = string(e.value.Text()) == "true"
			ok = sound
		case asBranch:
			as, ok = e.value.Str()
		}
		if !ok {
			return nil, false, ""
		}
	}
	return v, sound, as
}

func (d *reader) members(stash *jsondoc.Node, s spotted) {
	list := d.r.entries(stash)
	if len(list) == 0 {
		d.add(kept{value: stash, shape: true}, s)
	}
	marked := false
	for _, e := range list {
		if e.name == exactly {
			marked = e.value.Kind() == jsondoc.Null
			continue
		}
		d.value(e.value, d.part(s, plainName(e.name)))
	}
	if marked {
		d.add(kept{shape: true}, s)
	}
}

func (d *reader) elements(stash *jsondoc.Node, s spotted) {
	now := d.r.entries(s.now)
	if s.now.Kind() != jsondoc.Array {
		return
	}
	index := d.indexer(now, d.found(stash, now, s.place.Elem.Program.Dst))
	for _, e := range d.r.entries(stash) {
		i := index(e.name)
		if i < 0 || e.name == knownBy {
			continue
		}
		c := spotted{
			place: s.place.Elem.Program.Root, spot: s.spot.Items(), at: plan.Join(s.at, plan.Step{Kind: plan.ByIndex, Index: i}),
			must: len(s.at), now: now[i].value,
		}
		if s.to != nil {
			c.to = plan.Join(s.to, plan.Step{Kind: plan.ByIndex, Index: i})
			if s.place.Elem.To == plan.Dict {
				name, _ := d.r.member(now[i].value, s.place.Elem.Bind).Str()
				c.to = plan.Join(s.to, plan.Step{Name: name})
			}
		}
		c.base = c.to
		d.value(e.value, d.moved(c))
	}
}

// indexer returns a function that says which element of a list a stash names, or -1. Those that it names by index are found where
// they are now, if that is known.
func (d *reader) indexer(list []entry, found []int) func(name string) int {
	byKey := map[string]map[string]int{} // by the fields of the keys
	return func(name string) int {
		inner, ok := strings.CutPrefix(name, "[")
		inner, closed := strings.CutSuffix(inner, "]")
		if !ok || !closed {
			return -1
		}
		if i, err := strconv.Atoi(inner); err == nil {
			switch {
			case i >= 0 && i < len(found):
				return found[i]
			case i < 0 || i >= len(list) || found != nil:
				return -1
			}
			return i
		}
		fields := keyFields(inner)
		of := strings.Join(fields, "\x00")
		if byKey[of] == nil && len(byKey) < maxKeySets {
			byKey[of] = d.places(list, fields)
		}
		if i, found := byKey[of][inner]; found {
			return i
		}
		return -1
	}
}

// maxKeySets bounds by how many sets of fields a stash may name the elements of a list. Ours has one.
const maxKeySets = 4

// places returns where the first element with each key stands.
func (d *reader) places(list []entry, fields []string) map[string]int {
	places := make(map[string]int, len(list))
	for i, e := range list {
		if key, ok := d.r.elementKey(e.value, fields); ok {
			if _, is := places[key]; !is {
				places[key] = i
			}
		}
	}
	return places
}

// add adds an entry with what it is tied to.
func (d *reader) add(k kept, s spotted) {
	k.path, k.must, k.place, k.spot = s.at, s.must, s.place, s.spot
	p := s.place
	var links []*plan.Rule
	if p != nil {
		links = slices.Concat(p.Rules, p.Below)
		k.free = p.Disposition == plan.Gone && !p.Computed || p.Disposition == plan.Through && len(links) == 0
	} else {
		k.free = s.to == nil
	}
	if s.to != nil {
		k.links = append(k.links, tiedTo{s.to, k.shape})
	}
	if !k.shape {
		for _, l := range links {
			if l.Unit == nil {
				continue // it moves along with what it is in
			}
			for _, out := range l.Unit.Outs {
				k.links = append(k.links, tiedTo{path: plan.Join(s.base, out...)})
			}
		}
	}
	d.list = append(d.list, k)
}
