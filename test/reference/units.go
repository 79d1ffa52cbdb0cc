package reference

import "slices"

// A unitPlace is a place of a unit. An outer one lies outside of the elements that the unit is in.
type unitPlace struct {
	at    path
	what  int
	outer bool
	asked bool // only whether it exists, or how many elements it has: that joins no units
}

// A unit is places of both sides that belong together.
type unit struct{ places [2][]unitPlace }

// makeUnits makes a unit of each rule, and one of those that share a place.
func (p *pair) makeUnits() {
	for _, r := range p.rules {
		if !r.moves() && !r.oneSided() || r.conditional() {
			p.units = append(p.units, p.unitOf(r))
		}
	}
	for i := 0; i < len(p.units); i++ {
		for j := i + 1; j < len(p.units); j++ {
			a, b := p.units[i], p.units[j]
			if !a.shares(b) {
				continue
			}
			for side := range 2 {
				a.places[side] = append(a.places[side], b.places[side]...)
			}
			p.units, j = slices.Delete(p.units, j, j+1), i
		}
	}
}

// shares reports whether two units have places in common.
func (u *unit) shares(other *unit) bool {
	for side := range 2 {
		for _, a := range u.places[side] {
			for _, b := range other.places[side] {
				x, y := a.at.String(), b.at.String()
				inside := a.what == readValue && (below(x, y) || below(y, x)) && len(a.at.elements()) == len(b.at.elements())
				if !a.outer && !b.outer && !a.asked && !b.asked && a.what == b.what && (x == y || inside) {
					return true
				}
			}
		}
	}
	return false
}

// unitOf returns the unit of a rule.
func (p *pair) unitOf(r *rule) *unit {
	u := &unit{}
	status := r.place(spoke).isIn("status") || r.place(hub).isIn("status")
	var scope [2]string
	for side := range 2 {
		for _, at := range r.at[side] {
			place := unitPlace{at: at}
			s, _ := schemaAt(p.schemas[side], at)
			if structured := s != nil && (s.Type == "object" || s.Type == "array"); r.moves() && structured && (r.text.get("use") != "" || len(at.around()) == len(at)) {
				place.what = readPresence
			}
			u.places[side] = append(u.places[side], place)
		}
		around, _ := p.elementOf(r, side)
		if place := r.place(side); place != nil {
			around = place.around()
		}
		scope[side] = around.around().String()
	}
	for target := range 2 {
		for _, x := range []*expression{r.expr[target], r.when[target]} {
			if x == nil {
				continue
			}
			for _, rd := range x.reads {
				if at, ok := p.placeOf(r, 1-target, rd); ok && at.isIn("status") == status && editable(at) {
					p.addRead(u, 1-target, unitPlace{at: at, what: rd.what}, scope)
				}
			}
		}
	}
	return u
}

// addRead adds what an expression reads, and its counterpart, to a unit.
func (p *pair) addRead(u *unit, side int, place unitPlace, scope [2]string) {
	both := map[int]unitPlace{side: place}
	if other, ok := p.counterpart(side, place.at); ok {
		both[1-side] = unitPlace{at: other, what: place.what}
	}
	for s, place := range both {
		within := place.at.around().String()
		place.asked = place.what != readValue
		if within != scope[s] && (place.asked || scope[s] != "" || scope[1-s] == "" || within == "" || s == side) {
			place.outer = true
		}
		u.places[s] = append(u.places[s], place)
	}
}

// editable reports whether users can edit a place.
func editable(p path) bool {
	return !p.isIn("metadata") || len(p) > 1 && (p[1].name == "labels" || p[1].name == "annotations")
}

