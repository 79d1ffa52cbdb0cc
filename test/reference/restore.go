package reference

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// A restoring gives back what a version last said where the other version shows the same.
type restoring struct {
	*pair

	side    int // of the version that said it
	memory  *memory
	shown   map[string]any    // what the other version shows now
	origins map[string]string // from elements of the conversion back to those of shown
	result  map[string]string // from elements of the result to those of the conversion back
	without map[part]bool     // whose values contradict what is shown
}

// A part is a unit in one element.
type part struct {
	*unit

	around string
}

// A place holds what was said at it, what came back then, and what comes back now.
type place struct {
	at              path
	schema          *Schema
	said, then, now any
	// Concrete places in these, and in the result.
	saidAt, thenAt, nowAt, resultAt string
	wasIn, isIn                     []string // elements around it in what was shown, and in what is
}

// restore returns what users see of a version, and where its elements come from.
func (p *pair) restore(side int, m *memory, now map[string]any, origins map[string]string, shown map[string]any) (map[string]any, func(at string) string) {
	r := &restoring{p, side, m, shown, origins, map[string]string{}, map[part]bool{}}
	origin := func(at string) string { return resolve(origins, resolve(r.result, at)) }
	for m != nil {
		clear(r.result)
		out, _ := object(clone(r.value(place{schema: p.schemas[side], said: m.said, then: m.back, now: now})))
		fill(out, p.schemas[side])
		if equal(m.shown, shown) || !r.contradicted(now, out) {
			return out, origin
		}
	}
	return now, origin
}

// contradicted finds units of which the result would show something else than is said, unlike what
// comes back now.
func (r *restoring) contradicted(now, result map[string]any) (found bool) {
	other := 1 - r.side
	plain, _ := r.convert(other, now)
	back, _ := r.convert(other, result)
	for _, u := range r.units {
		for _, o := range u.places[other] {
			if o.outer {
				continue
			}
			around := o.at.around()
			was := r.find(other, around, 0, instance{value: r.shown})
			is := r.find(other, around, 0, instance{value: plain})
			gives := r.find(other, around, 0, instance{value: back})
			for i := range was {
				if len(was) != len(is) || len(was) != len(gives) || r.without[part{u, was[i].at}] {
					continue
				}
				x := r.read(other, o, len(around), was[i])
				if !isAbsent(x) && equal(x, r.read(other, o, len(around), is[i])) && !equal(x, r.read(other, o, len(around), gives[i])) {
					r.without[part{u, was[i].at}], found = true, true
				}
			}
		}
	}
	return found
}

// same reports whether the other version shows what it did of a value's units.
func (r *restoring) same(p place) bool {
	for u := range r.without {
		asks := func(o unitPlace) bool { return o.what == readPresence && below(p.at.String(), o.at.String()) }
		inside := u.around == "" || len(p.isIn) > 0 && p.isIn[len(p.isIn)-1] == u.around
		if inside && (u.has(r.pair, r.side, p.at) || slices.ContainsFunc(u.places[r.side], asks)) {
			return false
		}
	}
	return !slices.ContainsFunc(r.inputsOf(r.side, p.at), func(o unitPlace) bool {
		return !equal(r.shows(1-r.side, r.memory.shown, o, p.wasIn), r.shows(1-r.side, r.shown, o, p.isIn))
	})
}

// leaf returns a value, or what comes back now.
func (r *restoring) leaf(p place) any {
	dropped := slices.ContainsFunc(r.claims[r.side][p.at.String()], func(c *rule) bool { return c.text.get("drop") != "" })
	if dropped || !equal(p.then, p.now) || !r.same(p) {
		return p.now
	}
	return p.said
}

// whole reports whether a place is that of a rule that does more than move its value.
func (r *restoring) whole(p place) bool {
	return slices.ContainsFunc(r.claims[r.side][p.at.String()], func(c *rule) bool { return !c.moves() && !c.oneSided() })
}

// removed reports whether an edit has removed the object, the list or the map of a place.
func (r *restoring) removed(p place) bool {
	if p.at.isIn("metadata") {
		return false
	}
	other, ok := r.paired[r.side][p.at.String()]
	if !ok {
		other, ok = r.counterpart(r.side, p.at)
	}
	ofPart := slices.ContainsFunc(r.rules, func(c *rule) bool {
		decides := c.computes() || c.conditional()
		return c.names(r.side, p.at) && (decides && !ok || slices.Contains(r.claims[1-r.side][other.String()], c))
	})
	if !ok || ofPart {
		return ofPart && !isAbsent(p.then) && isAbsent(p.now)
	}
	o := unitPlace{at: other, what: readPresence}
	return !isAbsent(r.shows(1-r.side, r.memory.shown, o, p.wasIn)) && isAbsent(r.shows(1-r.side, r.shown, o, p.isIn))
}

