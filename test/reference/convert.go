package reference

import (
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
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

func (c *run) vars(r *rule, in instance, self any) variables {
	obj, _ := object(c.filled)
	vars := variables{"object": c.filled, "metadata": get(obj, "metadata")}
	if isAbsent(vars["metadata"]) {
		vars["metadata"] = map[string]any{}
	}
	if !isAbsent(self) {
		vars["self"] = self
	}
	source := 1 - c.target
	if root := r.root[source]; len(root) > 0 {
		v := at(c.filled, in.around())
		if root.scopes() < len(in.elems) {
			v = c.filled
			if root.scopes() > 0 {
				v = at(c.filled, in.elems[root.scopes()-1])
			}
		}
		if e, _ := belowValue(v, root[root.scope():]); !isAbsent(e) {
			vars["element"] = e
		}
	} else if len(in.elems) > 0 {
		vars["element"] = at(c.filled, in.around())
	}
	return vars
}

// applies reports whether the conditions of the pairs that use a rule's set hold.
func (c *run) applies(r *rule, in instance) bool {
	for _, g := range r.guards {
		if g.when[c.target] == nil {
			continue
		}
		p := g.at[1-c.target]
		v := c.filled
		if n := p.scopes(); n > 0 && n <= len(in.elems) {
			v = at(c.filled, in.elems[n-1])
		}
		self, _ := belowValue(v, p[p.scope():])
		outer := instance{elems: in.elems[:min(p.scopes(), len(in.elems))]}
		if isAbsent(self) || !g.when[c.target].holds(c.vars(&rule{}, outer, self)) {
			return false
		}
	}
	return true
}

func (c *run) apply(r *rule) {
	source := 1 - c.target
	chainPath := anyPath(r.at[source])
	c.containers(r, chainPath, anyPath(r.at[c.target]))
	for _, in := range c.instances(source, chainPath, c.src) {
		if !c.applies(r, in) {
			continue
		}
		values, raw := map[string]any{}, map[string]any{}
		var single any = absent{}
		concrete := ""
		for name, p := range r.at[source] {
			root := c.src
			rest := p
			base := ""
			if p.scope() > 0 {
				base, rest = in.around(), p[p.scope():]
				root = in.value
			}
			v, where := belowValue(root, rest)
			if isAbsent(v) {
				continue
			}
			single, concrete = v, base+where
			raw[name] = v
			values[name] = at(c.filled, concrete)
		}
		if c.usesFilled(r) {
			c.addFilled(r, in, values)
		}
		var self any = values
		if one, ok := r.at[source][""]; ok && len(r.at[source]) == 1 {
			_ = one
			self = absent{}
			if v, ok := values[""]; ok {
				self = v
			}
		}
		if len(values) == 0 {
			continue
		}
		if r.when[c.target] != nil && !r.when[c.target].holds(c.vars(r, in, self)) {
			continue
		}
		if r.moves() {
			c.writeMove(r, in, single, concrete)
			continue
		}
		c.writeAll(r, c.result(r, in, self, raw), in)
	}
}

// writeAll writes the results of a rule, if all of them fit.
func (c *run) writeAll(r *rule, results map[string]any, in instance) {
	for name, v := range results {
		p, ok := r.at[c.target][name]
		if !ok {
			continue
		}
		s := c.placeSchema(c.target, p)
		if !fits(v, s) || r.text.Codec != "" && !complete(v, s) {
			return
		}
	}
	for name, v := range results {
		c.write(r, name, v, in)
	}
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
			if n := c.locate(t, in); n != nil && to[len(t)].kind == items {
				n.list()
			} else if n != nil {
				n.object()
			}
		}
	}
}

// usesFilled reports whether a rule's converter reads the defaults of absent fields.
func (c *run) usesFilled(r *rule) bool { return r.expr[c.target] != nil }

