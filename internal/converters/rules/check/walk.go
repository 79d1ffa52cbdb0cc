package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/converters/rules/transform"
	"github.com/crdconvert/webhookd/internal/crdschema"
)

// A walker goes through the schema of one version and tells of every atom what becomes of it in the other one.
type walker struct {
	src      side
	names    [2]string
	version  *syntax.Version
	report   func(finding.Finding)
	atoms    *[]Atom // nil: nobody wants them
	muted    int     // above 0: the atoms are told already, by another rule with a guard
	visited  map[*relation]bool
	mismatch map[string]bool // places that a finding is about
}

// A visit is a place of the source, and its counterpart in the target.
type visit struct {
	rel     *relation
	path    []syntax.Segment
	src     spot
	dst     spot // unknown: there is none
	dstPath []syntax.Segment
	via     *syntax.Rule // the pair that the counterpart is by; nil: by name
	direct  bool         // the pair names just this place
	blocked *syntax.Rule // why there is no counterpart, if a rule of the target is to blame
}

// isRoot reports whether the place is a whole object.
func (v visit) isRoot(src side) bool {
	return len(v.path) == 0 && v.rel.prefix[src] == "" && v.src.node.Property("metadata") != nil
}

// relation goes through the places of a relation.
func (w *walker) relation(r *relation) {
	if w.visited[r] {
		return
	}
	w.visited[r] = true
	w.place(visit{rel: r, src: r.base[w.src], dst: r.base[w.src.other()]})
}

func (w *walker) place(v visit) {
	if ties := v.rel.tiesAt(w.src, v.path); len(ties) > 0 {
		w.tied(v, ties)
		return
	}
	if g := v.rel.groupAt(w.src, v.path); g != nil {
		w.grouped(v, g)
		return
	}
	if len(v.path) == 1 && v.rel.keys[w.src] != "" && v.path[0].Name == v.rel.keys[w.src] {
		w.all(v, outcome{class: Mapped, rule: v.rel.keyBy, to: "the key of " + v.rel.text(w.src.other(), nil)})
		return
	}
	if !v.dst.known && v.rel.pickKey(w.src, v.path) {
		w.all(v, outcome{class: Mapped, to: "the rules that pick the element"})
		return
	}
	if !v.dst.known && w.amongElements(v) {
		return // what is told of the elements holds for it
	}
	w.copied(v)
}

// amongElements reports whether no rule names a part of a picked element, but rules go through all elements of the list.
func (w *walker) amongElements(v visit) bool {
	at := slices.IndexFunc(v.path, func(s syntax.Segment) bool { return s.Kind == syntax.Pick || s.Kind == syntax.First })
	return at >= 0 && v.rel.groupAt(w.src, v.path[:at]) != nil && len(v.rel.next(w.src, v.path)) == 0
}

// tied tells of a place that rules name. If there are more than one, all have guards, and the first one speaks for them.
func (w *walker) tied(v visit, ties []*tie) {
	w.tie(v, ties[0], ties[1:]...)
	for _, t := range ties[1:] {
		w.muted++
		w.tie(v, t)
		w.muted--
	}
}

func (w *walker) tie(v visit, t *tie, others ...*tie) {
	dst := w.src.other()
	switch {
	case t.how == drops:
		w.all(v, outcome{class: Dropped, rule: t.rule, reason: t.rule.Drop.Value})
	case t.how == keeps:
		w.all(v, outcome{class: Preserved, rule: t.rule, reason: "no place in " + w.names[dst]})
	case t.how == computes:
		w.all(v, outcome{class: Preserved, rule: t.rule, reason: "where it is not what the rule computes"})
	case t.doubtful || t.how == converts:
		w.all(v, mapped(v.rel, dst, t, others))
	case len(others) > 0 && w.atoms != nil:
		w.all(v, mapped(v.rel, dst, t, others))
	case t.how == uses:
		w.emit(v, Presence, mapped(v.rel, dst, t, nil))
		w.relation(t.below)
	default:
		e := t.ends[dst][0]
		v.dst, v.dstPath, v.via, v.direct = e.spot, e.path, t.rule, true
		if g := v.rel.groupAt(w.src, v.path); g != nil {
			w.grouped(v, g)
			return
		}
		w.copied(v)
	}
}

// mapped is the outcome of a place that rules convert.
func mapped(r *relation, dst side, t *tie, others []*tie) outcome {
	o := outcome{class: Mapped, rule: t.rule, to: endsText(r, dst, t.ends[dst])}
	for _, other := range others {
		o.others = append(o.others, other.rule)
		o.to += ", " + endsText(r, dst, other.ends[dst])
	}
	return o
}

func endsText(r *relation, s side, ends []end) string {
	texts := make([]string, 0, len(ends))
	for _, e := range ends {
		texts = append(texts, r.text(s, e.path))
	}
	return strings.Join(texts, ", ")
}

// grouped tells of a list or map whose elements have rules.
func (w *walker) grouped(v visit, g *group) {
	if g.has[w.src.other()] {
		w.emit(v, Presence, outcome{class: Mapped, rule: g.rule, to: v.rel.text(w.src.other(), g.path[w.src.other()])})
	} else {
		w.emit(v, Presence, outcome{class: Preserved, rule: g.rule, reason: "no place in " + w.names[w.src.other()]})
	}
	w.named(v)
	w.relation(g.rel)
}

