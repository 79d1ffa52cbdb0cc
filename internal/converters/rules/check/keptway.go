package check

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/rules/binding"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
)

// A way is how a rule computes its place of a version. Its parts are by the keys of the rule; of
// two keys for the directions, it is always that for the conversion to the hub.
type way struct {
	rule   *syntax.Rule
	parts  map[string]string
	places string
}

// String writes the way, but not its rule.
func (w way) String() string { return fmt.Sprint(w.places, w.parts) }

func (w way) same(other way) bool {
	return w.places == other.places && maps.Equal(w.parts, other.parts)
}

// ways returns how the conversion to a side computes the place.
func (o *outcome) ways(to binding.Side) []way {
	if o.alone {
		return nil
	}
	var ways []way
	for i, r := range o.rules() {
		if i < len(o.by) {
			ways = append(ways, wayOf(o.in, o.by[i], to))
		} else {
			ways = append(ways, way{r, partsOf(r, to), o.to})
		}
	}
	return ways
}

func wayOf(b *binding.Binding, r *binding.Rule, to binding.Side) way {
	var places strings.Builder
	for _, s := range []binding.Side{to, to.Other()} {
		for _, e := range r.Ends[s] {
			if e.Name != nil && e.Name.Name != "" {
				places.WriteString(e.Name.Name + "=")
			}
			places.WriteString(b.Text(s, e.Segments) + " ")
		}
		places.WriteString("; ")
	}
	return way{r.Syntax, partsOf(r.Syntax, to), places.String()}
}

// partsOf returns the parts of a rule that decide how the conversion to a side computes its place.
func partsOf(r *syntax.Rule, to binding.Side) map[string]string {
	parts := map[string]string{}
	for part, text := range map[string]*syntax.Text{
		"template": r.Template, "absent": r.Absent, "codec": r.Codec, "go": r.Go, guardKey(binding.OfHub): guardOf(r, to),
		computeKey(binding.OfHub): [...]*syntax.Text{r.ToSpoke, r.ToHub}[to],
	} {
		if text != nil {
			parts[part] = strings.Join(strings.Fields(text.Value), " ")
		}
	}
	if d := defaultOf(r, to); d != nil {
		parts[defaultKey(binding.OfHub)] = string(d.JSON)
	}
	mappings := r.Values
	if to == binding.OfSpoke {
		mappings = slices.Clone(r.HubValues)
		for _, m := range r.Values {
			mappings = append(mappings, syntax.Mapping{From: m.To, To: m.From})
		}
	}
	values := map[string]string{}
	for _, m := range slices.Backward(mappings) { // of two entries for a value, the first counts
		values[string(m.From.JSON)] = string(m.To.JSON)
	}
	if len(values) > 0 {
		parts["values"] = fmt.Sprintf("%q", values)
	}
	return parts
}

// partKey returns the key of a rule that has a part of the way to a side.
func partKey(part string, to binding.Side) string {
	for _, key := range []func(binding.Side) string{computeKey, guardKey, defaultKey} {
		if part == key(binding.OfHub) {
			return key(to)
		}
	}
	return part
}

// added returns the first of some ways that is not one of others, or nil.
func added(ways, others []way) *way {
	for i := range ways {
		if !slices.ContainsFunc(others, ways[i].same) {
			return &ways[i]
		}
	}
	return nil
}

// changed says how the way to a place has changed, or nothing.
func changed(p, n *keptPlace, to binding.Side) string {
	switch {
	case len(p.ways) == 0 && len(n.ways) == 0 && p.Class != n.Class:
		return "it is " + string(n.Class) + " now"
	case p.made.partly && !n.made.partly:
		return "its elements are all there now"
	case len(p.ways) == 0 && len(n.ways) > 0:
		return n.Rule + " converts it now"
	case len(p.ways) > 0 && len(n.ways) == 0:
		return "no rule converts it any more"
	case len(p.ways) == 1 && len(n.ways) == 1:
		return changedParts(p.ways[0], n.ways[0], to)
	}
	if w := added(n.ways, p.ways); w != nil {
		return fmt.Sprintf("%s is new or has changed", w.rule)
	}
	if added(p.ways, n.ways) != nil {
		return "one of the rules for it is gone"
	}
	return ""
}

// changedParts says which parts of a rule have changed, or nothing.
func changedParts(was, is way, to binding.Side) string {
	if is.same(was) {
		return ""
	}
	all := maps.Clone(was.parts)
	maps.Copy(all, is.parts)
	var keys []string
	for _, part := range slices.Sorted(maps.Keys(all)) {
		if was.parts[part] != is.parts[part] {
			keys = append(keys, "`"+partKey(part, to)+"`")
		}
	}
	switch len(keys) {
	case 0:
		return fmt.Sprintf("%s has other places", is.rule)
	case 1:
		return fmt.Sprintf("%s of %s has changed", keys[0], is.rule)
	}
	return fmt.Sprintf("%s of %s have changed", strings.Join(keys, ", "), is.rule)
}
