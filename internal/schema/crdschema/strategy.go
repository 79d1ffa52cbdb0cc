package crdschema

import (
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// A Strategy does to objects of a version what the API server does when it reads or stores one, as
// k8s.io/apiserver calls it. Numbers in objects must be int64 or float64, as
// k8s.io/apimachinery/pkg/util/json reads them. It is safe for concurrent use.
type Strategy interface {
	// Prune removes from an object what the API server removes when it reads one: fields that the
	// schema does not know, nulls where the schema allows none and has no default, unknown and
	// malformed metadata of embedded resources. The object's own apiVersion, kind and metadata stay
	// as they are.
	Prune(obj map[string]any)
	// Default adds the schema's defaults to an object, which should be pruned.
	Default(obj map[string]any)
	// Validate returns the API server's errors about an object that is created: those of its
	// schema, its list types, its validation rules and the metadata of embedded resources. Only the
	// schema validates the object's own metadata. Like those of the API server, the errors quote
	// values.
	Validate(obj map[string]any) field.ErrorList
	// Stored returns an object, as JSON text, as the API server stores it, and whether that
	// differs: with defaults, and embedded resources without unknown metadata. Fields that the
	// schema does not know stay. Text that is not an object is returned as it is. Its error is the
	// encoder's.
	Stored(text []byte) (stored []byte, changed bool, err error)
	// Embeds reports whether the schema has an embedded resource, whose metadata the API server
	// prunes.
	Embeds() bool
}

// NewStrategy returns the Strategy of a schema, and what is wrong with its defaults. It may prune
// these.
type NewStrategy func(s *schema.Structural, at *field.Path) (Strategy, field.ErrorList)
