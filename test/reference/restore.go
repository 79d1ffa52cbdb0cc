package reference

import (
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// A memory has what a version last said, and what the other version showed of it.
type memory struct {
	said, shown map[string]any
	back        map[string]any    // what the conversion back from shown gives
	origins     map[string]string // from elements of back to those of shown
	links       map[string]string // from elements of back to those of said
}

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

// A place holds what was said at it, what came back then, and what comes back now.
type place struct {
	at              path
	schema          *Schema
	said, then, now any
	// Concrete paths in these, and in the result.
	saidAt, thenAt, nowAt, resultAt string
	chain                           []bound
	made                            bool // the object around it was not said
}

// restore returns what users see of a version, and where its elements are in the conversion back.
func (p *pair) restore(side int, m *memory, now map[string]any, origins map[string]string, shown map[string]any) (map[string]any, map[string]string) {
	r := &restoring{p, side, m, shown, origins, map[string]string{}, map[part]bool{}}
	for {
		clear(r.result)
		v := r.value(place{schema: p.schemas[side], said: m.said, then: m.back, now: clone(now)})
		out, _ := object(clone(v))
		fill(out, p.schemas[side])
		if !r.contradicted(now, out) {
			return out, r.result
		}
	}
}

// contradicted finds units that the result shows otherwise, unlike what comes back now.
func (r *restoring) contradicted(now, result map[string]any) bool {
	if len(r.units.list) == 0 || equal(now, result) {
		return false
	}
	plain, _ := r.shows(1-r.side, now)
	back, _ := r.shows(1-r.side, result)
	found := false
	for _, u := range r.units.list {
		for _, o := range u.places[1-r.side] {
			if o.outer {
				continue
			}
			around, rest := o.at[:o.at.scope()], o.at[o.at.scope():]
			schema := schemaAt(r.schemas[1-r.side], around)
			was, is, gives := elementsAt(r.shown, around), elementsAt(plain, around), elementsAt(back, around)
			for i := range was {
				if len(was) != len(is) || len(was) != len(gives) || r.without[part{u, was[i]}] {
					continue
				}
				x := r.read(at(r.shown, was[i]), rest, schema, o.what)
				if equal(x, r.read(at(plain, is[i]), rest, schema, o.what)) && !equal(x, r.read(at(back, gives[i]), rest, schema, o.what)) {
					r.without[part{u, was[i]}], found = true, true
				}
			}
		}
	}
	return found
}

// A part is a unit in one element.
type part struct {
	*unit
	around string
}

// elementsAt returns the concrete paths of the elements at a place.
func elementsAt(v any, p path) []string {
	all := []string{""}
	for _, s := range p {
		var next []string
		for _, c := range all {
			switch e := at(v, c).(type) {
			case map[string]any:
				for _, k := range sortedKeys(e) {
					if s.kind == each || k == s.name {
						next = append(next, c+"/"+escape(k))
					}
				}
			case []any:
				for i := range e {
					next = append(next, fmt.Sprintf("%s/%d", c, i))
				}
			}
		}
		all = next
	}
	return all
}

func (r *restoring) same(p place) bool {
	for u := range r.without {
		if u.around != "" && (len(p.chain) == 0 || p.chain[len(p.chain)-1].now != u.around) {
			continue
		}
		if u.has(r.pair, r.side, p.at) || slices.ContainsFunc(u.places[r.side], func(o unitPlace) bool {
			return o.what == readPresence && below(p.at.String(), o.at.String())
		}) {
			return false
		}
	}
	for _, u := range r.inputs(r.side, p.at) {
		then := r.pair.value(1-r.side, r.memory.shown, u, p.chain, false)
		if !equal(then, r.pair.value(1-r.side, r.shown, u, p.chain, true)) {
			return false
		}
	}
	return true
}

func (r *restoring) leaf(p place) any {
	for _, c := range r.claims[r.side][p.at.String()] {
		if c.text.Drop != "" {
			return p.now
		}
	}
	if p.made && len(r.inputs(r.side, p.at)) == 0 {
		return p.now // the object exists now, and so does the default of a rule in it
	}
	if equal(p.then, p.now) && r.same(p) {
		return p.said
	}
	return p.now
}

// whole reports whether a place is that of a rule that does more than move its value.
func (r *restoring) whole(p place) bool {
	for _, c := range r.claims[r.side][p.at.String()] {
		if !c.moves() && !c.oneSided() {
			return true
		}
	}
	return false
}

// removed reports whether an edit has removed the object, the list or the map of a place.
func (r *restoring) removed(p place) bool {
	if len(p.at) > 0 && p.at[0].name == "metadata" {
		return false
	}
	other, ok := r.named(r.side, p.at)
	ofPart := slices.ContainsFunc(r.rules, func(c *rule) bool {
		return c.holds(r.side, p.at) && (c.decides() && !ok || slices.Contains(r.claims[1-r.side][other.String()], c))
	})
	if !ok || ofPart {
		return ofPart && !isAbsent(p.then) && isAbsent(p.now)
	}
	u := unitPlace{at: other, what: readExistence}
	return r.pair.value(1-r.side, r.memory.shown, u, p.chain, false) == true &&
		r.pair.value(1-r.side, r.shown, u, p.chain, true) != true
}

func (r *restoring) value(p place) any {
	if equal(p.said, p.then) {
		if p.resultAt != p.nowAt {
			r.result[p.resultAt] = p.nowAt
		}
		return p.now
	}
	if r.whole(p) {
		return r.leaf(p)
	}
	said, isObject := object(p.said)
	then, wasObject := object(p.then)
	now, nowObject := object(p.now)
	if (isObject || isAbsent(p.said)) && (wasObject || isAbsent(p.then)) && (nowObject || isAbsent(p.now)) {
		if r.removed(p) {
			return p.now // an edit has removed the object
		}
		out := r.object(p, said, then, now)
		switch {
		case len(out) > 0 || isObject && nowObject:
			return out
		case !equal(p.then, p.now) && nowObject && !wasObject:
			return out
		}
		if len(p.at) > 0 && p.at[0].name == "metadata" {
			return absent{} // there are no empty labels and annotations
		}
		if v := r.leaf(p); isAbsent(v) || !isAbsent(p.said) {
			return v
		}
		return out
	}
	saidList, isList := list(p.said)
	thenList, wasList := list(p.then)
	nowList, nowIsList := list(p.now)
	if isList && (wasList || isAbsent(p.then)) && (nowIsList || isAbsent(p.now)) && len(saidList)+len(thenList) > 0 {
		if r.removed(p) {
			return p.now
		}
		if len(thenList) > 0 && len(nowList) == 0 && slices.Contains(r.picks[r.side][p.at.String()], step{kind: first}) {
			return p.now // another element would be the first
		}
		out := r.list(p, saidList, thenList, nowList)
		if len(out) == 0 && !nowIsList {
			return absent{}
		}
		return out
	}
	return r.leaf(p)
}

func (r *restoring) object(p place, said, then, now map[string]any) map[string]any {
	out, keys := map[string]any{}, map[string]bool{}
	for _, m := range []map[string]any{said, then, now} {
		for k := range m {
			keys[k] = true
		}
	}
	for k := range keys {
		s := r.child(r.side, p.at, p.schema, k)
		schema, _ := member(p.schema, k)
		in := place{
			at: p.at.with(s), schema: schema, said: get(said, k), then: get(then, k), now: get(now, k),
			saidAt: p.saidAt + "/" + escape(k), thenAt: p.thenAt + "/" + escape(k), nowAt: p.nowAt + "/" + escape(k),
			resultAt: p.resultAt + "/" + escape(k), chain: p.chain,
			made: isAbsent(p.said) && !equal(p.then, p.now),
		}
		if s.kind == each {
			in.chain = r.bind(in)
		}
		if v := r.value(in); !isAbsent(v) {
			out[k] = v
		}
	}
	return out
}

func (r *restoring) bind(p place) []bound {
	var b bound
	if !isAbsent(p.then) {
		b.then = resolve(r.memory.origins, p.thenAt)
	}
	if !isAbsent(p.now) {
		b.now = resolve(r.origins, p.nowAt)
	}
	return append(slices.Clip(p.chain), b)
}

// list restores the elements of a list. Indexes of -1 are of elements that are not there.
func (r *restoring) list(p place, said, then, now []any) []any {
	thenOf, nowOf := slices.Repeat([]int{-1}, len(said)), slices.Repeat([]int{-1}, len(then))
	saidOf, thenOfNow := slices.Repeat([]int{-1}, len(then)), slices.Repeat([]int{-1}, len(now))
	for i := range then {
		if j, ok := indexIn(p.saidAt, resolve(r.memory.links, fmt.Sprintf("%s/%d", p.thenAt, i))); ok && j < len(said) && thenOf[j] < 0 {
			thenOf[j], saidOf[i] = i, j
		}
	}
	for i, e := range then {
		for j, f := range said {
			if s := r.picked(r.side, p.at, e, i); s.kind != items && s == r.picked(r.side, p.at, f, j) {
				thenOf[j], saidOf[i] = i, j
			}
		}
	}
	kept := func(i int) bool { return saidOf[i] < 0 || !equal(said[saidOf[i]], then[i]) }
	keyed := r.match(p, then, now, nowOf, kept)
	for i, j := range nowOf {
		if j >= 0 {
			thenOfNow[j] = i
		}
	}
	type item struct{ said, then, now int }
	var seq []item
	again := map[int]bool{}
	for j, i := range thenOfNow {
		it := item{-1, i, j}
		if i >= 0 {
			it.said = saidOf[i]
		} else {
			it.said = r.hidden(p, keyed, said, thenOf, j, now[j])
			again[it.said] = true
		}
		seq = append(seq, it)
	}
	if len(then) == len(now) && !slices.Contains(nowOf, -1) && sorted(thenOfNow) && keyed {
		var spots []int
		var known []item
		for i, it := range seq {
			if it.said >= 0 {
				spots, known = append(spots, i), append(known, it)
			}
		}
		sort.Slice(known, func(i, j int) bool { return known[i].said < known[j].said })
		for i, spot := range spots {
			seq[spot] = known[i]
		}
	}
	last := keyed && usual(thenOf)
	for i := range said {
		if then := thenOf[i]; then >= 0 && (nowOf[then] >= 0 || r.picked(r.side, p.at, said[i], i).kind != pick) || again[i] {
			continue
		}
		spot := 0
		if last {
			spot = len(seq)
		}
		for j := i - 1; j >= 0 && spot == 0; j-- {
			for k, it := range seq {
				if it.said == j {
					spot = k + 1
				}
			}
		}
		seq = append(seq[:spot:spot], append([]item{{i, thenOf[i], -1}}, seq[spot:]...)...)
	}
	var out []any
	for _, it := range seq {
		in := place{
			schema: element(p.schema), said: pickIndex(said, it.said), then: pickIndex(then, it.then), now: pickIndex(now, it.now),
			saidAt: fmt.Sprintf("%s/%d", p.saidAt, it.said), thenAt: fmt.Sprintf("%s/%d", p.thenAt, it.then),
			nowAt: fmt.Sprintf("%s/%d", p.nowAt, it.now), resultAt: fmt.Sprintf("%s/%d", p.resultAt, len(out)),
		}
		v := in.now
		if it.said >= 0 {
			v = in.said
		}
		step := r.picked(r.side, p.at, v, max(it.said, it.now))
		in.at, in.chain = p.at.with(step), p.chain
		if step.kind == items {
			in.chain = r.bind(place{then: in.then, now: in.now, thenAt: in.thenAt, nowAt: in.nowAt, chain: p.chain})
		}
		if it.now < 0 {
			r.result[in.resultAt] = gone
			if it.then >= 0 {
				out = append(out, r.rest(in, step)...)
			} else if r.same(in) {
				out = append(out, in.said)
			}
			continue
		}
		r.result[in.resultAt] = in.nowAt
		switch {
		case it.then < 0 && it.said < 0, it.said < 0 && (!equal(in.then, in.now) || !r.same(in)):
			out = append(out, in.now)
			continue
		case it.said < 0:
			continue
		}
		if v := r.value(in); !isAbsent(v) {
			out = append(out, v)
		}
	}
	if out == nil {
		out = []any{}
	}
	return out
}

// rest returns what is left of an element of which the other version showed only parts, with its
// key.
func (r *restoring) rest(p place, picked step) []any {
	parts, ok := object(r.value(p))
	if !ok || len(parts) == 0 {
		return nil
	}
	parts[picked.name] = picked.value
	if p.schema != nil && p.schema.ValueValidation != nil {
		for _, name := range p.schema.ValueValidation.Required {
			if _, ok := parts[name]; !ok {
				return nil
			}
		}
	}
	return []any{parts}
}

// hidden returns the element that was not shown, and has the keys of one that is new.
func (r *restoring) hidden(p place, keyed bool, said []any, thenOf []int, j int, now any) int {
	key, ok := r.keysOf(p, []any{now})
	picked := r.picked(r.side, p.at, now, j)
	for i, e := range said {
		if picked.kind == pick && thenOf[i] < 0 && r.picked(r.side, p.at, e, i) == picked {
			return i
		}
		if !keyed {
			continue
		}
		if k, has := r.keysOf(p, []any{e}); ok && has && thenOf[i] < 0 && k[0] == key[0] {
			return i
		}
	}
	return -1
}

// usual reports whether the elements that were shown come first, in their order.
func usual(thenOf []int) bool {
	shown := len(thenOf)
	for shown > 0 && thenOf[shown-1] < 0 {
		shown--
	}
	return sorted(thenOf[:shown]) && !slices.Contains(thenOf[:shown], -1)
}

func sorted(indexes []int) bool {
	last := -1
	for _, i := range indexes {
		if i >= 0 && i < last {
			return false
		}
		last = max(last, i)
	}
	return true
}

func pickIndex(l []any, i int) any {
	if i < 0 {
		return absent{}
	}
	return l[i]
}

func indexIn(list, at string) (int, bool) {
	rest, ok := strings.CutPrefix(at, list+"/")
	i, err := strconv.Atoi(rest)
	return i, ok && err == nil
}

// match finds elements of what came back then in what comes back now, and reports whether by keys.
// Kept says of which something is kept: only those are known.
func (r *restoring) match(p place, then, now []any, nowOf []int, kept func(i int) bool) bool {
	if a, ok := r.keysOf(p, then); ok {
		if b, ok := r.keysOf(p, now); ok {
			for i, k := range a {
				for j, l := range b {
					if k == l {
						nowOf[i] = j
					}
				}
			}
			return true
		}
	}
	was, is := make([]any, len(then)), make([]any, len(now))
	for i := range then {
		was[i] = r.shownOf(r.memory.shown, r.memory.origins, p.thenAt, i, then[i])
	}
	for i := range now {
		is[i] = r.shownOf(r.shown, r.origins, p.nowAt, i, now[i])
	}
	align(was, is, nowOf, kept)
	for i, a := range then {
		for j, b := range now {
			if s := r.picked(r.side, p.at, a, i); s.kind != items && s == r.picked(r.side, p.at, b, j) {
				nowOf[i] = j
			}
		}
	}
	return false
}

func (r *restoring) shownOf(shown map[string]any, origins map[string]string, list string, i int, otherwise any) any {
	if from := resolve(origins, fmt.Sprintf("%s/%d", list, i)); from != "" {
		if v := at(shown, from); !isAbsent(v) {
			return v
		}
	}
	return otherwise
}

// keysOf returns the keys of a list's elements, if it has keys, and they identify.
func (r *restoring) keysOf(p place, elems []any) ([]string, bool) {
	names := []string{}
	if key, ok := r.keys[r.side][p.at.String()]; ok {
		names = []string{key}
	} else if p.schema != nil && p.schema.XListType != nil && *p.schema.XListType == "map" {
		names = p.schema.XListMapKeys
	}
	if len(names) == 0 {
		return nil, false
	}
	var keys []string
	seen := map[string]bool{}
	for _, e := range elems {
		m, _ := object(e)
		k := keyText(m, names, p.schema)
		if k == "" || seen[k] {
			return nil, false
		}
		seen[k] = true
		keys = append(keys, k)
	}
	return keys, true
}

// align matches elements without keys: equal ones, and between those in order ones that are alike,
// where none has gone.
func align(was, is []any, nowOf []int, kept func(i int) bool) {
	anchors := common(was, is)
	taken := make([]bool, len(is))
	match := func(i, j int) { nowOf[i], taken[j] = j, true }
	if len(was) == len(is) {
		same := 0
		for i := range was {
			if equal(was[i], is[i]) {
				same++
			}
		}
		if same >= len(anchors) {
			anchors = nil
			for i := range was {
				if equal(was[i], is[i]) {
					anchors = append(anchors, [2]int{i, i})
				}
			}
		}
	}
	for _, a := range anchors {
		match(a[0], a[1])
	}
	for i := range was {
		for j := range is {
			if nowOf[i] < 0 && !taken[j] && equal(was[i], is[j]) {
				match(i, j)
			}
		}
	}
	edited := func(i, j int) {
		if nowOf[i] < 0 && !taken[j] && alike(was[i], is[j]) {
			match(i, j)
		}
	}
	if len(was) == len(is) {
		for i := range was {
			edited(i, i)
		}
		return
	}
	anchors = slices.DeleteFunc(anchors, func(a [2]int) bool { return !kept(a[0]) })
	from := [2]int{}
	for _, to := range append(anchors, [2]int{len(was), len(is)}) {
		grown := to[1] - from[1] - (to[0] - from[0])
		for i := from[0]; i < to[0] && grown >= 0; i++ {
			edited(i, from[1]+i-from[0])
			edited(i, from[1]+i-from[0]+grown)
		}
		from = [2]int{to[0] + 1, to[1] + 1}
	}
}

// common returns a longest common subsequence as pairs of indexes.
func common(was, is []any) [][2]int {
	best := make([][]int, len(was)+1)
	for i := range best {
		best[i] = make([]int, len(is)+1)
	}
	for i, wa := range slices.Backward(was) {
		for j := len(is) - 1; j >= 0; j-- {
			if best[i][j] = max(best[i+1][j], best[i][j+1]); equal(wa, is[j]) {
				best[i][j] = max(best[i][j], best[i+1][j+1]+1)
			}
		}
	}
	var out [][2]int
	for i, j := 0, 0; i < len(was) && j < len(is); {
		switch {
		case equal(was[i], is[j]) && best[i][j] == best[i+1][j+1]+1:
			out = append(out, [2]int{i, j})
			i, j = i+1, j+1
		case best[i+1][j] >= best[i][j+1]:
			i++
		default:
			j++
		}
	}
	return out
}

// alike reports whether half of the leaves of a value are in another, wherever in its lists.
func alike(was, is any) bool {
	total, same := 0, 0
	now := leaves(is)
	for leaf, n := range leaves(was) {
		total, same = total+n, same+min(n, now[leaf])
	}
	return 2*same >= total
}

// leaves counts the leaves of a value, which differ by their path without indexes.
func leaves(v any) map[string]int {
	out := map[string]int{}
	var walk func(v any, at string)
	walk = func(v any, at string) {
		m, _ := object(v)
		l, _ := list(v)
		for k, e := range m {
			walk(e, at+"/"+escape(k))
		}
		for _, e := range l {
			walk(e, at+"/[]")
		}
		_, isObject := object(v)
		_, isList := list(v)
		if !isObject && !isList {
			out[fmt.Sprintf("%s %T %v", at, v, v)]++
		}
	}
	walk(v, "")
	return out
}
