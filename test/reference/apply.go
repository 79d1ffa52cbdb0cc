package reference

import (
	"encoding/json"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
)

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
			root, filled, rest, base := c.src, c.filled, p, ""
			if p.scope() > 0 {
				root, filled, rest, base = in.value, at(c.filled, in.around()), p[p.scope():], in.around()
			}
			v, where := belowValue(root, rest)
			if !isAbsent(v) {
				single, concrete, raw[name] = v, base+where, v
			}
			// Expressions read the defaults of absent fields.
			if w, _ := belowValue(filled, rest); !isAbsent(w) && (!isAbsent(v) || r.expr[c.target] != nil) {
				values[name] = w
			}
		}
		var self any = values
		if _, ok := r.at[source][""]; ok {
			self = get(values, "")
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
	if n := c.locate(p, in, true); n != nil && !n.set {
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
	n := c.locate(to, in, true)
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

// compute writes a place that only an expression gives.
func (c *run) compute(r *rule) {
	p := r.at[c.target][""]
	if p == nil {
		p = anyPath(r.at[c.target])
	}
	if p.scope() == 0 {
		in := instance{}
		if c.locate(p[:len(p)-1], in, false) == nil || !r.when[c.target].holds(c.vars(r, in, absent{})) {
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
		if c.applies(r, in) && c.locate(p[:len(p)-1], in, false) != nil && r.when[c.target].holds(c.vars(r, in, absent{})) {
			c.writeAll(r, c.result(r, in, absent{}, nil), in)
		}
	}
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
