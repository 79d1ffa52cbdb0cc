package reference

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// gone is the origin of an element that has none.
const gone = "!"

// A run converts an object to a side.
type run struct {
	*pair
	target      int
	src, filled any
	root        *node
	origins     map[string]string
}

// An instance is a scope of a rule in the source: its elements, outermost first.
type instance struct {
	elems []string
	keys  []any
	value any
}

func (i instance) around() string {
	if len(i.elems) == 0 {
		return ""
	}
	return i.elems[len(i.elems)-1]
}

// convert returns an object at the other side, and where its elements come from.
func (p *pair) convert(target int, src map[string]any) (map[string]any, map[string]string) {
	filled := typed(fill(clone(src), p.schemas[1-target]), p.schemas[1-target])
	c := &run{pair: p, target: target, src: src, filled: filled, root: &node{}, origins: map[string]string{}}
	c.root.object()
	c.move(p.copied, src, nil, nil, "", c.root, p.schemas[1-target], p.schemas[target])
	var computed []*rule
	for _, r := range p.ordered {
		if len(r.at[1-target]) == 0 {
			if r.expr[target] != nil {
				computed = append(computed, r)
			}
			continue
		}
		if len(r.at[target]) > 0 && r.text.Drop == "" {
			c.apply(r)
		}
	}
	for _, r := range computed {
		c.compute(r)
	}
	out, _ := c.finish(c.root, p.schemas[target], "").(map[string]any)
	for _, r := range p.rules {
		if d := r.defaults[target]; d != nil {
			c.defaults(r, d, out)
		}
	}
	return out, c.origins
}

// move copies what rules do not name of a value.
func (c *run) move(r *rule, v any, from, to path, concrete string, n *node, ss, ds *Schema) {
	if len(from) == 1 && from[0].name == "metadata" {
		ss, ds = nil, nil
	}
	switch v := v.(type) {
	case map[string]any:
		if ds != nil && ds.Type != "object" && !ds.XPreserveUnknownFields {
			return
		}
		n.object()
		for _, k := range sortedKeys(v) {
			s := c.child(1-c.target, from, ss, k)
			if s.kind == field {
				s = c.child(c.target, to, ds, k)
			}
			f, t := from.with(s), to.with(s)
			if c.claimed(1-c.target, f.String(), r) || c.claimed(c.target, t.String(), r) {
				continue
			}
			ms, _ := member(ss, k)
			md, ok := member(ds, k)
			if !ok {
				continue
			}
			child := &node{}
			if isMap(ds, k) {
				child.origin = concrete + "/" + escape(k)
			}
			if old := n.fields[k]; old != nil {
				child = old
			}
			c.move(r, v[k], f, t, concrete+"/"+escape(k), child, ms, md)
			if child.set && (len(t) != 2 || t[0].name != "metadata" || child.fields == nil || len(child.fields) > 0) {
				n.fields[k] = child
			}
		}
	case []any:
		if ds != nil && ds.Type != "array" && !ds.XPreserveUnknownFields {
			return
		}
		n.list()
		for i, e := range v {
			f, t := c.picked(1-c.target, from, e, i), c.picked(c.target, to, e, i)
			if f != t || f.kind == first {
				continue
			}
			if c.claimed(1-c.target, from.with(f).String(), r) || c.claimed(c.target, to.with(t).String(), r) {
				continue
			}
			id := fmt.Sprintf("%s/%d", concrete, i)
			child := &node{origin: id}
			c.move(r, e, from.with(f), to.with(t), id, child, element(ss), element(ds))
			if child.set {
				*n.elem(id) = *child
			}
		}
	default:
		if fits(v, ds) && validMetadata(to, v) {
			n.set, n.value = true, v
		}
	}
}

// instances returns the scopes of a place in the source.
func (c *run) instances(side int, p path, v any) []instance {
	all := []instance{{value: v}}
	concrete := []string{""}
	for i, s := range p[:p.scope()] {
		var next []instance
		var paths []string
		push := func(in instance, v any, at string, key any, scope bool) {
			in.value = v
			if scope {
				in.elems = append(slices.Clip(in.elems), at)
				in.keys = append(slices.Clip(in.keys), key)
			}
			next, paths = append(next, in), append(paths, at)
		}
		for j, in := range all {
			switch s.kind {
			case field:
				if m, ok := object(in.value); ok && !isAbsent(get(m, s.name)) {
					push(in, m[s.name], concrete[j]+"/"+escape(s.name), nil, false)
				}
			case each:
				m, _ := object(in.value)
				for _, k := range sortedKeys(m) {
					if st := c.child(side, p[:i], schemaAt(c.schemas[side], p[:i]), k); st.kind == each {
						push(in, m[k], concrete[j]+"/"+escape(k), k, true)
					}
				}
			default:
				l, _ := list(in.value)
				for k, e := range l {
					if c.picked(side, p[:i], e, k) != (step{kind: items}) && s.kind == items ||
						s.kind != items && c.picked(side, p[:i], e, k) != s {
						continue
					}
					var key any
					if m, ok := object(e); ok && s.name != "" {
						key = m[s.name]
					}
					push(in, e, fmt.Sprintf("%s/%d", concrete[j], k), key, s.kind == items)
				}
			}
		}
		all, concrete = next, paths
	}
	return all
}

// below returns the value at a path without elements.
func belowValue(v any, p path) (any, string) {
	var concrete strings.Builder
	for _, s := range p {
		switch s.kind {
		case field:
			m, ok := object(v)
			if !ok {
				return absent{}, ""
			}
			v = get(m, s.name)
			concrete.WriteString("/" + escape(s.name))
		default:
			l, _ := list(v)
			found := false
			for i, e := range l {
				if m, ok := object(e); s.kind == first && i == 0 || s.kind == pick && ok && equal(get(m, s.name), s.value) {
					v, found = e, true
					concrete.WriteString("/" + strconv.Itoa(i))
					break
				}
			}
			if !found {
				return absent{}, ""
			}
		}
	}
	return v, concrete.String()
}

func anyPath(m map[string]path) path {
	var best path
	for _, k := range sortedKeys(m) {
		if p := m[k]; best == nil || p.scopes() > best.scopes() {
			best = p
		}
	}
	return best
}

// containers makes the lists and maps whose elements a rule pairs, also for no elements.
func (c *run) containers(r *rule, from, to path) {
	for n := 1; n <= min(from.scopes(), to.scopes()); n++ {
		f, t := from[:from.scopeOf(n)-1], to[:to.scopeOf(n)-1]
		for _, in := range c.instances(1-c.target, f, c.src) {
			v, _ := belowValue(in.value, f[f.scope():])
			_, isList := list(v)
			_, isMap := object(v)
			if ((from[len(f)].kind != items || !isList) && (from[len(f)].kind != each || !isMap)) || !c.applies(r, in) {
				continue
			}
			if n := c.locate(t, in, true); n != nil && to[len(t)].kind == items {
				n.list()
			} else if n != nil {
				n.object()
			}
		}
	}
}

// resolve returns where an element comes from; "" is nowhere.
func resolve(origins map[string]string, at string) string {
	for end := len(at); end > 0; end = strings.LastIndexByte(at[:end], '/') {
		if o, ok := origins[at[:end]]; ok {
			if o == gone || o == "" {
				return ""
			}
			return o + at[end:]
		}
	}
	return at
}
