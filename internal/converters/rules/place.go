package rules

import (
	"slices"
	"strings"
)

// A place is what a program does at a place of the source. Places at which there is nothing to do are not there.
type place struct {
	at       step
	fate     fate
	src, dst spot // dst is what the target has there, if the place stays or is moved
	dropped  bool // what goes is not kept
	computed bool // what goes is computed on the way back, as far as it can be
	bound    bool // it is the key of an element, which goes with whoever runs the program
	vanishes bool // goes when it gets empty
	check    bool // values may be none of the target's schema
	links    []*link
	reads    []int // where the operands are that get the value when it is taken
	move     *link // to take the value with, when the rest is done
	first    *first
	kids     []*place
	others   *place   // any other member
	calm     []string // the members that are no others, and with which there is nothing to do
	picks    []*place
	shifts   bool // elements of the list may stand one place further in the target
	elem     *elements
	sub      *program
	below    []*link // of a list: all that read elements of it by a pick
}

// elements says how to go through a list or map.
type elements struct {
	p          *program
	from, to   collection
	keys       []string // of a list in the source: the fields that its elements are known by, or none
	picked     bool     // rules pick elements of the target's list, so that it may not all be the map's on the way back
	bind, name string   // the key field of a list that becomes a map, and of one that is made from a map
}

type collection int

const (
	list collection = iota
	dict
)

// fate is what happens to the value at a place.
type fate int

const (
	stays   fate = iota
	taken        // rules read it: it is theirs
	gone         // nothing in the target is its counterpart
	through      // an object or list that only the source has: it goes, with what is in it read before
)

// place compiles a place: in and out are what rules own there in the source and at its counterpart in the target, which is at
// path to if there is one. It returns nil where there is nothing to do.
func (b *builder) place(in, out *owned, src, dst spot, to []step, aligned bool) *place {
	p := &place{src: src, dst: dst}
	if in != nil {
		p.at = in.at
	}
	switch {
	case in != nil && in.move != nil:
		return b.moved(p, in, to, aligned)
	case in != nil && len(in.links) > 0:
		p.fate, p.links = taken, in.links
		p.read(in.reads)
		return p
	case in != nil && in.bound:
		p.fate, p.bound = gone, true
		return p
	case in != nil && in.owner:
		p.fate, p.dropped, p.computed = gone, in.dropped, in.computedOnReturn
		return p
	case aligned && !src.known && !dst.known:
		return nil
	case aligned && (out == nil || !out.owner) && dst.known && src.known && b.fit(src, dst, in):
		if !b.content(p, in, out, to) {
			return nil
		}
		return p
	case in.below():
		p.fate = through
		b.unpaired(p, in)
		return p
	}
	p.fate = gone
	return p
}

// fit reports whether the two places can be one: with rules below, both have to be of a kind that has something below.
func (b *builder) fit(src, dst spot, in *owned) bool {
	return !in.below() || src.mayBeObject() && dst.mayBeObject() || src.mayBeList() && dst.mayBeList()
}

// moved compiles the place of a plain pair, a `use`, or of a list or map whose elements rules go through.
func (b *builder) moved(p *place, in *owned, to []step, aligned bool) *place {
	m := in.move
	l := m.link
	target := b.out.walk(l.out[0].steps)
	p.src, p.dst = l.in[0].spot, l.out[0].spot
	useful := b.inside(p, in, target, m)
	if m.group != nil && p.src.mayBeList() && !p.dst.mayBeList() {
		b.pickedOut(p, in)
	}
	if m.group != nil && b.elementsOf(p, m.group) {
		useful = true
		p.elem.picked = target != nil && slices.ContainsFunc(target.kids, func(o *owned) bool { return o.at.kind != byName })
	}
	if aligned && slices.Equal(to, l.out[0].steps) && !l.doubtful {
		if !useful && (l.rule == nil || l.rule.Default == nil && l.rule.HubDefault == nil) {
			return nil
		}
		return p
	}
	l.straight = l.guard == nil && !l.doubtful
	b.operand(l)
	b.p.writes = append(b.p.writes, write{link: l, depth: len(l.out[0].steps)})
	b.moves = append(b.moves, l)
	if !useful {
		p.fate, p.links = taken, append(slices.Clone(in.links), l)
		p.read(append(slices.Clone(in.reads), input{l, 0}))
		b.p.links = append(b.p.links, l)
		return p
	}
	p.move, p.links, p.first = l, append(slices.Clone(in.links), l), l.first
	return p
}

