package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/rules/binding"
	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/converters/rules/transform"
	"github.com/crdconvert/webhookd/internal/crdschema"
	"github.com/crdconvert/webhookd/internal/didyoumean"
)

// lost tells of a place that has no counterpart.
func (w *walker) lost(v visit) {
	if w.Version.Unmapped == syntax.Preserve {
		w.all(v, outcome{class: Preserved, reason: "unmapped: Preserve", alone: true})
		return
	}
	w.all(v, outcome{class: Unmapped, alone: true})
	place, target := v.binding.Text(w.src, v.path), w.Names[w.dst]
	if w.mismatch[place] {
		return
	}
	w.mismatch[place] = true
	size := ""
	if n := leaves(v.src.Node); n > 1 {
		size = fmt.Sprintf(" (%d leaves below)", n)
	}
	switch last := lastOf(v.path); {
	case last.Kind == syntax.Elements:
		w.say("other-elements", w.keepHint(place), "elements of %s that no rule picks: no place in %s%s: %s",
			v.binding.Text(w.src, v.path[:len(v.path)-1]), target, size, remedies)
	case last.Kind == syntax.Values:
		w.say("other-entries", w.keepHint(place), "entries of %s that no rule names: no place in %s%s: %s",
			v.binding.Text(w.src, v.path[:len(v.path)-1]), target, size, remedies)
	case v.blocked != nil:
		w.say("place-is-taken", "", "%s: %s has something else for the field of that name in %s%s: %s",
			place, v.blocked, target, size, remedies)
	default:
		w.say("unmapped-field", w.suggest(v), "%s: no such field in %s%s: %s", place, target, size, remedies)
	}
}

// keepHint tells how to keep what the rules of a list or map leave over.
func (w *walker) keepHint(place string) string {
	return fmt.Sprintf("{%s: %s} keeps them in annotations", w.src.Key(), quoted(place))
}

func lastOf(path []syntax.Segment) syntax.Segment {
	if len(path) == 0 {
		return syntax.Segment{}
	}
	return path[len(path)-1]
}

// leaves counts the places below a node that have values.
func leaves(n *crdschema.Node) int {
	switch n.Kind() {
	case crdschema.Array:
		return leaves(n.Items())
	case crdschema.Map:
		return leaves(n.Values())
	case crdschema.Object, crdschema.Any:
		count := 0
		for _, name := range n.Properties() {
			count += leaves(n.Property(name))
		}
		return max(count, 1)
	case crdschema.None, crdschema.String, crdschema.Integer, crdschema.Number, crdschema.Boolean, crdschema.IntOrString:
	}
	return 1
}

// suggest looks for the place that a field without a counterpart was moved or renamed to: in the object that would have it,
// a field of the same kind that nothing else is for.
func (w *walker) suggest(v visit) string {
	last := lastOf(v.path)
	if last.Kind != syntax.Field {
		return ""
	}
	parent := v.dstPath
	if len(parent) > 0 {
		parent = parent[:len(parent)-1]
	}
	names := w.free(v, parent)[v.src.Node.Kind()]
	near, ok := didyoumean.Nearest(last.Name, names)
	if !ok {
		return ""
	}
	found := v.binding.Text(w.dst, append(slices.Clone(parent), syntax.Segment{Kind: syntax.Field, Name: near}))
	paths := [2]string{v.binding.Text(w.src, v.path), found}
	return fmt.Sprintf("is it %s in %s? add {field: %s, hub: %s}", found, w.Names[w.dst], quoted(paths[w.src]), quoted(paths[w.dst]))
}

// A freeKey is an object of the target, and one of the source.
type freeKey struct {
	binding *binding.Binding
	parent  string
	from    *crdschema.Node
}

// free returns the fields of an object of the target that nothing is for, by their kinds.
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

