package roundtrip

import (
	"maps"
	"math"
	"slices"

	"github.com/crdconvert/webhookd/internal/crdschema"
)

const (
	// maxParts is the number of annotations above which those of some leaves are one.
	maxParts = 200
	// maxHiddenEdits bounds the edits of an object that L15 looks at.
	maxHiddenEdits = 4
)

// parts is L15: an edit of a leaf that the other version does not show changes one annotation, which no edit of another leaf
// changes. Between two versions that are not the hub, the hub may show it. Leaves are those of server-side apply, except that a
// whole list may be one, because its keys at the other version count as well, and so may a whole value without a schema.
func (t *subject) parts(to string) *ViolationError {
	if !t.Parts || t.class != whole || t.keeps || t.version != t.Kind.Hub && to != t.Kind.Hub {
		return nil
	}
	there, err := t.convert(t.ctx, encode(t.state), t.version, to)
	if err != nil {
		return nil //nolint:nilerr // L7
	}
	seen := t.read(there)
	kept := keptIn(seen, t.version)
	if len(kept) == 0 || len(kept) > maxParts {
		return nil
	}
	visible(seen)
	of, edits := map[string]string{}, 0
	for _, l := range leavesOf(t.schema(t.version).Root, t.state) {
		change, ok := l.change()
		edited := copied(t.state)
		change.apply(edited)
		if !ok || edits == maxHiddenEdits || len(t.schema(t.version).Validate(edited)) > 0 {
			continue
		}
		text, err := t.convert(t.ctx, encode(edited), t.version, to)
		if err != nil {
			return t.fails(to, err, "with %s: %v", change, err)
		}
		result := t.read(text)
		names := changed(kept, keptIn(result, t.version))
		if !equal(visible(result), seen) {
			continue // it shows
		}
		edits++
		for _, name := range names {
			if other, found := of[name]; len(names) > 1 || found && other != l.within {
				return t.violation(lawParts, to, "%s changes %q, which belong to more: %s and %s", change, names, there, text)
			}
			of[name] = l.within
		}
	}
	return nil
}

// changed returns the names of the annotations that are not the same in both.
func changed(was, is map[string]string) []string {
	all := maps.Clone(was)
	maps.Copy(all, is)
	maps.DeleteFunc(all, func(name, _ string) bool { return was[name] == is[name] })
	return slices.Sorted(maps.Keys(all))
}

// A leaf is what one manager of server-side apply owns.
type leaf struct {
	path   []any
	within string // the path of the list or of the value without a schema that it is in, or its own
	value  any
	node   *crdschema.Node
}

// leavesOf returns the leaves of an object below its metadata.
func leavesOf(n *crdschema.Node, object map[string]any) []leaf {
	var all []leaf
	for _, name := range names(withoutIdentity(object)) {
		all = below(all, leaf{path: []any{name}, value: object[name], node: n.Property(name)}, false)
	}
	return all
}

func below(all []leaf, l leaf, inOne bool) []leaf {
	if !inOne {
		l.within = formatPath(l.path)
	}
	inOne = inOne || l.node.Kind() == crdschema.Any || l.node.Kind() == crdschema.None
	switch v := l.value.(type) {
	case map[string]any:
		if atomic := l.node.Structural(); atomic == nil || atomic.XMapType == nil || *atomic.XMapType != "atomic" {
			for _, name := range names(v) {
				all = below(all, leaf{append(slices.Clip(l.path), name), l.within, v[name], memberOf(l.node, name)}, inOne)
			}
			return all
		}
	case []any:
		if l.node.ListType() == "map" {
			for i := range v {
				e, _ := v[i].(map[string]any)
				for _, name := range names(e) {
					if !slices.Contains(l.node.ListMapKeys(), name) {
						all = below(all, leaf{append(slices.Clip(l.path), i, name), l.within, e[name], l.node.Items().Property(name)}, true)
					}
				}
			}
			return all
		}
	}
	return append(all, l)
}

// change returns another value of the leaf, if there is a simple one.
func (l leaf) change() (Change, bool) {
	value := l.value
	if values := l.node.Enum(); len(values) > 0 {
		i := slices.Index(values, string(encode(value)))
		value, _ = decode([]byte(values[(i+1)%len(values)]), false)
		return Change{Path: l.path, Value: value}, len(values) > 1
	}
	ok := true
	switch v := value.(type) {
	case string:
		value = v + "x"
	case bool:
		value = !v
	case int64:
		value, ok = v+1, v < math.MaxInt64
	case []any:
		if ok = len(v) > 0; ok {
			value = append(slices.Clone(v), copied(v[len(v)-1]))
		}
	default:
		ok = false
	}
	return Change{Path: l.path, Value: value}, ok
}
