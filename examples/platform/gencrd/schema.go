package main

import "maps"

// A schema is an OpenAPI schema in a CRD.
type schema map[string]any

// props are the fields of an object by name.
type props map[string]schema

func text() schema    { return schema{"type": "string"} }
func integer() schema { return schema{"type": "integer", "format": "int32"} }
func long() schema    { return schema{"type": "integer", "format": "int64"} }
func boolean() schema { return schema{"type": "boolean"} }

func enum(values ...string) schema { return schema{"type": "string", "enum": values} }

func intOrString() schema { return schema{"x-kubernetes-int-or-string": true} }

func object(fields props, required ...string) schema {
	s := schema{"type": "object", "properties": fields}
	if len(required) > 0 {
		s["required"] = required
	}
	return s
}

func mapOf(values schema) schema { return schema{"type": "object", "additionalProperties": values} }

func list(items schema) schema {
	return schema{"type": "array", "items": items, "x-kubernetes-list-type": "atomic"}
}

func set(items schema) schema {
	return schema{"type": "array", "items": items, "x-kubernetes-list-type": "set"}
}

// keyed returns a list whose elements have a field as their key.
func keyed(key string, items schema) schema {
	return schema{
		"type": "array", "items": items, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": []string{key},
	}
}

// with returns the schema with additions, such as a default.
func (s schema) with(more schema) schema {
	all := maps.Clone(s)
	maps.Copy(all, more)
	return all
}

func (s schema) about(description string) schema { return s.with(schema{"description": description}) }

func (s schema) atLeast(minimum int) schema { return s.with(schema{"minimum": minimum}) }

func (s schema) or(value any) schema { return s.with(schema{"default": value}) }

// and returns the fields of both.
func (p props) and(more props) props {
	all := maps.Clone(p)
	maps.Copy(all, more)
	return all
}
