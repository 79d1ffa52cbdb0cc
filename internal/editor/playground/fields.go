package playground

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/keep/annotation"
	"github.com/crdconvert/webhookd/internal/converters/rules/check"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
)

// What becomes of a value.
const (
	copied   = "copied"   // the same at the same place
	moved    = "moved"    // the same at another place
	computed = "computed" // another value, by a rule
	kept     = "kept"     // in an annotation, until it returns to its version
	restored = "restored" // from an annotation
	dropped  = "dropped"  // lost on purpose
	added    = "added"    // only the result has it, by a rule or a default
)

// staysKept is the reason for an annotation that is the same in the result.
const staysKept = "a kept value of another version stays"

// A Field says what becomes of a value of the object, or where a value of the result is from. Lines
// count from 1; 0: there is none.
type Field struct {
	Class  string `json:"class"`
	From   string `json:"from,omitempty"`
	To     string `json:"to,omitempty"`
	Rule   string `json:"rule,omitempty"`
	Reason string `json:"reason,omitempty"`

	FromLine int `json:"fromLine,omitempty"`
	FromEnd  int `json:"fromEnd,omitempty"`
	ToLine   int `json:"toLine,omitempty"`
	ToEnd    int `json:"toEnd,omitempty"`
}

// A link is a Field while it is found.
type link struct {
	class, rule, reason string
	from, to            *place
}

// fields says what becomes of each value at a version. From spoke to spoke it goes by way of the
// object at the hub.
func (c *converting) fields(version string, target *places, hub []byte) []Field {
	var links []link
	if hub == nil {
		links = c.links(c.gvk.Version, version, c.source, target)
	} else {
		middle, err := readPlaces(hub)
		if err != nil {
			return []Field{}
		}
		links = joined(c.links(c.gvk.Version, c.kind.Hub, c.source, middle), c.links(c.kind.Hub, version, middle, target))
	}
	fields := make([]Field, 0, len(links))
	for _, l := range links {
		f := Field{Class: l.class, Rule: l.rule, Reason: l.reason}
		if l.from != nil {
			f.From, f.FromLine, f.FromEnd = l.from.path, l.from.line, l.from.end
		}
		if l.to != nil {
			f.To, f.ToLine, f.ToEnd = l.to.path, l.to.line, l.to.end
		}
		fields = append(fields, f)
	}
	return fields
}

// links says what becomes of each value on the way to or from the hub.
func (c *converting) links(from, to string, source, target *places) []link {
	t := &tracer{from: from, to: to, source: source, target: target, claimed: map[*place]bool{}}
	for _, d := range c.explained(c.kind.GroupKind) {
		switch {
		case d.From == from && d.To == to:
			t.there = parsed(d.Atoms)
		case d.From == to && d.To == from:
			t.back = parsed(d.Atoms)
		}
	}
	t.kept, t.restores = keptPlaces(target, from), keptPlaces(source, to)
	for _, p := range source.all {
		if !p.isType() && !isKept(p.annotation()) {
			t.follow(p)
		}
	}
	for _, p := range source.all {
		if name := p.annotation(); isKept(name) {
			t.followKept(p, name)
		}
	}
	for _, p := range target.all {
		if !p.isType() && !t.claimed[p] {
			t.origin(p)
		}
	}
	return slices.DeleteFunc(t.links, func(l link) bool {
		return l.to == nil && l.class == computed && slices.ContainsFunc(t.links, func(other link) bool {
			return other.to != nil && other.from == l.from
		})
	})
}

// keptPlaces returns the annotations with kept values of a version, by the paths of these.
func keptPlaces(of *places, version string) map[string]*place {
	found := map[string]*place{}
	for _, p := range of.all {
		name, text := p.annotation(), ""
		if !isKept(name) || json.Unmarshal([]byte(p.value), &text) != nil {
			continue
		}
		d := annotation.Describe(name, text)
		if d.Version != version {
			continue
		}
		for _, value := range d.Values {
			found[value.Path] = p
		}
	}
	return found
}

// An atom is a check.Atom with its parsed paths.
type atom struct {
	check.Atom
	path []syntax.Segment
	to   []destination // none: the same path, or no place
}

// A destination is a place of the other version, or the key of a map there.
type destination struct {
	path  []syntax.Segment
	isKey bool
}

// parsed leaves out places inside a text with a codec.
func parsed(atoms []check.Atom) []atom {
	all := make([]atom, 0, len(atoms))
	for _, a := range atoms {
		path, err := syntax.ParsePath(a.Path)
		if err != nil {
			continue
		}
		next := atom{Atom: a, path: path.Segments}
		for to := range strings.SplitSeq(a.To, ", ") {
			to, isKey := strings.CutPrefix(to, "the key of ")
			if path, err := syntax.ParsePath(to); err == nil && len(path.Segments) > 0 {
				next.to = append(next.to, destination{path.Segments, isKey})
			}
		}
		all = append(all, next)
	}
	return all
}