func (r *restoring) value(p place) any {
	if equal(p.said, p.then) {
		if p.resultAt != p.nowAt {
			r.result[p.resultAt] = p.nowAt
		}
		return p.now
	}
	areObjects, areLists := true, true
	for _, v := range []any{p.said, p.then, p.now} {
		_, isObject := object(v)
		_, isList := list(v)
		areObjects, areLists = areObjects && (isObject || isAbsent(v)), areLists && (isList || isAbsent(v))
	}
	said, _ := list(p.said)
	then, _ := list(p.then)
	switch {
	case r.whole(p) || !areObjects && (!areLists || isAbsent(p.said) || len(said)+len(then) == 0):
		return r.leaf(p)
	case r.removed(p):
		return p.now
	case areObjects:
		return r.object(p)
	}
	now, _ := list(p.now)
	return r.list(p, said, then, now)
}

// enter returns the place of a member or an element; the texts are its names or indexes.
func (r *restoring) enter(p place, s step, schema *Schema, said, then, now, result string) place {
	in := place{
		at: p.at.with(s), schema: schema, said: at(p.said, "/"+said), then: at(p.then, "/"+then), now: at(p.now, "/"+now),
		saidAt: p.saidAt + "/" + said, thenAt: p.thenAt + "/" + then, nowAt: p.nowAt + "/" + now, resultAt: p.resultAt + "/" + result,
		wasIn: p.wasIn, isIn: p.isIn,
	}
	if s.isEach() {
		was, is := gone, gone
		if !isAbsent(in.then) {
			was = resolve(r.memory.origins, in.thenAt)
		}
		if !isAbsent(in.now) {
			is = resolve(r.origins, in.nowAt)
		}
		in.wasIn, in.isIn = append(slices.Clip(p.wasIn), was), append(slices.Clip(p.isIn), is)
	}
	return in
}

func (r *restoring) object(p place) any {
	out, names := map[string]any{}, map[string]any{}
	for _, v := range []any{p.said, p.then, p.now} {
		m, _ := object(v)
		maps.Copy(names, m)
	}
	for k := range names {
		schema, _ := member(p.schema, k)
		name := escape(k)
		if v := r.value(r.enter(p, r.child(r.side, p.at, p.schema, k), schema, name, name, name, name)); !isAbsent(v) {
			out[k] = v
		}
	}
	isNew := isAbsent(p.then) && !isAbsent(p.now)
	if len(out) > 0 || !isAbsent(p.now) && (!isAbsent(p.said) || isNew) {
		return out
	}
	if p.at.isIn("metadata") {
		return absent{} // there are no empty labels and annotations
	}
	if v := r.leaf(p); isAbsent(v) || !isAbsent(p.said) {
		return v
	}
	return out
}

// An item has the indexes of an element in what was said, in what came back then, and in what comes
// back now: -1 where it is not there.
type item struct{ said, then, now int }

func (r *restoring) list(p place, said, then, now []any) any {
	if len(then) > 0 && len(now) == 0 && slices.ContainsFunc(r.picks[r.side][p.at.String()], func(s step) bool { return s.text == first }) {
		return p.now // another element would be the first
	}
	out := []any{}
	for _, it := range r.align(p, said, then, now) {
		v := at(now, "/"+strconv.Itoa(it.now))
		if it.said >= 0 {
			v = said[it.said]
		}
		s := r.picked(r.side, p.at, v, max(it.said, it.now))
		in := r.enter(p, s, element(p.schema), strconv.Itoa(it.said), strconv.Itoa(it.then), strconv.Itoa(it.now), strconv.Itoa(len(out)))
		r.result[in.resultAt] = in.nowAt
		if it.now < 0 {
			r.result[in.resultAt] = gone
		}
		switch {
		case it.now < 0 && it.then >= 0:
			v = r.rest(in, s)
		case it.now < 0 || it.said < 0:
			v = r.leaf(in)
		default:
			v = r.value(in)
		}
		if !isAbsent(v) {
			out = append(out, v)
		}
	}
	if len(out) == 0 && isAbsent(p.now) {
		return absent{}
	}
	return out
}

