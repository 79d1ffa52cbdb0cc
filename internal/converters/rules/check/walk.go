package check

import (
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/rules/binding"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/converters/rules/transform"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// A walker goes through the schema of one version, and says what becomes of every atom in the other
// one.
type walker struct {
	*direction
	atoms  *[]Atom // or nil
	filled defaulted
	shapes []visit // of fields whose counterparts of the same path have other types
	muted  int     // above 0: the atoms are there already, by another rule with a guard
	unused map[freeKey]map[crdschema.Kind][]string
}

// A visit is a place of the source, and its counterpart in the target.
type visit struct {
	binding *binding.Binding
	path    []syntax.Segment
	src     binding.Place
	dst     binding.Place // unknown: it has none
	dstPath []syntax.Segment
	via     *syntax.Rule // the rule that pairs the place with its counterpart; nil: they have one path
	direct  bool         // the rule names this place itself
	blocked *syntax.Rule // the rule that owns the counterpart, which therefore is none
}

// bound goes through the places of a binding.
func (w *walker) bound(b *binding.Binding) {
	if w.enter(b) {
		w.place(visit{binding: b, src: b.Base[w.src], dst: b.Base[w.dst]})
	}
}

func (w *walker) place(v visit) {
	if w.ended() != nil {
		return
	}
	if rules := v.binding.RulesAt(w.src, v.path); len(rules) > 0 {
		w.ruled(v, rules)
		return
	}
	if e := v.binding.ElementsAt(w.src, v.path); e != nil {
		w.iterated(v, e)
		return
	}
	if len(v.path) == 1 && v.binding.Keys[w.src] != "" && v.path[0].Name == v.binding.Keys[w.src] {
		w.all(v, outcome{class: Mapped, rule: v.binding.KeyBy, to: "the key of " + v.binding.Text(w.dst, nil)})
		return
	}
	if !v.dst.Known && pickKey(v.binding, w.src, v.path) {
		w.all(v, outcome{class: Mapped, to: "the rules that pick the element"})
		return
	}
	if !v.dst.Known && w.amongElements(v) {
		return // it has the outcome of the elements
	}
	w.copied(v)
}

// amongElements reports whether rules go through all elements of the list of a picked element, and
// none names a part of this one.
func (w *walker) amongElements(v visit) bool {
	at := slices.IndexFunc(v.path, isPick)
	return at >= 0 && v.binding.ElementsAt(w.src, v.path[:at]) != nil && len(v.binding.Next(w.src, v.path)) == 0
}

// ruled handles a place that rules name. If there are several, all have guards, and the first one
// reports for them.
func (w *walker) ruled(v visit, rules []*binding.Rule) {
	w.rule(v, rules[0], rules[1:]...)
	for _, r := range rules[1:] {
		w.muted++
		w.rule(v, r)
		w.muted--
	}
}

func (w *walker) rule(v visit, r *binding.Rule, others ...*binding.Rule) {
	switch {
	case r.How == binding.Drops:
		w.all(v, outcome{class: Dropped, rule: r.Syntax, reason: r.Syntax.Drop.Value})
	case r.How == binding.Keeps:
		w.all(v, outcome{class: Preserved, rule: r.Syntax, reason: "no place in " + w.Names[w.dst]})
	case r.How == binding.Computes:
		w.all(v, outcome{
			class: Preserved, rule: r.Syntax, reason: "if it differs from what the rule computes", by: []*binding.Rule{r},
		})
	case r.Doubtful || r.How == binding.Converts:
		w.all(v, mapped(v.binding, w.dst, r, others))
		w.defaultOfRule(v, r)
	case len(others) > 0 && w.atoms != nil:
		w.all(v, mapped(v.binding, w.dst, r, others))
	case r.How == binding.Uses:
		w.emit(v, Presence, mapped(v.binding, w.dst, r, nil))
		w.bound(r.Below)
	default:
		e := r.Ends[w.dst][0]
		v.dst, v.dstPath, v.via, v.direct = e.Place, e.Segments, r.Syntax, true
		if r.HasDefault(w.dst) {
			w.filled.ruled = append(w.filled.ruled, w.placeOf(v))
		}
		if elements := v.binding.ElementsAt(w.src, v.path); elements != nil {
			w.iterated(v, elements)
			return
		}
		w.copied(v)
	}
}

// mapped returns the outcome of a place that rules convert.
func mapped(b *binding.Binding, dst binding.Side, r *binding.Rule, others []*binding.Rule) outcome {
	o := outcome{class: Mapped, rule: r.Syntax, to: endsText(b, dst, r.Ends[dst]), by: append([]*binding.Rule{r}, others...)}
	for _, other := range others {
		o.others = append(o.others, other.Syntax)
		o.to += ", " + endsText(b, dst, other.Ends[dst])
	}
	return o
}

func endsText(b *binding.Binding, s binding.Side, ends []binding.Path) string {
	texts := make([]string, 0, len(ends))
	for _, e := range ends {
		texts = append(texts, b.Text(s, e.Segments))
	}
	return strings.Join(texts, ", ")
}

// iterated handles a list or map whose elements have rules.
func (w *walker) iterated(v visit, e *binding.Elements) {
	if e.Has[w.dst] {
		there := e.Ends[w.dst].Segments
		to := v.binding.Text(w.dst, there)
		o := outcome{class: Mapped, rule: e.Rule, to: to, counterpart: to, parts: v.binding.Next(w.dst, there)}
		o.partly = binding.IsMap(e.By[w.dst]) && !binding.IsMap(e.By[w.src]) || w.picks(v, there)
		w.emit(v, Presence, o)
	} else {
		w.emit(v, Presence, outcome{class: Preserved, rule: e.Rule, reason: "no place in " + w.Names[w.dst]})
	}
	w.named(v)
	w.bound(e.Binding)
}

// named goes on to places that rules name below a place and the schema does not.
func (w *walker) named(v visit) {
	for _, by := range v.binding.Next(w.src, v.path) {
		if by.Kind != syntax.Field || v.src.Node.Property(by.Name) == nil {
			w.child(v, by)
		}
	}
}

// child goes on by one segment, on both sides.
func (w *walker) child(v visit, by syntax.Segment) {
	next := v
	next.direct = false
	next.path = append(slices.Clone(v.path), by)
	next.src = v.src.Step(by)
	if v.dst.Known {
		next.dstPath = append(slices.Clone(v.dstPath), by)
		next.dst = v.dst.Step(by)
	}
	w.place(next)
}

// copied handles a place that no rule names, or that a pair hands on: the two schemas decide.
func (w *walker) copied(v visit) {
	if v.dst.Known && !v.direct {
		if owner := v.binding.Owner(w.dst, v.dstPath); owner != nil {
			v.dst, v.blocked = binding.Place{}, owner
		}
	}
	below := v.src.Known && len(v.binding.Next(w.src, v.path)) > 0 || v.dst.Known && len(v.binding.Next(w.dst, v.dstPath)) > 0
	if v.dst.Known && len(v.path) == 0 && v.binding.Keys[w.dst] != "" {
		below = true // the key of the target cannot be copied to
	}
	below = below || isRoot(v.binding, w.src, v.path, v.src.Node) // metadata is not compared
	switch {
	case !v.dst.Known && below:
		w.emit(v, Presence, outcome{class: Preserved, reason: "if it is empty"})
		w.inside(v)
	case !v.dst.Known:
		w.lost(v)
	case !below && transform.Covers(v.dst.Node, v.src.Node):
		w.all(v, w.handedOn(v))
		w.handed(v, true)
	case v.src.Node.Kind() == crdschema.Map && !v.dst.Others().Known:
		w.misfit(v)
	case v.src.MayBeObject() && v.dst.MayBeObject() && (v.dst.Free() || !v.src.Free()):
		w.handed(v, false)
		w.emit(v, Presence, w.handedOn(v))
		w.inside(v)
	case v.src.Node.Kind() == crdschema.Array && v.dst.MayBeList():
		w.handed(v, false)
		o := w.handedOn(v)
		o.partly = w.picks(v, v.dstPath)
		w.emit(v, Presence, o)
		w.named(v)
		w.elements(v, syntax.Segment{Kind: syntax.Elements})
	default:
		w.misfit(v)
		w.named(v)
	}
}

func (w *walker) placeOf(v visit) place {
	return place{v.binding.Text(w.src, v.path), v.binding.Text(w.dst, v.dstPath)}
}

func (w *walker) handedOn(v visit) outcome {
	there := v.binding.Text(w.dst, v.dstPath)
	parts := v.binding.Next(w.dst, v.dstPath)
	if v.via != nil {
		return outcome{class: Mapped, rule: v.via, to: there, counterpart: there, parts: parts}
	}
	return outcome{class: Copied, counterpart: there, parts: parts}
}

// picks reports whether rules pick elements of a list or of its counterpart.
func (w *walker) picks(v visit, there []syntax.Segment) bool {
	return slices.ContainsFunc(slices.Concat(v.binding.Next(w.src, v.path), v.binding.Next(w.dst, there)), isPick)
}

// inside visits what is in an object, or in a list some of whose elements have rules.
func (w *walker) inside(v visit) {
	root := isRoot(v.binding, w.src, v.path, v.src.Node)
	for _, name := range v.src.Node.Properties() {
		if !root || !skipped(name) {
			w.child(v, syntax.Segment{Kind: syntax.Field, Name: name})
		}
	}
	if root {
		w.metadata(v)
	} else {
		w.named(v)
	}
	switch {
	case v.src.Node.Kind() == crdschema.Map:
		w.elements(v, syntax.Segment{Kind: syntax.Values})
	case v.src.Node.Kind() == crdschema.Array:
		w.elements(v, syntax.Segment{Kind: syntax.Elements})
	case v.src.Node == nil || v.src.Node.PreservesUnknown():
		w.unknown(v)
	}
}

// metadata handles the labels and annotations that rules name.
func (w *walker) metadata(v visit) {
	for _, r := range v.binding.Rules {
		for _, e := range r.Ends[w.src] {
			if e.Segments[0].Kind == syntax.Field && e.Segments[0].Name == "metadata" {
				w.rule(visit{binding: v.binding, path: e.Segments, src: e.Place}, r)
			}
		}
	}
}

// unknown handles fields that the schema does not name.
func (w *walker) unknown(v visit) {
	others := v.dst.Others()
	switch {
	case others.Known && (others.Node == nil || others.Free()):
		w.emit(v, Unknown, w.handedOn(v))
	case w.UnmappedAt(w.src, v.binding.Text(w.src, v.path)) == syntax.Preserve:
		w.emit(v, Unknown, outcome{class: Preserved, reason: "unmapped: Preserve"})
	default:
		w.emit(v, Unknown, outcome{class: Unmapped, counterpart: w.placeOf(v).to})
		w.mismatch[v.binding.Text(w.src, v.path)] = true
		w.say("unknown-fields", "", "%s may have fields that its schema does not name, which %s would prune: %s",
			v.binding.Text(w.src, v.path), w.Names[w.dst], remedies)
	}
}

// elements visits the elements of a list or map that are copied one by one.
func (w *walker) elements(v visit, by syntax.Segment) {
	if v.dst.Known {
		w.bound(implicit(v.binding, w.src, by, v.path, v.dstPath, [2]binding.Place{v.src, v.dst}))
		return
	}
	next := v
	next.path, next.src = append(slices.Clone(v.path), by), v.src.Step(by)
	w.lost(next)
}
