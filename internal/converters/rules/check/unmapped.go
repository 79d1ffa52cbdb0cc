package check

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/rules/binding"
	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/converters/rules/transform"
	"github.com/crdconvert/webhookd/internal/document/didyoumean"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

const remedies = "add a rule, `drop: reason`, or `unmapped: Preserve`"

// lost handles a place without a counterpart.
func (w *walker) lost(v visit) {
	if w.UnmappedAt(w.src, v.binding.Text(w.src, v.path)) == syntax.Preserve {
		w.all(v, outcome{class: Preserved, reason: "unmapped: Preserve"})
		return
	}
	w.all(v, outcome{class: Unmapped})
	place, target := v.binding.Text(w.src, v.path), w.Names[w.dst]
	if !w.isNew(place) {
		return
	}
	shown := place
	if n := leaves(v.src.Node); n > 1 {
		shown += fmt.Sprintf(" (%d leaves below)", n)
	}
	keep := fmt.Sprintf("{%s: %s} keeps what is there in annotations", w.src.Key(), syntax.Quoted(place))
	switch last := lastOf(v.path); {
	case last.Kind == syntax.Elements:
		w.say("other-elements", keep, "elements of %s that no rule picks: no place in %s: %s",
			v.binding.Text(w.src, v.path[:len(v.path)-1]), target, remedies)
	case last.Kind == syntax.Values:
		w.say("other-entries", keep, "entries of %s that no rule names: no place in %s: %s",
			v.binding.Text(w.src, v.path[:len(v.path)-1]), target, remedies)
	case v.blocked != nil:
		w.say("place-is-taken", keep, "%s: it is not copied, since %s gives the field of that name in %s another value: add a rule or `drop: reason`",
			shown, v.blocked, target)
	default:
		w.say("unmapped-field", w.suggest(v), "%s: no such field in %s: %s", shown, target, remedies)
		w.about(shown)
	}
}

// isNew reports whether a finding about a place is the first one.
func (d *direction) isNew(place string) bool {
	first := !d.mismatch[place]
	d.mismatch[place] = true
	return first
}

func lastOf(path []syntax.Segment) syntax.Segment {
	if len(path) == 0 {
		return syntax.Segment{}
	}
	return path[len(path)-1]
}

// leaves counts the places below a node that have values.
func leaves(n *crdschema.Node) int {
	if each := cmp.Or(n.Items(), n.Values()); each != nil {
		return leaves(each)
	}
	count := 0
	for _, name := range n.Properties() {
		count += leaves(n.Property(name))
	}
	return max(count, 1)
}

// suggest proposes where a field without a counterpart was moved or renamed to: a field of the same
// kind in the object that would have it, if nothing else is mapped to that field.
func (w *walker) suggest(v visit) string {
	last := lastOf(v.path)
	if last.Kind != syntax.Field {
		return ""
	}
	parent := v.dstPath
	if len(parent) > 0 {
		parent = parent[:len(parent)-1]
	}
	near, ok := didyoumean.Nearest(last.Name, w.free(v, parent)[v.src.Node.Kind()])
	if !ok {
		return ""
	}
	found := v.binding.Text(w.dst, append(slices.Clone(parent), syntax.Segment{Kind: syntax.Field, Name: near}))
	var paths [2]string
	paths[w.src], paths[w.dst] = v.binding.Text(w.src, v.path), found
	return fmt.Sprintf("is it %s in %s? add {spoke: %s, hub: %s}", found, w.Names[w.dst],
		syntax.Quoted(paths[binding.OfSpoke]), syntax.Quoted(paths[binding.OfHub]))
}

// A freeKey is an object of the target, and one of the source.
type freeKey struct {
	binding *binding.Binding
	parent  string
	from    *crdschema.Node
}

// free returns the fields of an object of the target that nothing is mapped to, by their kinds.
func (w *walker) free(v visit, parent []syntax.Segment) map[crdschema.Kind][]string {
	from := v.binding.Base[w.src].Walk(v.path[:len(v.path)-1]).Node
	key := freeKey{v.binding, syntax.Path{Segments: parent}.String(), from}
	if names, known := w.unused[key]; known {
		return names
	}
	at := v.binding.Base[w.dst].Walk(parent)
	names := map[crdschema.Kind][]string{}
	for _, name := range at.Node.Properties() {
		path := append(slices.Clone(parent), syntax.Segment{Kind: syntax.Field, Name: name})
		if v.binding.Owner(w.dst, path) == nil && from.Property(name) == nil {
			kind := at.Node.Property(name).Kind()
			names[kind] = append(names[kind], name)
		}
	}
	w.unused[key] = names
	return names
}

// misfit handles a place whose counterpart does not take all of its values.
func (w *walker) misfit(v visit) {
	problem, hint := w.clash(v)
	if problem == "" {
		w.all(v, w.handedOn(v)) // null at most, which is kept without a rule
		return
	}
	hint = cmp.Or(hint, w.listOfOne(v))
	o := outcome{class: Unmapped, via: v.via, counterpart: v.binding.Text(w.dst, v.dstPath), parts: v.binding.Next(w.dst, v.dstPath)}
	if w.UnmappedAt(w.src, v.binding.Text(w.src, v.path)) == syntax.Preserve {
		o.class, o.reason = Preserved, "unmapped: Preserve"
	}
	w.all(v, o)
	related := transform.Related(v.src.Node, v.dst.Node)
	if o.class == Preserved && !related && v.via == nil && w.src == binding.OfSpoke {
		w.shapes = append(w.shapes, v)
	}
	if o.class == Preserved || !w.isNew(v.binding.Text(w.src, v.path)) || v.via != nil && v.direct && !related {
		return // in the last case, compiling the rule has reported it
	}
	code := "types-differ"
	if related {
		code = "values-do-not-fit"
	}
	if v.via == nil {
		w.say(code, hint, "%s", problem)
	} else {
		w.checker.say(posOf(v.via, w.src), code, hint, "%s: %s", v.via, problem)
	}
	w.about(v.binding.Text(w.src, v.path))
}