// rest returns what is left of a picked element of which the other version showed only parts, with
// its key.
func (r *restoring) rest(p place, picked step) any {
	parts, _ := object(r.value(p))
	if len(parts) == 0 {
		return absent{}
	}
	parts[picked.name] = picked.value
	if !required(parts, p.schema) {
		return absent{}
	}
	return parts
}

// keysOf returns the keys of a list's elements, if it has keys, and they identify.
func (r *restoring) keysOf(p place, elems []any) (keys []string, ok bool) {
	var names []string
	if key, ok := r.keys[r.side][p.at.String()]; ok {
		names = []string{key}
	} else if p.schema != nil && p.schema.XListType != nil && *p.schema.XListType == "map" {
		names = p.schema.XListMapKeys
	}
	for _, e := range elems {
		k := keyText(e, names, p.schema)
		if k == "" || slices.Contains(keys, k) {
			return nil, false
		}
		keys = append(keys, k)
	}
	return keys, len(names) > 0
}

// shownAs returns elements of a list as the other version shows them, or else as they are.
func shownAs(elems []any, list string, origins map[string]string, shown map[string]any) []any {
	out := slices.Clone(elems)
	for i := range elems {
		if v := at(shown, resolve(origins, list+"/"+strconv.Itoa(i))); !isAbsent(v) {
			out[i] = v
		}
	}
	return out
}

// align returns the elements of a list: those that come back now, and where they were those that
// the other version does not show.
func (r *restoring) align(p place, said, then, now []any) (all []item) {
	saidOf, nowOf := slices.Repeat([]int{-1}, len(then)), slices.Repeat([]int{-1}, len(then))
	for i := range then {
		link, ok := strings.CutPrefix(r.memory.link(p.thenAt+"/"+strconv.Itoa(i)), p.saidAt+"/")
		if j, err := strconv.Atoi(link); ok && err == nil && !slices.Contains(saidOf, j) {
			saidOf[i] = j
		}
	}
	r.matchPicks(p, then, said, saidOf)
	before, ok := r.keysOf(p, then)
	after, keyed := r.keysOf(p, now)
	if keyed = keyed && ok; keyed {
		for i, k := range before {
			nowOf[i] = slices.Index(after, k)
		}
	} else {
		was, is := shownAs(then, p.thenAt, r.memory.origins, r.memory.shown), shownAs(now, p.nowAt, r.origins, r.shown)
		match(was, is, nowOf, func(i int) bool { return saidOf[i] < 0 || !equal(said[saidOf[i]], then[i]) })
		r.matchPicks(p, then, now, nowOf)
	}
	for j, e := range now {
		it := item{-1, slices.Index(nowOf, j), j}
		if it.then >= 0 {
			it.said = saidOf[it.then]
		} else {
			it.said = slices.IndexFunc(said, func(s any) bool { return r.sameKey(p, keyed, s, e) })
			if it.said >= 0 && slices.Contains(saidOf, it.said) {
				it.said = -1
			}
		}
		all = append(all, it)
	}
	spot := 0
	for i, e := range said {
		if k := slices.IndexFunc(all, func(it item) bool { return it.said == i }); k >= 0 {
			spot = k + 1
			continue
		}
		then := slices.Index(saidOf, i)
		if s := r.picked(r.side, p.at, e, i); then < 0 || s.isPick() && s.text != first {
			all = slices.Insert(all, spot, item{i, then, -1})
			spot++
		}
	}
	return all
}

// matchPicks matches elements that rules pick by the same step.
func (r *restoring) matchPicks(p place, from, to []any, of []int) {
	for i, e := range from {
		for j, f := range to {
			if s := r.picked(r.side, p.at, e, i); s.isPick() && s.text == r.picked(r.side, p.at, f, j).text {
				of[i] = j
			}
		}
	}
}

// sameKey reports whether an element that the other version does not show has the key of a new one.
func (r *restoring) sameKey(p place, keyed bool, said, now any) bool {
	picked := r.picked(r.side, p.at, now, 1)
	if picked.isPick() && picked.text == r.picked(r.side, p.at, said, 1).text {
		return true
	}
	a, ok := r.keysOf(p, []any{said})
	b, has := r.keysOf(p, []any{now})
	return keyed && ok && has && a[0] == b[0]
}