// placeOf returns the place that an expression of a rule reads; side is that of the source.
func (p *pair) placeOf(r *rule, side int, rd read) (path, bool) {
	switch rd.variable {
	case "object":
		return rd.at, true
	case "metadata":
		return path{dot("metadata")}.with(rd.at...), true
	case "element":
		around, ok := p.elementOf(r, side)
		return around.with(rd.at...), ok
	}
	if one, ok := r.at[side][""]; ok {
		return one.with(rd.at...), true
	}
	if len(rd.at) == 0 {
		return nil, false
	}
	named, ok := r.at[side][rd.at[0].name]
	return named.with(rd.at[1:]...), ok
}

// elementOf returns the place of the element that a rule's expressions have, on the source's side.
func (p *pair) elementOf(r *rule, side int) (path, bool) {
	if root := r.root(side); len(root) > 0 {
		return root, true
	}
	if place := r.place(side); place != nil {
		return place.around(), true
	}
	return p.counterpart(1-side, r.place(1-side).around())
}

// counterpart returns the place of the other side that moves to or from a place as it is.
func (p *pair) counterpart(side int, at path) (path, bool) {
	for n := len(at); n >= 0; n-- {
		rules := p.claims[side][at[:n].String()]
		if n == 0 {
			rules = []*rule{p.copied}
		}
		if i := slices.IndexFunc(rules, (*rule).moves); i >= 0 {
			other := rules[i].at[1-side][""].with(at[n:]...)
			_, ok := schemaAt(p.schemas[1-side], other)
			return other, ok && (n == len(at) || !p.claimed(1-side, other.String(), rules[i]))
		}
		if len(rules) > 0 {
			break
		}
	}
	return nil, false
}

// has reports whether a value belongs to a unit.
func (u *unit) has(p *pair, side int, at path) bool {
	text := at.String()
	return slices.ContainsFunc(u.places[side], func(o unitPlace) bool {
		place := o.at.String()
		switch {
		case o.outer:
			return false
		case o.what == readPresence:
			return place == text
		}
		return o.what == readValue && (below(place, text) || below(text, place) && !p.moved(side, at, len(o.at)))
	})
}

// moved reports whether another rule names a place between one and the first n steps.
func (p *pair) moved(side int, at path, n int) bool {
	for i := len(at); i > n; i-- {
		if len(p.claims[side][at[:i].String()]) > 0 {
			return true
		}
	}
	return false
}

// inputsOf returns the places of the other side that a value belongs to.
func (p *pair) inputsOf(side int, at path) []unitPlace {
	text := at.String()
	if cached, ok := p.inputs[side][text]; ok {
		return cached
	}
	var out []unitPlace
	for _, u := range p.units {
		if u.has(p, side, at) {
			out = append(out, u.places[1-side]...)
		}
	}
	if other, ok := p.counterpart(side, at); ok {
		out = append(out, unitPlace{at: other})
	}
	p.inputs[side][text] = out
	return out
}

// shows returns what an object shows of a place of a unit, within elements.
func (p *pair) shows(side int, obj any, u unitPlace, elems []string) any {
	all := u.at.elements()
	n := min(len(all), len(elems))
	if u.outer || n == 0 {
		return p.read(side, u, 0, instance{value: obj})
	}
	for _, in := range p.find(side, all[n-1], 0, instance{value: obj}) {
		if in.at == elems[n-1] {
			return p.read(side, u, len(all[n-1]), in)
		}
	}
	return absent{}
}

// read returns what an expression sees of a place, without defaults: in each element. The first n
// steps of the place lead to an instance.
func (p *pair) read(side int, u unitPlace, n int, in instance) any {
	s, _ := schemaAt(p.schemas[side], u.at)
	var out []any
	for _, found := range p.find(side, u.at, n, in) {
		v := unfilled(found.value, s)
		switch l, isList := list(found.value); {
		case u.what == readPresence && !isAbsent(v):
			v = true
		case u.what == readCount && isList:
			v = int64(len(l))
		case u.what == readCount:
			m, _ := object(found.value)
			v = int64(len(m))
		}
		if !isAbsent(v) {
			out = append(out, v)
		}
	}
	if out == nil {
		return absent{}
	}
	return out
}