// inside compiles what is in a place that moves, and reports whether there is anything to do.
func (b *builder) inside(p *place, in, target *owned, m *move) bool {
	to := m.link.out[0].steps
	if m.below == nil {
		return b.content(p, in, target, to)
	}
	useful := b.named(p, in, target, to)
	if p.sub = b.c.build(m.below, b.toHub); p.sub.trivial() {
		p.sub = nil
	}
	return useful || p.sub != nil
}

// branch compiles what is in the copy of a place that another link moves.
func (b *builder) branch(m move) {
	l := m.link
	p := &place{src: l.in[0].spot, dst: l.out[0].spot}
	if b.inside(p, b.in.walk(l.in[0].steps).without(), b.out.walk(l.out[0].steps), &m) {
		l.branch = p
	}
}

// read has inputs of links read when the value is taken.
func (p *place) read(inputs []input) {
	for _, in := range inputs {
		in.link.in[in.i].direct = true
		p.reads = append(p.reads, in.link.inAt+in.i)
	}
}

func (p *program) trivial() bool {
	return !p.building && p.root == nil && len(p.links) == 0 && len(p.writes) == 0 && len(p.late) == 0 && len(p.watch) == 0 && !p.always
}

// content compiles what is in a place that has a counterpart, and reports whether there is anything to do.
func (b *builder) content(p *place, in, out *owned, to []step) bool {
	if !in.below() && !out.below() && p.src.same(p.dst) {
		return false
	}
	useful := false
	if p.src.mayBeObject() && p.dst.mayBeObject() {
		useful = b.members(p, in, out, to)
	}
	if p.src.mayBeList() && p.dst.mayBeList() {
		useful = b.list(p, in, out, to) || useful
	}
	if !p.src.sameValues(p.dst) {
		p.check, useful = true, true
	}
	return useful
}

func (b *builder) members(p *place, in, out *owned, to []step) bool {
	if in != nil && in.move != nil && in.move.group != nil {
		return b.named(p, in, out, to) // for the others there is a program
	}
	all := slices.Concat(p.src.node.Properties(), p.dst.node.Properties())
	for _, o := range []*owned{in, out} {
		if o != nil {
			for _, k := range o.kids {
				if k.at.kind == byName {
					all = append(all, k.at.name)
				}
			}
		}
	}
	slices.Sort(all)
	for _, name := range slices.Compact(all) {
		s := step{name: name}
		if k := b.place(in.kid(s), out.kid(s), p.src.member(name), p.dst.member(name), join(to, s), true); k != nil {
			k.at = s
			k.vanishes = b.whole && len(to) == 1 && to[0].name == "metadata" && (name == "labels" || name == "annotations")
			p.kids = append(p.kids, k)
		} else {
			p.calm = append(p.calm, name)
		}
	}
	if p.src.others().known || p.dst.others().known {
		p.others = b.place(nil, nil, p.src.others(), p.dst.others(), nil, true)
	}
	return len(p.kids) > 0 || p.others != nil
}

// named compiles the members of an object that rules name, and leaves the others alone.
func (b *builder) named(p *place, in, out *owned, to []step) bool {
	if in == nil || !p.src.mayBeObject() {
		return false
	}
	for _, o := range in.kids {
		if o.at.kind != byName {
			continue
		}
		k := b.place(o, out.kid(o.at), p.src.member(o.at.name), p.dst.member(o.at.name), join(to, o.at), true)
		if k != nil {
			p.kids = append(p.kids, k)
		}
	}
	slices.SortFunc(p.kids, func(a, b *place) int { return strings.Compare(a.at.name, b.at.name) })
	return len(p.kids) > 0
}

// list compiles the elements of a list that no rule goes through, and those that rules pick.
func (b *builder) list(p *place, in, out *owned, to []step) bool {
	b.picks(p, in, out, to)
	p.below = in.all()
	grouped := in != nil && in.move != nil && in.move.group != nil
	if !grouped && p.src.items().known && p.dst.items().known && !p.src.items().same(p.dst.items()) {
		rel := b.implicit(p.src.items(), p.dst.items())
		if elem := b.c.build(rel, b.toHub); !elem.trivial() {
			p.elem = &elements{p: elem, keys: b.keysOfList(p, rel, "")}
		}
	}
	return len(p.picks) > 0 || p.shifts || p.elem != nil
}

