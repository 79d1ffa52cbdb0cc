package reference

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
)

// A run converts an object to a side.
type run struct {
	*pair

	target, source int
	src, filled    any
	origins        map[string]string
}

// An instance is a value at a place, and the elements around it, the outermost first.
type instance struct {
	at    string // concrete
	value any
	elems []string
	keys  []any
}

// has reports whether an instance has the elements of a place, and the keys of its entries.
func (i instance) has(p path) bool {
	for n, around := range p.elements() {
		if n >= len(i.elems) || around[len(around)-1].text == each && isAbsent(i.keys[n]) {
			return false
		}
	}
	return true
}

// convert returns an object at the other side, and where its elements come from.
func (p *pair) convert(target int, src map[string]any) (map[string]any, map[string]string) {
	filled := typed(fill(clone(src), p.schemas[1-target]), p.schemas[1-target])
	c := &run{pair: p, target: target, source: 1 - target, src: src, filled: filled, origins: map[string]string{}}
	made := c.moved(p.copied, src, nil, nil, "", p.schemas[c.source], p.schemas[target])
	for _, r := range p.ordered {
		if len(r.at[spoke]) > 0 && len(r.at[hub]) > 0 && r.text.get("drop") == "" {
			made = c.apply(r, made)
		}
	}
	out, _ := c.finish(made, p.schemas[target], "").(map[string]any)
	for _, r := range p.ordered {
		if len(r.at[c.source]) == 0 && r.expr[target] != nil {
			c.supplement(r, out, func(in instance) map[string]any {
				if slices.Contains(in.elems, gone) || !r.when[target].holds(c.vars(r, in, absent{})) {
					return nil
				}
				return c.result(r, in, absent{}, nil)
			})
		}
	}
	for _, r := range p.rules {
		if d := r.defaults[target]; d != nil {
			c.supplement(r, out, func(instance) map[string]any { return r.named(target, d) })
		}
	}
	fill(out, p.schemas[target])
	return out, c.origins
}

// find returns what is at a place; its first n steps lead to an instance.
func (p *pair) find(side int, place path, n int, in instance) (all []instance) {
	if n == len(place) {
		return []instance{in}
	}
	s := place[n]
	push := func(v any, seg string, key any) {
		next := instance{in.at + "/" + escape(seg), v, in.elems, in.keys}
		if s.isEach() {
			next.elems, next.keys = append(slices.Clip(in.elems), next.at), append(slices.Clip(in.keys), key)
		}
		all = append(all, p.find(side, place, n+1, next)...)
	}
	m, _ := object(in.value)
	switch v, ok := m[s.name]; {
	case s.isField() && ok:
		push(v, s.name, nil)
	case s.text == each:
		schema, _ := schemaAt(p.schemas[side], place[:n])
		for _, k := range slices.Sorted(maps.Keys(m)) {
			if p.child(side, place[:n], schema, k).text == each {
				push(m[k], k, k)
			}
		}
	}
	l, _ := list(in.value)
	for i, e := range l {
		if p.picked(side, place[:n], e, i).text == s.text {
			push(e, strconv.Itoa(i), get(e, s.name))
		}
	}
	return all
}

// get returns what an object of the source has at a place, within the elements of an instance.
func (c *run) get(obj any, p path, in instance) (any, string) {
	outer := instance{value: obj}
	if n := len(p.elements()); n > len(in.elems) {
		return absent{}, ""
	} else if n > 0 {
		outer = instance{at: in.elems[n-1], value: at(obj, in.elems[n-1])}
	}
	for _, found := range c.find(c.source, p, len(p.around()), outer) {
		return found.value, found.at
	}
	return absent{}, ""
}

func (c *run) vars(r *rule, in instance, self any) variables {
	vars := variables{"object": c.filled, "metadata": get(c.filled, "metadata")}
	if !isAbsent(self) {
		vars["self"] = self
	}
	if root := r.root(c.source); len(root) > 0 {
		if e, _ := c.get(c.filled, root, in); !isAbsent(e) {
			vars["element"] = e
		}
	} else if len(in.elems) > 0 {
		vars["element"] = at(c.filled, in.elems[len(in.elems)-1])
	}
	return vars
}

