package reference

import (
	"fmt"
	"slices"
	"strings"
)

// A unitPlace is a place of a unit. An outer one lies outside of the elements that the unit is in.
type unitPlace struct {
	at    path
	what  int
	outer bool
}

type unit struct{ places [2][]unitPlace }

type units struct {
	list  []*unit
	cache [2]map[string][]unitPlace
}

// A grouping joins places to units.
type grouping struct {
	parent map[string]string
	places map[string]unitPlace
	outer  map[string][2][]unitPlace
}

func placeKey(side int, u unitPlace) string { return fmt.Sprint(side, u.what, u.at) }

func (g *grouping) find(k string) string {
	for g.parent[k] != k {
		k = g.parent[k]
	}
	return k
}

func (g *grouping) add(side int, u unitPlace) string {
	k := placeKey(side, u)
	if _, ok := g.parent[k]; !ok {
		g.parent[k], g.places[k] = k, u
	}
	return k
}

func (g *grouping) join(a, b string) { g.parent[g.find(a)] = g.find(b) }

// source returns the place that an expression of a rule reads; side is that of the source.
func (p *pair) source(r *rule, side int, rd read) (path, bool) {
	switch rd.variable {
	case "object":
		return rd.at, true
	case "metadata":
		return path{{kind: field, name: "metadata"}}.with(rd.at...), true
	case "element":
		around, ok := p.elementOf(r, side)
		return around.with(rd.at...), ok
	}
	if one, ok := r.at[side][""]; ok {
		return one.with(rd.at...), true
	}
	if len(rd.at) > 0 {
		if named, ok := r.at[side][rd.at[0].name]; ok {
			return named.with(rd.at[1:]...), true
		}
	}
	return nil, false
}

// elementOf returns the place of the element that a rule's expressions have, on the source's side.
func (p *pair) elementOf(r *rule, side int) (path, bool) {
	if len(r.root[side]) > 0 {
		return r.root[side], true
	}
	for _, at := range r.at[side] {
		return at[:at.scope()], true
	}
	for _, at := range r.at[1-side] {
		return p.counterpart(1-side, at[:at.scope()])
	}
	return nil, false
}

// counterpart returns the place of the other side that moves to or from a place as it is.
func (p *pair) counterpart(side int, at path) (path, bool) {
	for n := len(at); n >= 0; n-- {
		rules := p.claims[side][at[:n].String()]
		if n == 0 {
			rules = []*rule{p.copied}
		}
		for _, r := range rules {
			if !r.moves() {
				continue
			}
			other := r.at[1-side][""].with(at[n:]...)
			if n < len(at) && p.claimed(1-side, other.String(), r) || !exists(p.schemas[1-side], other) {
				return nil, false
			}
			return other, true
		}
		if len(rules) > 0 {
			return nil, false
		}
	}
	return nil, false
}

// named returns the place of the same name at the other side, whatever is there.
func (p *pair) named(side int, at path) (path, bool) {
	if other, ok := p.paired[side][at.String()]; ok {
		return other, true
	}
	for n := len(at); n >= 0; n-- {
		rules := p.claims[side][at[:n].String()]
		if n == 0 {
			rules = []*rule{p.copied}
		}
		for _, r := range rules {
			if r.moves() {
				other := r.at[1-side][""].with(at[n:]...)
				apart := slices.ContainsFunc(p.claims[1-side][other.String()], (*rule).oneSided)
				return other, exists(p.schemas[1-side], other) && !apart
			}
		}
	}
	return nil, false
}

func isStatus(p path) bool { return len(p) > 0 && p[0].name == "status" }

func counts(p path) bool {
	return len(p) == 0 || p[0].name != "metadata" || len(p) > 1 && (p[1].name == "labels" || p[1].name == "annotations")
}

func (p *pair) makeUnits() units {
	g := &grouping{map[string]string{}, map[string]unitPlace{}, map[string][2][]unitPlace{}}
	for _, r := range p.rules {
		if (!r.moves() && !r.oneSided()) || r.when != [2]*expression{} {
			p.group(g, r)
		}
	}
	keys := sortedKeys(g.places)
	for _, a := range keys {
		for _, b := range keys {
			x, y := g.places[a], g.places[b]
			if a[0] == b[0] && x.what == readValue && y.what == readValue && below(x.at.String(), y.at.String()) && x.at.scopes() == y.at.scopes() {
				g.join(a, b)
			}
		}
	}
	byRoot := map[string]*unit{}
	out := units{cache: [2]map[string][]unitPlace{{}, {}}}
	of := func(key string) *unit {
		root := g.find(key)
		if byRoot[root] == nil {
			byRoot[root] = &unit{}
			out.list = append(out.list, byRoot[root])
		}
		return byRoot[root]
	}
	for _, k := range keys {
		side := int(k[0] - '0')
		u := of(k)
		u.places[side] = append(u.places[side], g.places[k])
		for s, outer := range g.outer[k] {
			u.places[s] = append(u.places[s], outer...)
		}
	}
	return out
}

