package conversion

import (
	"bytes"
	"cmp"
	"maps"
	"reflect"
	"slices"

	"github.com/crdconvert/webhookd/internal/document/jsondoc"
)

// A rewriter turns the text of a source object into that of its target. For each node of the text
// it gets was and now: the source's and the target's value there, as decoded JSON. A value that is
// the same in both keeps its text.
//
// The text may have more than was: unknown fields, and nulls and zero values that the source's Go
// type drops. These stay if the types of source and target have them alike. The types are nil if
// was has all that the text has.
type rewriter struct {
	source, target *jsonType

	lost *bool // set if text is taken out that was may not encode to; may be nil
}

// loses notes that text is taken out which was may not encode to.
func (r rewriter) loses() {
	if r.lost != nil {
		*r.lost = true
	}
}

// takes notes that the text of n is taken out, which decoded to was.
func (r rewriter) takes(n *jsondoc.Node, was any) {
	if r.lost == nil || *r.lost {
		return
	}
	if value, err := jsondoc.Decode(n.Text(), true); err != nil || !reflect.DeepEqual(value, was) {
		r.loses()
	}
}

// value changes n from was to now.
func (r rewriter) value(n *jsondoc.Node, was, now any) error {
	if _, is := was.(same); is {
		if _, is = now.(same); is {
			return nil
		}
	}
	if r.source == r.target && reflect.DeepEqual(was, now) {
		return nil
	}
	switch now := now.(type) {
	case map[string]any:
		if was, ok := was.(map[string]any); ok && now != nil && n.Kind() == jsondoc.Map {
			return r.members(n, was, now)
		}
	case []any:
		if was, ok := was.([]any); ok && now != nil && n.Kind() == jsondoc.Array {
			return r.elements(n, was, now)
		}
	}
	if more, is := added(was, now); is {
		r.takes(n, was)
		return replace(n, more)
	}
	if r.lost != nil && !reflect.DeepEqual(was, now) {
		r.loses()
	}
	return nil
}

func replace(n *jsondoc.Node, v any) error {
	value, err := render(v, n.Path())
	if err == nil {
		n.Replace(value)
	}
	return err
}

// added returns what now has beyond was, and whether there is any. A Go type encodes the zero value
// of each field without omitempty, even if the object lacks the field; added keeps these out.
func added(was, now any) (more any, is bool) {
	from, _ := was.(map[string]any)
	to, _ := now.(map[string]any)
	if from == nil || to == nil {
		return now, !reflect.DeepEqual(was, now)
	}
	members := make(map[string]any)
	for name, v := range to {
		old, found := from[name]
		if !found {
			members[name] = v
		} else if v, is := added(old, v); is {
			members[name] = v
		}
	}
	return members, len(members) > 0
}

// alike reports whether two values that encode in the same way have the same Go types.
func alike(was, now any) bool {
	if _, is := was.(same); is {
		return was == now
	}
	a, is := was.(map[string]any)
	b, isToo := now.(map[string]any)
	return is && isToo && maps.EqualFunc(a, b, alike)
}

func (r rewriter) members(n *jsondoc.Node, was, now map[string]any) error {
	left, problem := len(was), error(nil)
	err := n.Filter(func(name []byte, m jsondoc.Member) bool {
		if problem != nil {
			return true
		}
		old, had := was[string(name)]
		v, has := now[string(name)]
		if had {
			left--
		}
		var stays bool
		stays, problem = r.member(name, m, values{old, v, had, has})
		return stays
	})
	if err := cmp.Or(problem, err); err != nil {
		return err
	}
	var missing []string
	for name := range now {
		if m, err := n.Member(name); err != nil {
			return err
		} else if m == nil {
			missing = append(missing, name)
			if _, found := was[name]; found {
				left--
			}
		}
	}
	if left > 0 {
		r.loses() // the object lacks a value that its Go type encodes
	}
	slices.Sort(missing)
	for _, name := range missing {
		v := now[name]
		if old, found := was[name]; found {
			if r.lost != nil && !alike(old, v) {
				r.loses()
			}
			if v, found = added(old, v); !found {
				continue
			}
		}
		value, err := render(v, n.Path())
		if err == nil {
			err = n.SetMember(name, value)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// values are those of a member in the source and in the target.
type values struct {
	was, now any
	had, has bool
}

// member rewrites a member of the text, and reports whether it stays.
func (r rewriter) member(name []byte, m jsondoc.Member, v values) (stays bool, err error) {
	if v.had && v.has && v.was == (same{}) && v.now == (same{}) {
		return true, nil
	}
	n := m.Node()
	source, known := r.source.below(name)
	target, knownNow := r.target.below(name)
	at := rewriter{source, target, r.lost}
	switch {
	case v.has && v.had:
		return true, at.value(n, v.was, v.now)
	case v.has:
		r.loses()
		return true, replace(n, v.now)
	case v.had:
		r.takes(n, v.was)
		return false, nil
	case known != knownNow || !source.alike(target) && n.Kind() != jsondoc.Null:
		r.loses()
		return false, nil
	case known && n.Kind() == jsondoc.Map:
		return true, at.members(n, nil, nil)
	}
	return true, nil
}

// elements keeps the text of each element that the list had before, at whatever index, and rewrites
// each other element from the one at its index if that is free.
func (r rewriter) elements(n *jsondoc.Node, was, now []any) error {
	list, err := n.Elements()
	if err != nil {
		return err
	}
	if len(list) != len(was) { // a Go type with its own JSON
		r.loses()
		return replace(n, now)
	}
	r.takes(n, was)
	of := rewriter{r.source.items(), r.target.items(), nil}
	asLong := len(was) == len(now)
	from, used := matchElements(was, now)
	inPlace := asLong
	texts := make([][]byte, len(now))
	for i := range now {
		j := from[i]
		if j < 0 && i < len(was) && !used[i] && (asLong || r.source == nil) {
			j = i
		}
		if j < 0 {
			v, err := render(now[i], n.Path())
			if err != nil {
				return err
			}
			texts[i] = v.Text()
			continue
		}
		if err := of.value(list[j], was[j], now[i]); err != nil {
			return err
		}
		inPlace = inPlace && i == j
		texts[i] = list[j].Text()
	}
	if inPlace {
		return nil
	}
	v, err := jsondoc.RawValue(slices.Concat([]byte{'['}, bytes.Join(texts, []byte{','}), []byte{']'}))
	if err == nil {
		n.Replace(v)
	}
	return err
}

// matchElements returns, for each element of now, the index of an equal element of old, or -1. Each
// element is matched once, preferably with the one at its own index.
func matchElements(old, now []any) (from []int, used []bool) {
	from, used = make([]int, len(now)), make([]bool, len(old))
	left := 0
	for i := range now {
		if from[i] = -1; i < len(old) && reflect.DeepEqual(old[i], now[i]) {
			from[i], used[i] = i, true
		} else {
			left++
		}
	}
	if left == 0 {
		return from, used
	}
	free := make(map[string][]int)
	for j := range old {
		if text, err := jsondoc.Encode(old[j]); err == nil && !used[j] {
			free[string(text)] = append(free[string(text)], j)
		}
	}
	for i := range now {
		if from[i] >= 0 {
			continue
		}
		text, err := jsondoc.Encode(now[i])
		if js := free[string(text)]; err == nil && len(js) > 0 {
			from[i], free[string(text)] = js[0], js[1:]
			used[js[0]] = true
		}
	}
	return from, used
}
