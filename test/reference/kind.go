package reference

import (
	"fmt"
	"maps"
	"strings"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
)

// A Kind converts objects by rules.
type Kind struct {
	hub     string
	schemas map[string]*Schema // by version
	pairs   map[string]*pair   // by version; the hub has none
}

// An Object is what users see at a version, and what other versions last said.
type Object struct {
	Version string
	Seen    map[string]any // without apiVersion
	memory  map[string]*memory
}

// NewKind reads rules for versions with these schemas.
func NewKind(schemas map[string]*Schema, functions map[string]Function, rules ...[]byte) (*Kind, error) {
	k := &Kind{schemas: schemas, pairs: map[string]*pair{}}
	conversion, sets, err := readFiles(rules...)
	if err != nil {
		return nil, err
	}
	env, err := newEnv()
	if err != nil {
		return nil, err
	}
	k.hub = conversion.Spec.Hub
	texts := map[string][]ruleText{}
	for _, v := range conversion.Spec.Versions {
		texts[v.Name] = v.Rules
	}
	for _, v := range conversion.Spec.Versions {
		p := &pair{schemas: [2]*Schema{withMetadata(k.schemas[v.Name]), withMetadata(k.schemas[k.hub])}}
		c := &compiler{pair: p, env: env, sets: sets, functions: functions}
		if err := c.compile(append(v.Rules, texts[v.SameAs]...)); err != nil {
			return nil, fmt.Errorf("%s: %w", v.Name, err)
		}
		k.pairs[v.Name] = p
	}
	return k, nil
}

// withMetadata returns a schema with what all objects have.
func withMetadata(s *Schema) *Schema {
	out := *s
	out.Properties = map[string]Schema{}
	maps.Copy(out.Properties, s.Properties)
	out.Properties["kind"] = *textSchema()
	out.Properties["metadata"] = Schema{
		Generic: structuralschema.Generic{Type: "object"}, Extensions: structuralschema.Extensions{XPreserveUnknownFields: true},
	}
	delete(out.Properties, "apiVersion")
	return &out
}

func textSchema() *Schema { return &Schema{Generic: structuralschema.Generic{Type: "string"}} }

// Convert returns an object at another version.
func (k *Kind) Convert(o Object, to string) Object {
	if o.Version != to && o.Version != k.hub && to != k.hub {
		o = k.Convert(o, k.hub)
	}
	if o.Version == to {
		return o
	}
	p, target := k.pairs[to], spoke
	if to == k.hub {
		p, target = k.pairs[o.Version], hub
	}
	out := Object{Version: to, memory: map[string]*memory{}}
	maps.Copy(out.memory, o.memory)
	delete(out.memory, o.Version)
	delete(out.memory, to)
	plain, origins := p.convert(target, o.Seen)
	var origin func(at string) string
	out.Seen, origin = p.restore(target, o.memory[to], plain, origins, o.Seen)
	if m := p.remember(1-target, o.Seen, out.Seen, origin); m != nil {
		out.memory[o.Version] = m
	}
	return out
}

// A memory has what a version last said, and what the other version showed of it.
type memory struct {
	said, shown map[string]any
	back        map[string]any              // what the conversion back from shown gives
	origins     map[string]string           // from elements of back to those of shown
	link        func(element string) string // from elements of back to those of said
}

// remember returns what the conversion back does not give of what was said. Origin leads from
// elements of what is shown to those of what was said.
func (p *pair) remember(side int, said, shown map[string]any, origin func(at string) string) *memory {
	back, origins := p.convert(side, shown)
	if equal(back, said) {
		return nil
	}
	return &memory{said, shown, back, origins, func(element string) string { return origin(resolve(origins, element)) }}
}

// gone is the origin of an element that has none.
const gone = "!"

// resolve returns where an element comes from.
func resolve(origins map[string]string, at string) string {
	for end := len(at); end > 0; end = strings.LastIndexByte(at[:end], '/') {
		if from, ok := origins[at[:end]]; ok && from != gone {
			return from + at[end:]
		} else if ok {
			return gone
		}
	}
	return at
}