func (c *run) addFilled(r *rule, in instance, values map[string]any) {
	for name, p := range r.at[1-c.target] {
		if _, ok := values[name]; ok {
			continue
		}
		root, rest := c.filled, p
		if p.scope() > 0 {
			root, rest = at(c.filled, in.around()), p[p.scope():]
		}
		if v, _ := belowValue(root, rest); !isAbsent(v) {
			values[name] = v
		}
	}
}

func (c *run) schema(side int, r *rule, name string) *Schema {
	return c.placeSchema(side, r.at[side][name])
}

func textSchema() *Schema { return &Schema{Generic: structuralschema.Generic{Type: "string"}} }

func (c *run) placeSchema(side int, p path) *Schema {
	if len(p) > 0 && p[0].name == "metadata" {
		return textSchema()
	}
	return schemaAt(c.schemas[side], p)
}

// result returns the values of the target's places by name.
func (c *run) result(r *rule, in instance, self any, raw map[string]any) map[string]any {
	source := 1 - c.target
	one := func(v any) map[string]any {
		if isAbsent(v) {
			return nil
		}
		if len(r.at[c.target]) == 1 {
			if _, ok := r.at[c.target][""]; ok {
				return map[string]any{"": v}
			}
		}
		m, _ := object(v)
		return m
	}
	switch {
	case r.expr[c.target] != nil:
		return one(r.expr[c.target].eval(c.vars(r, in, self)))
	case r.function != nil:
		return c.call(r, raw)
	case r.text.Template != "":
		if _, ok := r.at[source][""]; !ok {
			return one(r.join(raw))
		}
		text, ok := raw[""].(string)
		if !ok {
			return nil
		}
		return one(r.split(text, func(name string) *Schema { return c.schema(c.target, r, name) }))
	}
	out := map[string]any{}
	for name, v := range raw {
		w := v
		switch {
		case r.text.Codec != "":
			schemas := [2]*Schema{c.schema(spoke, r, name), c.schema(hub, r, name)}
			if plainSide(r.text.Codec, schemas) == source {
				w = encode(r.text.Codec, v)
			} else {
				w = decode(r.text.Codec, v, schemas[c.target])
			}
		case len(r.values.from) > 0 || len(r.hubValues.from) > 0:
			w = r.convertValues(c.target, v, c.schema(source, r, name), c.schema(c.target, r, name))
		}
		if !isAbsent(w) {
			out[name] = w
		}
	}
	return out
}

func (c *run) call(r *rule, raw map[string]any) map[string]any {
	in := make([]json.RawMessage, 0, len(r.names[1-c.target]))
	for _, name := range r.names[1-c.target] {
		var text json.RawMessage
		if v, ok := raw[name]; ok {
			text, _ = json.Marshal(v) //nolint:errchkjson // it was JSON
		}
		in = append(in, text)
	}
	f := r.function.ToHub
	if c.target == spoke {
		f = r.function.ToSpoke
	}
	res, err := f(in)
	if err != nil {
		return nil
	}
	out := map[string]any{}
	for i, name := range r.names[c.target] {
		if res[i] != nil {
			out[name] = parseJSON(res[i])
		}
	}
	return out
}

func empty(v any) bool {
	switch v := v.(type) {
	case string:
		return v == ""
	case bool:
		return !v
	case int64:
		return v == 0
	case float64:
		return v == 0
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	}
	return false
}

// write writes a value of a rule.
func (c *run) write(r *rule, name string, v any, in instance) {
	p, ok := r.at[c.target][name]
	if !ok || isAbsent(v) || !fits(v, c.placeSchema(c.target, p)) || !validMetadata(p, v) {
		return
	}
	if r.omit[c.target] && empty(v) {
		return
	}
	if n := c.locate(p, in); n != nil && !n.set {
		n.set, n.value = true, pruned(v, c.placeSchema(c.target, p))
	}
}