// A tracer finds the links of one step.
type tracer struct {
	from, to       string
	source, target *places
	there, back    []atom
	kept, restores map[string]*place
	claimed        map[*place]bool
	links          []link
}

func (t *tracer) add(l link) {
	t.links = append(t.links, l)
	if l.to != nil {
		t.claimed[l.to] = true
	}
}

// nearest returns what the rules say about a place, or about the nearest one above it. The value of
// a place comes before its presence.
func nearest(atoms []atom, p *place) (best *atom, bounds []bound) {
	for i := range atoms {
		a := &atoms[i]
		all, ok := p.match(a.path)
		if !ok {
			continue
		}
		if best == nil || len(a.path) > len(best.path) || len(a.path) == len(best.path) && best.Kind == check.Presence {
			best, bounds = a, all
		}
	}
	return best, bounds
}

// follow finds what becomes of a value.
func (t *tracer) follow(p *place) {
	a, bounds := nearest(t.there, p)
	l := link{class: copied, from: p}
	if a == nil {
		l.to = t.target.byPath[p.path]
	} else {
		l.rule, l.reason = a.Rule, strings.Join(strings.Fields(a.Reason), " ")
		l.to = t.find(p, a, bounds)
	}
	if l.to == nil && p.isEmpty() {
		l.to = t.target.filled(p)
	}
	in := annotationOf(t.kept, p)
	switch {
	case l.to != nil && l.to.value != p.value: // also of another type
		l.class = computed
		if in != nil {
			l.reason = "also kept, since the way back would give another value"
			t.claimed[in] = true
		}
	case l.to != nil && l.to.path != p.path:
		l.class = moved
	case l.to != nil:
	case in != nil:
		l.class, l.to = kept, in
		if l.reason == "" {
			l.reason = "the way back from " + t.to + " would lose it"
		}
	case a != nil && a.Class == check.Dropped:
		l.class = dropped
	case a != nil && (a.Rule != "" || a.Class == check.Preserved):
		l.class, l.reason = computed, "the way back from "+t.to+" makes it again"
	default:
		l.class = dropped
		if l.reason == "" {
			l.reason = "no rule says what becomes of it"
		}
	}
	t.add(l)
}

// followKept is follow for an annotation.
func (t *tracer) followKept(p *place, name string) {
	if same := t.target.byPath[p.path]; same != nil {
		t.add(link{class: copied, from: p, to: same, reason: staysKept})
		return
	}
	version, _ := annotation.VersionOf(name)
	if version != t.to {
		t.add(link{class: dropped, from: p, reason: "out of date: made again for each conversion from " + version})
		return
	}
	l := link{class: restored, from: p, reason: "kept from " + version}
	for path, in := range t.restores {
		if in != p {
			continue
		}
		for _, to := range t.target.all {
			if syntax.Within(to.schema, path) && !t.claimed[to] && t.source.byPath[to.path] == nil {
				l.to = to
				t.add(l)
			}
		}
	}
	if l.to == nil {
		l.reason += ": it says what was absent or in which order, or an edit at " + t.from + " wins over it"
		t.add(l)
	}
}

// find returns the place of the result that has the value, or what a rule makes of it.
func (t *tracer) find(p *place, a *atom, bounds []bound) *place {
	if a.Class == check.Copied && len(a.to) == 0 {
		return t.carried(p, a)
	}
	if found := counterpart(t.target, a, p, bounds, true); found != nil {
		return found
	}
	return counterpart(t.target, a, p, bounds, false)
}

// carried returns the place of a value that is copied without a rule of its own, perhaps in
// something that a rule moves.
func (t *tracer) carried(p *place, own *atom) *place {
	if same := t.target.byPath[p.path]; same != nil {
		return same
	}
	var best *place
	longest := -1
	for i := range t.there {
		a := &t.there[i]
		bounds, ok := p.match(a.path)
		if !ok || len(a.path) <= longest || len(a.to) == 0 {
			continue
		}
		found := counterpart(t.target, a, p, bounds, true)
		if found == nil {
			found = t.inElements(p, own, a)
		}
		if found != nil {
			best, longest = found, len(a.path)
		}
	}
	return best
}