// group adds the unit of a rule.
func (p *pair) group(g *grouping, r *rule) {
	var own []string
	var scope [2]string
	status := false
	for side := range 2 {
		for _, at := range r.at[side] {
			u := unitPlace{at: at}
			if s := schemaAt(p.schemas[side], at); r.moves() && s != nil && (s.Type == "object" || s.Type == "array") && (r.text.Use != "" || at.scope() == len(at)) {
				u.what = readPresence
			}
			own = append(own, g.add(side, u))
			scope[side] = at[:at.scope()].String()
			status = isStatus(at)
		}
	}
	for side := range 2 {
		if len(r.at[side]) == 0 {
			around, _ := p.elementOf(r, side)
			scope[side] = around[:around.scope()].String()
		}
	}
	for _, k := range own {
		g.join(k, own[0])
	}
	for target := range 2 {
		for _, x := range []*expression{r.expr[target], r.when[target]} {
			if x == nil {
				continue
			}
			for _, rd := range x.reads {
				side := 1 - target
				at, ok := p.source(r, side, rd)
				if !ok || isStatus(at) != status || !counts(at) {
					continue
				}
				p.addRead(g, own[0], side, unitPlace{at: at, what: rd.what}, scope)
			}
		}
	}
}

// addRead adds what an expression reads, and its counterpart, to the unit of a place.
func (p *pair) addRead(g *grouping, own string, side int, u unitPlace, scope [2]string) {
	both := map[int]unitPlace{side: u}
	if other, ok := p.counterpart(side, u.at); ok {
		both[1-side] = unitPlace{at: other, what: u.what}
	}
	for s, u := range both {
		within := u.at[:u.at.scope()].String()
		apart := within != scope[s] && (scope[s] != "" || scope[1-s] == "" || u.at.scope() == 0 || s == side)
		if u.what != readValue || apart { // several rules may ask whether a place exists, and are no unit for that
			u.outer = within != scope[s]
			outer := g.outer[own]
			outer[s] = append(outer[s], u)
			g.outer[own] = outer
			continue
		}
		g.join(g.add(s, u), own)
	}
}

// has reports whether a value belongs to a unit.
func (u *unit) has(p *pair, side int, at path) bool {
	text := at.String()
	return slices.ContainsFunc(u.places[side], func(o unitPlace) bool {
		place := o.at.String()
		return !o.outer && o.what == readValue && (below(text, place) && !p.moved(side, at, len(o.at)) || below(place, text)) ||
			!o.outer && o.what == readPresence && place == text
	})
}

// inputs returns the places of the other side that a value belongs to.
func (p *pair) inputs(side int, at path) []unitPlace {
	text := at.String()
	if cached, ok := p.units.cache[side][text]; ok {
		return cached
	}
	var out []unitPlace
	for _, u := range p.units.list {
		if u.has(p, side, at) {
			out = append(out, u.places[1-side]...)
		}
	}
	if other, ok := p.counterpart(side, at); ok {
		out = append(out, unitPlace{at: other})
	}
	p.units.cache[side][text] = out
	return out
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

// A bound is an element around a value: its concrete path in what was shown, and in what is.
type bound struct{ then, now string }

// value returns what an object shows of a place of a unit.
func (p *pair) value(side int, obj any, u unitPlace, chain []bound, now bool) any {
	if !u.outer {
		n := 0
		for i, s := range u.at {
			if s.kind != items && s.kind != each {
				continue
			}
			n++
			if u.at[:i+1].scopes() != len(chain) && i+1 != u.at.scope() || n > len(chain) {
				continue
			}
			concrete := chain[n-1].then
			if now {
				concrete = chain[n-1].now
			}
			if concrete == "" {
				return absent{}
			}
			if n == len(chain) || i+1 == u.at.scope() {
				if !matches(u.at[:i+1], concrete) {
					return absent{}
				}
				return p.read(at(obj, concrete), u.at[i+1:], schemaAt(p.schemas[side], u.at[:i+1]), u.what)
			}
		}
	}
	return p.read(obj, u.at, p.schemas[side], u.what)
}

func matches(p path, concrete string) bool {
	segs := strings.Split(concrete, "/")[1:]
	if len(segs) != len(p) {
		return false
	}
	for i, s := range p {
		if s.kind == field && unescape(segs[i]) != s.name {
			return false
		}
	}
	return true
}

// read returns what is at a place below a value: without defaults, a list for several elements.
func (p *pair) read(v any, at path, s *Schema, what int) any {
	for i, st := range at {
		var next []any
		switch st.kind {
		case field:
			m, ok := object(v)
			if !ok {
				return absent{}
			}
			v = get(m, st.name)
			s, _ = member(s, st.name)
			if isAbsent(v) {
				return v
			}
			continue
		case pick, first:
			l, _ := list(v)
			v, s = pickOf(l, st), element(s)
			continue
		case items:
			next, _ = list(v)
			s = element(s)
		case each:
			m, _ := object(v)
			for _, k := range sortedKeys(m) {
				next = append(next, m[k])
			}
			s, _ = member(s, "\x00")
		}
		var out []any
		for _, e := range next {
			if e = p.read(e, at[i+1:], s, what); !isAbsent(e) {
				out = append(out, e)
			}
		}
		if out == nil {
			return absent{}
		}
		return out
	}
	switch what {
	case readExistence:
		return !isAbsent(v)
	case readPresence:
		if isAbsent(v) || isAbsent(unfilled(v, s)) {
			return absent{}
		}
		return true
	case readCount:
		if l, ok := list(v); ok {
			return int64(len(l))
		}
		if m, ok := object(v); ok {
			return int64(len(m))
		}
	}
	return unfilled(v, s)
}

func pickOf(l []any, s step) any {
	if s.kind == first {
		if len(l) == 0 {
			return absent{}
		}
		return l[0]
	}
	for _, e := range l {
		if m, ok := object(e); ok && equal(get(m, s.name), s.value) {
			return e
		}
	}
	return absent{}
}