func (c *run) writeMove(r *rule, in instance, v any, concrete string) {
	if isAbsent(v) || r.omit[c.target] && empty(v) {
		return
	}
	from, to := r.at[1-c.target][""], r.at[c.target][""]
	moved := &node{}
	ds := c.placeSchema(c.target, to)
	if len(to) == 3 && to[0].name == "metadata" && !validMetadata(to, v) {
		return
	}
	c.move(r, v, from, to, concrete, moved, c.placeSchema(1-c.target, from), ds)
	if !moved.set {
		return
	}
	n := c.locate(to, in)
	if n == nil {
		return
	}
	if moved.fields != nil && n.fields != nil {
		for k, f := range moved.fields {
			if old := n.fields[k]; old == nil || !old.set {
				n.fields[k] = f
			}
		}
		return
	}
	if !n.set {
		moved.origin = n.origin
		*n = *moved
	}
}

// locate returns the node of a place, and makes what is around it.
func (c *run) locate(p path, in instance) *node {
	n := c.root
	scope := 0
	for i, s := range p {
		switch s.kind {
		case field:
			n = n.field(s.name)
		case items, each:
			if scope >= len(in.elems) {
				return nil
			}
			id, key := in.elems[scope], in.keys[scope]
			scope++
			if s.kind == each {
				name, ok := key.(string)
				if !ok {
					return nil
				}
				n = n.field(name)
				n.origin = id
				break
			}
			n = n.elem(id)
			if s.name != "" && key != nil {
				if k := n.field(s.name); !k.set {
					k.set, k.value = true, key
				}
			}
		case pick:
			n = n.elem(s.String())
			n.origin = gone
			if k := n.field(s.name); !k.set {
				k.set, k.value = true, s.value
			}
		case first:
			n = n.elem("[0]")
			n.origin = gone
		}
		_ = i
	}
	return n
}

// compute writes a place that only an expression gives.
func (c *run) compute(r *rule) {
	p := r.at[c.target][""]
	if p == nil {
		p = anyPath(r.at[c.target])
	}
	if p.scope() == 0 {
		in := instance{}
		if !c.has(p[:len(p)-1], in) || !r.when[c.target].holds(c.vars(r, in, absent{})) {
			return
		}
		c.writeAll(r, c.result(r, in, absent{}, nil), in)
		return
	}
	around, ok := c.counterpart(c.target, p[:p.scope()])
	if !ok {
		return
	}
	for _, in := range c.instances(1-c.target, around, c.src) {
		if c.applies(r, in) && c.has(p[:len(p)-1], in) && r.when[c.target].holds(c.vars(r, in, absent{})) {
			c.writeAll(r, c.result(r, in, absent{}, nil), in)
		}
	}
}

// has reports whether the result has the element of an instance.
func (c *run) has(p path, in instance) bool {
	n, scope := c.root, 0
	for _, s := range p {
		switch s.kind {
		case field, each:
			name := s.name
			if s.kind == each {
				name, _ = in.keys[scope].(string)
				scope++
			}
			if n = n.fields[name]; n == nil {
				return false
			}
		default:
			found := false
			for _, e := range n.elems {
				if s.kind == items && e.id == in.elems[scope] || e.id == s.String() {
					n, found = e.node, true
					break
				}
			}
			if !found {
				return false
			}
			if s.kind == items {
				scope++
			}
		}
	}
	return true
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

// defaults sets the default of a rule where the object around its place exists.
func (c *run) defaults(r *rule, d any, out map[string]any) {
	byName := map[string]any{"": d}
	if _, single := r.at[c.target][""]; !single {
		byName, _ = object(d)
	}
	for name, v := range byName {
		p, ok := r.at[c.target][name]
		if !ok {
			continue
		}
		for _, in := range c.instances(c.target, p, out) {
			from := instance{}
			for _, e := range in.elems {
				from.elems = append(from.elems, resolve(c.origins, e))
			}
			if len(r.guards) > 0 && !c.applies(r, from) {
				continue
			}
			rest := p[p.scope():]
			if len(rest) == 0 {
				continue
			}
			around, _ := belowValue(in.value, rest[:len(rest)-1])
			if m, ok := object(around); ok && rest[len(rest)-1].kind == field && isAbsent(get(m, rest[len(rest)-1].name)) {
				m[rest[len(rest)-1].name] = clone(v)
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