// applies reports whether the conditions of those that use a rule's set hold.
func (c *run) applies(r *rule, in instance) bool {
	for _, user := range r.users {
		place := user.at[c.source][""]
		self, _ := c.get(c.filled, place, in)
		outer := instance{elems: in.elems[:min(len(place.elements()), len(in.elems))]}
		if when := user.when[c.target]; when != nil && (isAbsent(self) || !when.holds(c.vars(&rule{}, outer, self))) {
			return false
		}
	}
	return true
}

// apply returns what there is after a rule.
func (c *run) apply(r *rule, made any) any {
	from, to := r.place(c.source), r.place(c.target)
	made = c.containers(r, from.elements(), to.elements(), made)
	for _, in := range c.find(c.source, from.around(), 0, instance{value: c.src}) {
		values, raw, concrete := map[string]any{}, map[string]any{}, ""
		for name, p := range r.at[c.source] {
			v, where := c.get(c.src, p, in)
			if !isAbsent(v) {
				raw[name], concrete = v, where
			}
			// Expressions read the defaults of absent fields.
			if w, _ := c.get(c.filled, p, in); !isAbsent(w) && (!isAbsent(v) || r.expr[c.target] != nil) {
				values[name] = w
			}
		}
		self := any(values)
		if v, ok := values[""]; ok {
			self = v
		}
		if len(values) == 0 || !c.applies(r, in) || !r.when[c.target].holds(c.vars(r, in, self)) {
			continue
		}
		result := map[string]any{"": absent{}}
		if !r.moves() {
			result = c.fitting(r, c.result(r, in, self, raw))
		} else if v, ok := raw[""]; ok {
			result[""] = c.moved(r, v, from, to, concrete, c.schema(c.source, from), c.schema(c.target, to))
		}
		for name, v := range result {
			p := r.at[c.target][name]
			omitted := r.omit[c.target] && (empty(v) || empty(raw[name]))
			if !isAbsent(v) && validMetadata(p, v) && !omitted && in.has(p) {
				made = put(made, p, in.elems, in.keys, v)
			}
		}
	}
	return made
}

// fitting returns the results of a rule, or none if one of them does not fit its place.
func (c *run) fitting(r *rule, results map[string]any) map[string]any {
	out := map[string]any{}
	for name, v := range results {
		p, ok := r.at[c.target][name]
		if s := c.schema(c.target, p); ok && (!fits(v, s) || r.text.get("codec") != "" && !complete(v, s)) {
			return nil
		} else if ok {
			out[name] = pruned(v, s)
		}
	}
	return out
}

func (c *run) schema(side int, p path) *Schema {
	if p.isIn("metadata") {
		return textSchema()
	}
	s, _ := schemaAt(c.schemas[side], p)
	return s
}

// named returns a value of a side by the names of the rule's places.
func (r *rule) named(side int, v any) map[string]any {
	if _, one := r.at[side][""]; one {
		return map[string]any{"": v}
	}
	m, _ := object(v)
	return m
}

// result returns the values of the target's places by name.
func (c *run) result(r *rule, in instance, self any, raw map[string]any) map[string]any {
	codec, out := r.text.get("codec"), map[string]any{}
	text, isText := raw[""].(string)
	switch {
	case r.expr[c.target] != nil:
		out = r.named(c.target, r.expr[c.target].eval(c.vars(r, in, self)))
	case r.function != nil:
		out = c.call(r, raw)
	case r.text.get("template") == "":
		for name, v := range raw {
			schemas := [2]*Schema{c.schema(spoke, r.at[spoke][name]), c.schema(hub, r.at[hub][name])}
			switch {
			case codec == "" && len(r.values.from)+len(r.hubValues.from) == 0:
				out[name] = v
			case codec == "":
				out[name] = r.convertValues(c.target, v, schemas[c.source], schemas[c.target])
			case plainSide(codec, schemas) == c.source:
				out[name] = encode(codec, v)
			default:
				out[name] = decode(codec, v, schemas[c.target])
			}
		}
	case r.at[c.source][""] == nil:
		out[""] = r.join(raw)
	case isText:
		out = r.split(text, func(name string) *Schema { return c.schema(c.target, r.at[c.target][name]) })
	}
	for name, v := range out {
		if isAbsent(v) {
			delete(out, name)
		}
	}
	return out
}