// implicit is the relation of elements that no rule is about.
func (b *builder) implicit(src, dst spot) *relation {
	if b.toHub {
		return b.c.relate(nil, src, dst, "", "")
	}
	return b.c.relate(nil, dst, src, "", "")
}

// keysOfList returns the fields that the elements of a list are known by: those of its schema, or what a rule says, or what the
// elements have for the keys of the target's list.
func (b *builder) keysOfList(p *place, rel *relation, field string) []string {
	if keys := p.src.node.ListMapKeys(); len(keys) > 0 {
		return keys
	}
	if field != "" {
		return []string{field}
	}
	var fields []string
	for _, key := range p.dst.node.ListMapKeys() {
		if field = b.sourceOf(rel, key); field == "" || p.src.items().node.Property(field) == nil {
			return nil
		}
		fields = append(fields, field)
	}
	return fields
}

// sourceOf returns the field of an element that becomes another one's, or none where it is computed.
func (b *builder) sourceOf(rel *relation, name string) string {
	source := name
	for _, t := range rel.links {
		in, out := t.hub, t.field
		if b.toHub {
			in, out = out, in
		}
		same := func(e end) bool { return len(e.path) == 1 && e.path[0].Name == name }
		switch {
		case slices.ContainsFunc(out, same) && t.plain && len(in) == 1 && len(in[0].path) == 1 && t.when[0] == nil && t.when[1] == nil:
			return in[0].path[0].Name
		case slices.ContainsFunc(out, same) || slices.ContainsFunc(in, same):
			source = ""
		}
	}
	return source
}

func (b *builder) picks(p *place, in, out *owned, to []step) {
	var all []step
	for _, o := range []*owned{in, out} {
		if o == nil {
			continue
		}
		for _, k := range o.kids {
			switch {
			case o == out && k.at.kind == byFirst:
				p.shifts = true // a rule puts an element before those of the list
			case k.at.kind != byName && !slices.Contains(all, k.at):
				all = append(all, k.at)
			}
		}
	}
	for _, s := range all {
		items, target := p.src.items(), p.dst.items()
		if k := b.place(in.kid(s), out.kid(s), items, target, join(to, s), p.dst.known); k != nil {
			k.at = s
			p.picks = append(p.picks, k)
		}
	}
}

// pickedOut compiles the elements that rules pick out of a list before the others become the entries of a map.
func (b *builder) pickedOut(p *place, in *owned) {
	for _, o := range in.kids {
		if o.at.kind == byName {
			continue
		}
		if k := b.place(o, nil, p.src.items(), spot{}, nil, false); k != nil {
			k.at = o.at
			p.picks = append(p.picks, k)
		}
	}
	p.below = in.all()
}

// unpaired compiles what is in a place that has no counterpart, but rules below that do.
func (b *builder) unpaired(p *place, in *owned) {
	p.dst = spot{}
	all := slices.Clone(p.src.node.Properties())
	for _, k := range in.kids {
		if k.at.kind == byName {
			all = append(all, k.at.name)
		}
	}
	slices.Sort(all)
	for _, name := range slices.Compact(all) {
		s := step{name: name}
		if k := b.place(in.kid(s), nil, p.src.member(name), spot{}, nil, false); k != nil {
			k.at = s
			p.kids = append(p.kids, k)
		}
	}
	b.picks(p, in, nil, nil)
	p.below = in.all()
}

// elementsOf compiles the elements that rules go through.
func (b *builder) elementsOf(p *place, g *group) bool {
	from, to, key := g.hubBy, g.fieldBy, g.hubKey
	if b.toHub {
		from, to, key = to, from, g.fieldKey
	}
	p.elem = &elements{}
	e := p.elem
	if isMap(from) {
		e.from = dict
	}
	if isMap(to) {
		e.to = dict
	}
	if !isMap(from) && isMap(to) {
		e.bind = from.Name
	}
	if isMap(from) && !isMap(to) {
		e.name = to.Name
	}
	if e.p = b.c.build(g.rel, b.toHub); e.from == list {
		e.keys = b.keysOfList(p, g.rel, key)
	}
	if e.p.trivial() && e.from == e.to {
		p.elem = nil
	}
	return p.elem != nil
}
