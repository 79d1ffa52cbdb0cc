package reference

import (
	"fmt"
	"maps"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"sigs.k8s.io/yaml"
)

// A Kind converts objects of a CRD by rules.
type Kind struct {
	CRD     *apiextensionsv1.CustomResourceDefinition
	Hub     string
	Schemas map[string]*Schema // by version
	pairs   map[string]*pair   // by version; the hub has none
}

// An Object is what users see at a version, and what other versions last said.
type Object struct {
	Version string
	Seen    map[string]any // without apiVersion
	memory  map[string]*memory
}

// NewKind reads a CRD and rules.
func NewKind(crd []byte, functions map[string]Function, rules ...[]byte) (*Kind, error) {
	k := &Kind{CRD: &apiextensionsv1.CustomResourceDefinition{}, Schemas: map[string]*Schema{}, pairs: map[string]*pair{}}
	if err := yaml.Unmarshal(crd, k.CRD); err != nil {
		return nil, err
	}
	for _, v := range k.CRD.Spec.Versions {
		var props apiextensions.JSONSchemaProps
		if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(v.Schema.OpenAPIV3Schema, &props, nil); err != nil {
			return nil, err
		}
		s, err := structuralschema.NewStructural(&props)
		if err != nil {
			return nil, err
		}
		k.Schemas[v.Name] = s
	}
	conversion, sets, err := readFiles(rules...)
	if err != nil {
		return nil, err
	}
	env, err := newEnv()
	if err != nil {
		return nil, err
	}
	k.Hub = conversion.Spec.Hub
	texts := map[string][]ruleText{}
	for _, v := range conversion.Spec.Versions {
		texts[v.Name] = v.Rules
	}
	for _, v := range conversion.Spec.Versions {
		name := v.Name
		if v.SameAs != "" {
			name = v.SameAs
		}
		p := &pair{schemas: [2]*Schema{withoutMetadata(k.Schemas[v.Name]), withoutMetadata(k.Schemas[k.Hub])}}
		c := &compiler{env: env, sets: sets, functions: functions, pair: p}
		if err := c.compile(texts[name]); err != nil {
			return nil, fmt.Errorf("%s: %w", v.Name, err)
		}
		k.pairs[v.Name] = p
	}
	return k, nil
}

// withoutMetadata returns a schema that allows what all objects have.
func withoutMetadata(s *Schema) *Schema {
	out := *s
	out.Properties = maps.Clone(s.Properties)
	if out.Properties == nil {
		out.Properties = map[string]Schema{}
	}
	out.Properties["kind"] = *textSchema()
	out.Properties["metadata"] = Schema{
		Generic: structuralschema.Generic{Type: "object"}, Extensions: structuralschema.Extensions{XPreserveUnknownFields: true},
	}
	delete(out.Properties, "apiVersion")
	return &out
}

// Convert returns an object at another version.
func (k *Kind) Convert(o Object, to string) Object {
	if o.Version != to && o.Version != k.Hub && to != k.Hub {
		o = k.leg(o, k.Hub)
	}
	if o.Version != to {
		o = k.leg(o, to)
	}
	return o
}

// leg converts between the hub and another version.
func (k *Kind) leg(o Object, to string) Object {
	from, p, target := o.Version, k.pairs[to], spoke
	if to == k.Hub {
		p, target = k.pairs[from], hub
	}
	kept := o.memory[to]
	out := Object{Version: to, memory: maps.Clone(o.memory)}
	if out.memory == nil {
		out.memory = map[string]*memory{}
	}
	delete(out.memory, from)
	delete(out.memory, to)

	plain, origins := p.shows(target, o.Seen)
	out.Seen = plain
	var moved map[string]string
	if kept != nil {
		out.Seen, moved = p.restore(target, kept, plain, origins, o.Seen)
	}
	if m := p.remember(1-target, o.Seen, out.Seen, func(at string) string {
		if moved != nil {
			if at = resolve(moved, at); at == "" {
				return ""
			}
		}
		return resolve(origins, at)
	}); m != nil {
		out.memory[from] = m
	}
	return out
}

// shows returns what users see of an object if nothing was said at the target.
func (p *pair) shows(target int, src map[string]any) (map[string]any, map[string]string) {
	out, origins := p.convert(target, src)
	fill(out, p.schemas[target])
	return out, origins
}

// remember returns what the conversion back does not give of what was said.
func (p *pair) remember(side int, said, shown map[string]any, link func(at string) string) *memory {
	back, origins := p.shows(side, shown)
	if equal(back, said) {
		return nil
	}
	m := &memory{said: said, shown: shown, back: back, origins: origins, links: map[string]string{}}
	links(back, "", func(at string) {
		from := resolve(origins, at)
		if from != "" {
			from = link(from)
		}
		if from == "" {
			from = gone
		}
		m.links[at] = from
	})
	return m
}

// links calls a function for each element of a list.
func links(v any, at string, call func(at string)) {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			links(e, at+"/"+escape(k), call)
		}
	case []any:
		for i, e := range v {
			call(fmt.Sprintf("%s/%d", at, i))
			links(e, fmt.Sprintf("%s/%d", at, i), call)
		}
	}
}