// named goes on to what rules name below a place and the schema does not.
func (w *walker) named(v visit) {
	for _, by := range v.rel.next(w.src, v.path) {
		if by.Kind != syntax.Field || v.src.node.Property(by.Name) == nil {
			w.child(v, by)
		}
	}
}

// child goes on by one segment, on both sides.
func (w *walker) child(v visit, by syntax.Segment) {
	next := v
	next.direct = false
	next.path = append(slices.Clone(v.path), by)
	next.src = v.src.step(by)
	if v.dst.known {
		next.dstPath = append(slices.Clone(v.dstPath), by)
		next.dst = v.dst.step(by)
	}
	w.place(next)
}

// copied tells of a place that no rule names, or a pair hands on: what becomes of it is in the two schemas.
func (w *walker) copied(v visit) {
	dst := w.src.other()
	if v.dst.known && !v.direct {
		if owner := v.rel.owner(dst, v.dstPath); owner != nil {
			v.dst, v.blocked = spot{}, owner
		}
	}
	below := v.src.known && len(v.rel.next(w.src, v.path)) > 0 || v.dst.known && len(v.rel.next(dst, v.dstPath)) > 0
	if v.dst.known && len(v.path) == 0 && v.rel.keys[dst] != "" {
		below = true // the key of the target is no place to copy to
	}
	below = below || v.isRoot(w.src) // metadata is nobody's business
	switch {
	case !v.dst.known && below:
		w.emit(v, Presence, outcome{class: Preserved, reason: "where nothing is in it"})
		w.inside(v)
	case !v.dst.known:
		w.lost(v)
	case !below && transform.Covers(v.dst.node, v.src.node):
		w.all(v, w.handedOn(v))
	case v.src.node.Kind() == crdschema.Map && !v.dst.others().known:
		w.misfit(v)
	case v.src.objectish() && v.dst.objectish() && (v.dst.free() || !v.src.free()):
		w.emit(v, Presence, w.handedOn(v))
		w.inside(v)
	case v.src.node.Kind() == crdschema.Array && v.dst.arrayish():
		w.emit(v, Presence, w.handedOn(v))
		w.named(v)
		w.elements(v, syntax.Segment{Kind: syntax.Elements})
	default:
		w.misfit(v)
		w.named(v)
	}
}

func (w *walker) handedOn(v visit) outcome {
	if v.via != nil {
		return outcome{class: Mapped, rule: v.via, to: v.rel.text(w.src.other(), v.dstPath)}
	}
	return outcome{class: Copied}
}

// inside goes through what is in an object, or in a list some of whose elements have rules.
func (w *walker) inside(v visit) {
	root := v.isRoot(w.src)
	for _, name := range v.src.node.Properties() {
		if root && (name == "apiVersion" || name == "kind" || name == "metadata") {
			continue // every object has them, and they go from version to version as they are
		}
		w.child(v, syntax.Segment{Kind: syntax.Field, Name: name})
	}
	if root {
		w.metadata(v)
	} else {
		w.named(v)
	}
	switch {
	case v.src.node.Kind() == crdschema.Map:
		w.elements(v, syntax.Segment{Kind: syntax.Values})
	case v.src.node.Kind() == crdschema.Array:
		w.elements(v, syntax.Segment{Kind: syntax.Elements})
	case v.src.node == nil || v.src.node.PreservesUnknown():
		w.unknown(v)
	}
}

// metadata tells of the labels and annotations that rules name.
func (w *walker) metadata(v visit) {
	for _, t := range v.rel.ties {
		for _, e := range t.ends[w.src] {
			if e.path[0].Kind == syntax.Field && e.path[0].Name == "metadata" {
				v := visit{rel: v.rel, path: e.path, src: e.spot}
				w.tie(v, t)
			}
		}
	}
}

// unknown tells of fields that the schema does not name.
func (w *walker) unknown(v visit) {
	others := v.dst.others()
	switch {
	case others.known && (others.node == nil || others.free()):
		w.emit(v, Unknown, w.handedOn(v))
	case w.version.Unmapped == syntax.Preserve:
		w.emit(v, Unknown, outcome{class: Preserved, reason: "unmapped: Preserve"})
	default:
		w.emit(v, Unknown, outcome{class: Unmapped})
		w.mismatch[v.rel.text(w.src, v.path)] = true
		w.say("unknown-fields", "", "%s may have fields that its schema does not name, which %s would prune: %s",
			v.rel.text(w.src, v.path), w.names[w.src.other()], remedies)
	}
}

// elements goes through the elements of a list or map that is copied one by one.
func (w *walker) elements(v visit, by syntax.Segment) {
	if v.dst.known {
		w.relation(v.rel.implicit(w.src, by, v.path, v.dstPath, [2]spot{v.src, v.dst}))
		return
	}
	next := v
	next.path, next.src = append(slices.Clone(v.path), by), v.src.step(by)
	w.lost(next)
}

const remedies = "add a rule, `drop: reason`, or `unmapped: Preserve`"

// say reports something about the direction as a whole.
func (w *walker) say(code, hint, format string, args ...any) {
	w.report(finding.Finding{
		Pos: w.version.Pos, Code: code, Hint: hint,
		Message: fmt.Sprintf("%s -> %s: ", w.names[w.src], w.names[w.src.other()]) + fmt.Sprintf(format, args...),
	})
}