// inElements returns the place in a list with keys of what is in a map, or the other way round.
func (t *tracer) inElements(p *place, own, outer *atom) *place {
	n := len(outer.path)
	for _, d := range outer.to {
		for _, to := range t.target.all {
			if _, ok := to.match(d.path); !ok || len(to.steps)-len(d.path) != len(p.steps)-n {
				continue
			}
			same := true
			for i := n; i < len(p.steps) && same; i++ {
				j, key := len(d.path)+i-n, ""
				if i < len(own.path) {
					key = own.path[i].Name
				}
				same = p.steps[i] == to.steps[j] || identity(p, i, key) == identity(to, j, key)
			}
			if same {
				return to
			}
		}
	}
	return nil
}

// identity returns the key of a member, or that of an element.
func identity(p *place, i int, key string) string {
	if p.steps[i].index < 0 {
		return p.steps[i].name
	}
	return memberText(p.above[i+1], key)
}

// counterpart returns the first place of the other object to which the rules relate a place. If
// exact, what is below must have the same path.
func counterpart(other *places, a *atom, p *place, bounds []bound, exact bool) *place {
	for _, d := range a.to {
		for _, to := range other.all {
			all, ok := to.match(d.path)
			switch {
			case !ok || !corresponds(bounds, all, a.path, d.path):
			case d.isKey:
				return to.key(len(d.path))
			case !exact || slices.Equal(to.steps[len(d.path):], p.steps[len(a.path):]):
				return to
			}
		}
	}
	return nil
}

// origin says where a value is from that no value of the object has become.
func (t *tracer) origin(p *place) {
	if name := p.annotation(); isKept(name) {
		t.originKept(p, name)
		return
	}
	l := link{class: added, to: p, reason: "a default of the schema"}
	if in := annotationOf(t.restores, p); in != nil {
		l = link{class: restored, from: in, to: p, reason: "kept from " + t.to}
	} else if a, bounds := nearest(t.back, p); a != nil && a.Rule != "" {
		l.rule, l.reason = a.Rule, ""
		if from := counterpart(t.source, a, p, bounds, false); from != nil {
			l.class, l.from = computed, from
			if from.value == p.value {
				l.class = moved
			}
		}
	}
	t.add(l)
}

// originKept is origin for an annotation that keeps values which the object does not have, such as
// that something is absent, or the order of a list.
func (t *tracer) originKept(p *place, name string) {
	var text string
	if json.Unmarshal([]byte(p.value), &text) != nil {
		return
	}
	l := link{class: kept, to: p, reason: "the way back needs it"}
	if d := annotation.Describe(name, text); len(d.Values) > 0 {
		for _, from := range t.source.all {
			if syntax.Within(from.schema, d.Values[0].Path) {
				l.from = from
				break
			}
		}
	}
	t.add(l)
}

// annotationOf returns the annotation that keeps a place.
func annotationOf(in map[string]*place, p *place) *place {
	for path, at := range in {
		if syntax.Within(p.schema, path) {
			return at
		}
	}
	return nil
}

// joined joins the links to the hub with those from there.
func joined(first, second []link) []link {
	after := map[string][]link{}
	for _, l := range second {
		if l.from != nil {
			after[l.from.path] = append(after[l.from.path], l)
		}
	}
	claimed := map[*place]bool{}
	var all []link
	add := func(l link) {
		all = append(all, l)
		if l.to != nil {
			claimed[l.to] = true
		}
	}
	for _, l := range first {
		if l.to == nil {
			add(l)
			continue
		}
		for _, next := range after[l.to.path] {
			if l.from == nil {
				continue
			}
			add(joinedLink(l, next))
		}
	}
	for _, l := range second {
		if l.to != nil && !claimed[l.to] {
			l.from = nil
			if l.class != kept && l.class != restored {
				l.class = added
			}
			add(l)
		}
	}
	return all
}

// joinedLink is the link of two steps.
func joinedLink(first, second link) link {
	l := link{from: first.from, to: second.to, class: second.class, rule: second.rule, reason: second.reason}
	if l.to != nil && isKept(l.from.annotation()) && l.from.path == l.to.path {
		return link{class: copied, from: l.from, to: l.to, reason: staysKept}
	}
	if first.class == kept || first.class == restored {
		l.class = first.class
	}
	if l.rule == "" {
		l.rule = first.rule
	} else if first.rule != "" && first.rule != l.rule {
		l.rule = first.rule + ", then " + l.rule
	}
	if l.reason == "" || first.class == kept {
		l.reason = first.reason
	}
	if l.to == nil || l.class == kept || l.class == restored {
		return l
	}
	switch {
	case l.from.value != l.to.value:
		l.class = computed
	case l.from.path != l.to.path:
		l.class = moved
	default:
		l.class = copied
	}
	return l
}