// sayShapes warns of fields of one path that are kept, since their types have nothing in common:
// clients of each version see the field without what those of the other one wrote.
func (w *walker) sayShapes() {
	var all []string
	for _, v := range w.shapes {
		all = append(all, v.binding.Text(w.src, v.path))
	}
	slices.Sort(all)
	if all = slices.Compact(all); len(all) == 0 {
		return
	}
	hint := cmp.Or(w.listOfOne(w.shapes[0]), "add a rule with codec, template or toHub/toSpoke")
	w.warn(w.Version.Pos, "two-shapes", hint+"; if the versions mean different things, keep them apart with {spoke: PATH} and {hub: PATH}",
		"%s and %s have other types at one path, so `unmapped: Preserve` keeps and does not convert %s",
		w.Names[w.src], w.Names[w.dst], finding.Few(all, maxMembers))
}

// listOfOne returns the remedy for a list and an object that is as its elements are, or nothing.
func (w *walker) listOfOne(v visit) string {
	var paths [2]string
	paths[w.src], paths[w.dst] = v.binding.Text(w.src, v.path), v.binding.Text(w.dst, v.dstPath)
	switch src, dst := v.src.Node, v.dst.Node; {
	case src.Kind() == crdschema.Array && (src.Items().Agrees(dst) || transform.Related(src.Items(), dst)):
		paths[w.src] += "[0]"
	case dst.Kind() == crdschema.Array && (src.Agrees(dst.Items()) || transform.Related(src, dst.Items())):
		paths[w.dst] += "[0]"
	default:
		return ""
	}
	return fmt.Sprintf("for a list of one, {spoke: %s, hub: %s} converts it", syntax.Quoted(paths[binding.OfSpoke]), syntax.Quoted(paths[binding.OfHub]))
}

// clash says which values of a place its counterpart does not take, or nothing if that is only
// null.
func (w *walker) clash(v visit) (problem, hint string) {
	src, dst := v.src.Node, v.dst.Node
	from, to := v.binding.Text(w.src, v.path), v.binding.Text(w.dst, v.dstPath)
	target := w.Names[w.dst]
	if to != from {
		target += " (" + to + ")"
	}
	if !transform.Related(src, dst) {
		return fmt.Sprintf("%s is %s, but %s in %s: add a rule with codec, template or toHub/toSpoke", from, src.Kind(), dst.Kind(), target), ""
	}
	missing := slices.DeleteFunc(slices.Clone(src.Enum()), func(value string) bool {
		return value == "null" || transform.Admits(dst, []byte(value))
	})
	switch {
	case len(missing) > 0:
		hint = w.entryFor(missing, src, dst)
		return fmt.Sprintf("%s also allows %s, which %s does not: add a rule with values",
			from, finding.Few(unquoted(missing), maxValues), target), hint
	case len(src.Enum()) > 0:
		return "", ""
	case len(dst.Enum()) > 0:
		_, noun, _ := strings.Cut(src.Kind().String(), " ") // without its article
		return fmt.Sprintf("%s is any %s, but one of %s in %s: add a rule with values",
			from, noun, finding.Few(unquoted(dst.Enum()), maxValues), target), ""
	case src.Kind() == crdschema.Map || src.Kind() == crdschema.Object:
		return fmt.Sprintf("%s is %s, but %s in %s: add a rule", from, src.Kind(), dst.Kind(), target), ""
	case src.Kind() != dst.Kind():
		return fmt.Sprintf("%s may be %s, but is %s in %s: add a rule with codec or toHub/toSpoke", from, src.Kind(), dst.Kind(), target), ""
	}
	return "", ""
}

// entryFor proposes an entry of a table for the first of the values that the target does not allow:
// its counterpart may be a value that only the target allows. A single one may have none.
func (w *walker) entryFor(missing []string, src, dst *crdschema.Node) string {
	value := missing[0]
	there := slices.DeleteFunc(slices.Clone(dst.Enum()), func(other string) bool { return other == "null" || transform.Admits(src, []byte(other)) })
	names := unquoted(there)
	if near, ok := didyoumean.Nearest(strings.Trim(value, `"`), names); ok {
		var pair [2]string
		pair[w.src], pair[w.dst] = value, there[slices.Index(names, near)]
		return fmt.Sprintf("values: {%s: %s}", pair[binding.OfSpoke], pair[binding.OfHub])
	}
	if len(missing) > 1 {
		return ""
	}
	return fmt.Sprintf("%s: {%s: null} if it has no counterpart", [...]string{"values", "hubValues"}[w.src], value)
}

// maxValues bounds how many values of an enum a message lists.
const maxValues = 8

// unquoted returns JSON texts, strings without their quotes unless they are empty.
func unquoted(values []string) []string {
	texts := make([]string, 0, len(values))
	for _, value := range values {
		texts = append(texts, cmp.Or(strings.Trim(value, `"`), value))
	}
	return texts
}