// call returns what a function in Go gives.
func (c *run) call(r *rule, raw map[string]any) map[string]any {
	source, target, call := "spoke", "hub", r.function.ToHub
	if c.target == spoke {
		source, target, call = "hub", "spoke", r.function.ToSpoke
	}
	in := make([]json.RawMessage, len(names(r.text[source])))
	for i, name := range names(r.text[source]) {
		if v, ok := raw[name]; ok {
			in[i] = json.RawMessage(toJSON(v))
		}
	}
	results, err := call(in)
	out := map[string]any{}
	for i, name := range names(r.text[target]) {
		if err == nil && results[i] != nil {
			out[name] = parseJSON(results[i])
		}
	}
	return out
}

func empty(v any) bool {
	return slices.ContainsFunc([]any{"", false, int64(0), []any{}, map[string]any{}}, func(e any) bool { return equal(e, v) })
}

// moved returns what rules do not name of a value.
func (c *run) moved(r *rule, v any, from, to path, concrete string, ss, ds *Schema) any {
	if len(from) == 1 && from.isIn("metadata") {
		ss, ds = nil, nil
	}
	isA := func(kind string) bool { return ds == nil || ds.Type == kind || ds.XPreserveUnknownFields }
	claimed := func(f, t step) bool {
		return c.claimed(c.source, from.with(f).String(), r) || c.claimed(c.target, to.with(t).String(), r)
	}
	if m, ok := object(v); ok && isA("object") {
		out := map[string]any{}
		for k, e := range m {
			s := c.child(c.source, from, ss, k)
			if s.isField() {
				s = c.child(c.target, to, ds, k)
			}
			place := concrete + "/" + escape(k)
			ms, _ := member(ss, k)
			md, known := member(ds, k)
			if claimed(s, s) || !known {
				continue
			}
			if e = c.moved(r, e, from.with(s), to.with(s), place, ms, md); isAbsent(e) {
				continue
			}
			if isMap(ds, k) {
				e = &elem{place, e}
			}
			out[k] = e
		}
		return out
	}
	if l, ok := list(v); ok && isA("array") {
		out := &seq{}
		for i, e := range l {
			f, t := c.picked(c.source, from, e, i), c.picked(c.target, to, e, i)
			if f != t || f.text == first || claimed(f, t) {
				continue
			}
			place := concrete + "/" + strconv.Itoa(i)
			if e = c.moved(r, e, from.with(f), to.with(t), place, element(ss), element(ds)); !isAbsent(e) {
				out.elems = append(out.elems, &elem{place, e})
			}
		}
		return out
	}
	if fits(v, ds) && validMetadata(to, v) {
		return v
	}
	return absent{}
}

// containers makes the lists and maps whose elements a rule pairs, also for no elements.
func (c *run) containers(r *rule, from, to []path, made any) any {
	for n := range min(len(from), len(to)) {
		f, t := from[n][:len(from[n])-1], to[n][:len(to[n])-1]
		for _, in := range c.find(c.source, f, 0, instance{value: c.src}) {
			_, isList := list(in.value)
			_, isObject := object(in.value)
			if s := from[n][len(f)].text; !in.has(t) || (s == items && !isList) || (s == each && !isObject) || !c.applies(r, in) {
				continue
			}
			if to[n][len(t)].text == items {
				made = put(made, t, in.elems, in.keys, &seq{})
			} else {
				made = put(made, t, in.elems, in.keys, map[string]any{})
			}
		}
	}
	return made
}

// supplement sets what no other rule gives, where the object around its place exists.
func (c *run) supplement(r *rule, out map[string]any, values func(in instance) map[string]any) {
	for _, around := range c.find(c.target, r.place(c.target).around(), 0, instance{value: out}) {
		in := instance{}
		for _, e := range around.elems {
			in.elems = append(in.elems, resolve(c.origins, e))
		}
		if !c.applies(r, in) {
			continue
		}
		for name, v := range c.fitting(r, values(in)) {
			p := r.at[c.target][name]
			outer, last := p[:len(p)-1], p[len(p)-1]
			for _, parent := range c.find(c.target, outer, min(len(p.around()), len(outer)), around) {
				if m, ok := object(parent.value); ok && last.isField() && isAbsent(get(m, last.name)) {
					m[last.name] = v
				}
			}
		}
	}
}
