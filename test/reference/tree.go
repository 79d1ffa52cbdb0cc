package reference

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// While rules write an object, a list is a seq of elements, and a member may be an elem: elements
// and entries are known by where they come from.
type seq struct{ elems []*elem }

type elem struct {
	from  string // the concrete place of the source; of others what a rule calls them; no field has one
	value any
}

// put writes a value at a place where there is none yet, makes what is around it, and returns what
// there is then. Elements and keys are those of the place, the outermost first.
func put(old any, p path, elems []string, keys []any, v any) any {
	if len(p) == 0 {
		return merged(old, v)
	}
	s, rest := p[0], p[1:]
	from, key := s.text, s.value
	if s.isEach() {
		from, key, elems, keys = elems[0], keys[0], elems[1:], keys[1:]
	}
	var in *elem
	if s.isField() || s.text == each {
		m, name := members(old), s.name
		if s.text == each {
			name = fmt.Sprint(key)
		}
		var ok bool
		if in, ok = m[name].(*elem); !ok {
			in = &elem{value: get(m, name)}
		}
		if s.text == each {
			in.from = from
		}
		in.value = put(in.value, rest, elems, keys, v)
		m[name] = in
		return m
	}
	l := elements(old)
	if i := slices.IndexFunc(l.elems, func(e *elem) bool { return e.from == from }); i >= 0 {
		in = l.elems[i]
	} else {
		in = &elem{from, absent{}}
		l.elems = append(l.elems, in)
	}
	if s.name != "" && !isAbsent(key) {
		in.value = put(in.value, path{dot(s.name)}, nil, nil, key)
	}
	in.value = put(in.value, rest, elems, keys, v)
	return l
}

func members(v any) map[string]any {
	if m, ok := object(v); ok {
		return m
	}
	return map[string]any{}
}

func elements(v any) *seq {
	if l, ok := v.(*seq); ok {
		return l
	}
	out := &seq{}
	l, _ := list(v)
	for i, e := range l {
		out.elems = append(out.elems, &elem{fmt.Sprint(gone, i), e})
	}
	return out
}

// merged returns a value, or the objects of both.
func merged(old, v any) any {
	m, ok := object(old)
	n, is := object(v)
	switch {
	case ok && is:
		for k, e := range n {
			m[k] = merged(get(m, k), e)
		}
		return m
	case isAbsent(old):
		return v
	}
	if e, ok := old.(*elem); ok {
		if f, is := v.(*elem); is {
			v = f.value
		}
		e.value = merged(e.value, v)
	}
	return old
}

// finish returns what rules have written as JSON has it, and notes where its elements come from.
func (c *run) finish(v any, s *Schema, concrete string) any {
	switch v := v.(type) {
	case *elem:
		if strings.HasPrefix(v.from, "/") {
			c.origins[concrete] = v.from
		} else if v.from != "" {
			c.origins[concrete] = gone
		}
		return c.finish(v.value, s, concrete)
	case map[string]any:
		out := map[string]any{}
		for k, e := range v {
			if m, ok := member(s, k); ok {
				out[k] = c.finish(e, m, concrete+"/"+escape(k))
			}
		}
		return out
	case *seq:
		v.sort()
		out, seen := []any{}, map[string]string{}
		for _, e := range v.elems {
			place := fmt.Sprintf("%s/%d", concrete, len(out))
			made := c.finish(e, element(s), place)
			key, keyed := keyOf(s, made)
			was := ""
			if before := at(c.src, c.origins[place]); !isAbsent(before) {
				was, _ = keyOf(s, before)
			}
			if old, dup := seen[key]; keyed && (key == "" && was != "" || dup && (was == "" || was != old)) {
				maps.DeleteFunc(c.origins, func(at, _ string) bool { return at == place || strings.HasPrefix(at, place+"/") })
				continue // the source has no two elements with the same keys, or none without
			}
			seen[key] = was
			out = append(out, made)
		}
		return out
	}
	return v
}

// keyOf returns the keys of an element as text, and whether they may be there only once.
func keyOf(s *Schema, v any) (string, bool) {
	switch {
	case s == nil || s.XListType == nil || *s.XListType == "atomic":
		return "", false
	case *s.XListType == "set":
		return fmt.Sprintf("%T%v", v, v), true
	}
	return keyText(v, s.XListMapKeys, s), true
}

func keyText(v any, keys []string, s *Schema) string {
	var text []string
	for _, k := range keys {
		e := get(v, k)
		if d, _ := member(element(s), k); isAbsent(e) && d != nil {
			e = d.Default.Object
		}
		if isAbsent(e) || e == nil {
			return ""
		}
		text = append(text, fmt.Sprintf("%v\x00", e))
	}
	return strings.Join(text, "")
}

// sort sorts elements as their lists of the source are.
func (l *seq) sort() {
	group := func(e *elem) (string, int) {
		cut := strings.LastIndexByte(e.from, '/') + 1
		index, err := strconv.Atoi(e.from[cut:])
		if err != nil {
			return e.from, 0
		}
		return e.from[:cut], index
	}
	groups := append(make([]string, 0, len(l.elems)+1), first)
	for _, e := range l.elems {
		name, _ := group(e)
		groups = append(groups, name)
	}
	slices.SortStableFunc(l.elems, func(a, b *elem) int {
		x, i := group(a)
		y, j := group(b)
		return cmp.Or(slices.Index(groups, x)-slices.Index(groups, y), i-j)
	})
}