// misfit tells of a place whose counterpart does not take all of its values.
func (w *walker) misfit(v visit) {
	problem, hint := w.clash(v)
	switch {
	case problem == "":
		w.all(v, w.handedOn(v)) // null, at most, which is kept without a rule
	case w.Version.Unmapped == syntax.Preserve:
		w.all(v, outcome{
			class: Preserved, reason: "unmapped: Preserve", via: v.via, in: v.binding, there: v.dstPath, at: v.binding.Text(w.dst, v.dstPath),
		})
	default:
		w.all(v, outcome{class: Unmapped, via: v.via, in: v.binding, there: v.dstPath, at: v.binding.Text(w.dst, v.dstPath)})
		place := v.binding.Text(w.src, v.path)
		if w.mismatch[place] {
			return
		}
		w.mismatch[place] = true
		if v.via != nil && v.direct && !transform.Related(v.src.Node, v.dst.Node) {
			return // compiling the rule has said so
		}
		if v.via == nil {
			w.say(codeOf(v), hint, "%s, or `unmapped: Preserve`", problem)
			return
		}
		pos := v.via.Pos
		if named := w.src.In(v.via); named != nil {
			pos = named.Pos
		}
		w.report(finding.Finding{
			Pos: pos, Code: codeOf(v), Hint: hint, Message: fmt.Sprintf("%s: %s, or `unmapped: Preserve`", v.via, problem),
		})
	}
}

// quoted puts a path into quotes where a flow mapping of YAML needs that.
func quoted(path string) string {
	if strings.ContainsAny(path, `[]{}"`) {
		return "'" + strings.ReplaceAll(path, "'", "''") + "'"
	}
	return path
}

func codeOf(v visit) string {
	if transform.Related(v.src.Node, v.dst.Node) {
		return "values-do-not-fit"
	}
	return "types-differ"
}

// clash says which values of a place its counterpart does not take; nothing where that is null alone.
func (w *walker) clash(v visit) (problem, hint string) {
	src, dst := v.src.Node, v.dst.Node
	from, to := v.binding.Text(w.src, v.path), v.binding.Text(w.dst, v.dstPath)
	target := w.Names[w.dst]
	if to != from {
		target += " (" + to + ")"
	}
	if !transform.Related(src, dst) {
		return fmt.Sprintf("%s is %s, and %s in %s: add a rule with codec, template or toHub/fromHub", from, src.Kind(), dst.Kind(), target), ""
	}
	var missing []string
	for _, value := range src.Enum() {
		if value != "null" && !transform.Admits(dst, []byte(value)) {
			missing = append(missing, value)
		}
	}
	switch {
	case len(missing) > 0:
		if near, ok := didyoumean.Nearest(strings.Trim(missing[0], `"`), dst.Enum()); ok {
			hint = fmt.Sprintf("values: {%s: %s}", missing[0], near)
		}
		return fmt.Sprintf("%s also allows %s, which %s does not: add a rule with values", from, list(missing), target), hint
	case len(src.Enum()) > 0:
		return "", ""
	case len(dst.Enum()) > 0:
		return fmt.Sprintf("%s is any %s, and one of %s in %s: add a rule with values", from, noun(src), list(dst.Enum()), target), ""
	case src.Kind() == crdschema.Map || src.Kind() == crdschema.Object:
		return fmt.Sprintf("%s is %s, and %s in %s: add a rule", from, src.Kind(), dst.Kind(), target), ""
	case src.Kind() != dst.Kind():
		return fmt.Sprintf("%s may be %s, and is %s in %s: add a rule with codec or toHub/fromHub", from, src.Kind(), dst.Kind(), target), ""
	}
	return "", ""
}

func noun(n *crdschema.Node) string {
	return strings.TrimPrefix(strings.TrimPrefix(n.Kind().String(), "an "), "a ")
}

// list writes JSON texts for a message: strings without their quotes.
func list(values []string) string {
	const most = 8
	shown := make([]string, 0, most)
	for i, value := range values {
		if i == most {
			shown = append(shown, fmt.Sprintf("and %d more", len(values)-most))
			break
		}
		shown = append(shown, strings.Trim(value, `"`))
	}
	return strings.Join(shown, ", ")
}
