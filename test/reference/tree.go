package reference

import (
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// A node is a value that rules write.
type node struct {
	set    bool
	value  any
	fields map[string]*node
	elems  []*elem
	isList bool
	origin string // of an element or an entry: the source's element
}

type elem struct {
	id string
	*node
}

func (n *node) object() {
	if n.fields == nil {
		n.set, n.isList, n.fields, n.elems = true, false, map[string]*node{}, nil
		if m, ok := object(n.value); ok {
			for k, v := range m {
				n.fields[k] = &node{set: true, value: v}
			}
		}
		n.value = nil
	}
}

func (n *node) field(name string) *node {
	n.object()
	if n.fields[name] == nil {
		n.fields[name] = &node{}
	}
	return n.fields[name]
}

func (n *node) list() {
	if !n.isList {
		n.set, n.isList, n.fields = true, true, nil
		if l, ok := list(n.value); ok {
			for i, v := range l {
				n.elems = append(n.elems, &elem{"value" + strconv.Itoa(i), &node{set: true, value: v, origin: gone}})
			}
		}
		n.value = nil
	}
}

func (n *node) elem(id string) *node {
	n.list()
	for _, e := range n.elems {
		if e.id == id {
			return e.node
		}
	}
	e := &elem{id, &node{origin: id}}
	n.elems = append(n.elems, e)
	return e.node
}

// locate returns the node of a place, and makes it and what is around it, or returns nil.
func (c *run) locate(p path, in instance, makes bool) *node {
	n, scope := c.root, 0
	for _, s := range p {
		id, name, key := s.String(), s.name, s.value
		if s.kind == items || s.kind == each {
			if scope == len(in.elems) {
				return nil
			}
			id, key = in.elems[scope], in.keys[scope]
			scope++
		}
		if s.kind == each {
			var ok bool
			if name, ok = key.(string); !ok {
				return nil
			}
		}
		isMember := s.kind == field || s.kind == each
		is := func(e *elem) bool { return e.id == id }
		switch {
		case !makes && (isMember && n.fields[name] == nil || !isMember && !slices.ContainsFunc(n.elems, is)):
			return nil
		case isMember:
			n = n.field(name)
		default:
			n = n.elem(id)
		}
		switch {
		case !makes:
		case s.kind == each:
			n.origin = id
		case s.kind == pick || s.kind == first:
			n.origin = gone
		}
		if makes && !isMember && s.name != "" && key != nil {
			if k := n.field(s.name); !k.set {
				k.set, k.value = true, key
			}
		}
	}
	return n
}

// finish returns the value of a node, and notes where its elements come from.
func (c *run) finish(n *node, s *Schema, concrete string) any {
	if n.origin != "" {
		c.origins[concrete] = n.origin
	}
	switch {
	case n.fields != nil:
		out := map[string]any{}
		for k, f := range n.fields {
			m, ok := member(s, k)
			if concrete == "" && (k == "metadata" || k == "apiVersion" || k == "kind") {
				m, ok = nil, true
			}
			if ok && f.set {
				out[k] = c.finish(f, m, concrete+"/"+escape(k))
			}
		}
		return out
	case n.isList:
		c.order(n)
		out := []any{}
		seen := map[string]*elem{}
		for _, e := range n.elems {
			if !e.set {
				continue
			}
			v := c.finish(e.node, element(s), fmt.Sprintf("%s/%d", concrete, len(out)))
			if key, unique := keyOf(s, v); unique {
				if old := seen[key]; key == "" && e.origin != gone && !c.lacksKey(s, e) || old != nil && !c.sameInSource(s, old, e) {
					for at := range c.origins {
						if place := fmt.Sprintf("%s/%d", concrete, len(out)); at == place || strings.HasPrefix(at, place+"/") {
							delete(c.origins, at)
						}
					}
					continue
				}
				seen[key] = e
			}
			out = append(out, v)
		}
		return out
	}
	return n.value
}

// keyOf returns the keys of an element as text, and whether they may be there only once.
func keyOf(s *Schema, v any) (string, bool) {
	if s == nil || s.XListType == nil {
		return "", false
	}
	if *s.XListType == "set" {
		return fmt.Sprintf("%T%v", v, v), true
	}
	if *s.XListType != "map" {
		return "", false
	}
	m, _ := object(v)
	return keyText(m, s.XListMapKeys, s), true
}

func keyText(m map[string]any, keys []string, s *Schema) string {
	var text strings.Builder
	for _, k := range keys {
		v := get(m, k)
		if isAbsent(v) {
			d, _ := member(element(s), k)
			if d == nil || d.Default.Object == nil {
				return ""
			}
			v = d.Default.Object
		}
		fmt.Fprintf(&text, "%v\x00", v)
	}
	return text.String()
}

// lacksKey reports whether the source's element lacks its key, too.
func (c *run) lacksKey(s *Schema, e *elem) bool {
	m, _ := object(at(c.src, e.origin))
	return keyText(m, s.XListMapKeys, s) == ""
}

// sameInSource reports whether two elements have the same keys in the source, too.
func (c *run) sameInSource(s *Schema, a, b *elem) bool {
	if a.origin == gone || b.origin == gone {
		return false
	}
	x, _ := keyOf(s, at(c.src, a.origin))
	y, _ := keyOf(s, at(c.src, b.origin))
	return x == y && x != ""
}

// order sorts elements as their lists of the source are.
func (c *run) order(n *node) {
	groups := map[string]int{"[0]": -1}
	split := func(id string) (string, int) {
		i := strings.LastIndexByte(id, '/')
		if i < 0 {
			return id, 0
		}
		index, err := strconv.Atoi(id[i+1:])
		if err != nil {
			return id, 0
		}
		return id[:i], index
	}
	for _, e := range n.elems {
		if g, _ := split(e.id); groups[g] == 0 {
			groups[g] = len(groups)
		}
	}
	sort.SliceStable(n.elems, func(i, j int) bool {
		a, x := split(n.elems[i].id)
		b, y := split(n.elems[j].id)
		if groups[a] != groups[b] {
			return groups[a] < groups[b]
		}
		return x < y
	})
}
