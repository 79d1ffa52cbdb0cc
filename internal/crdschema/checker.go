package crdschema

import (
	"context"
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// The cost limits of one validation rule of a CRD, and of all rules on one object: PerCallLimit and
// RuntimeCELCostBudget of k8s.io/apiserver/pkg/apis/cel.
const (
	celCallLimit  = 1_000_000
	celCostBudget = 10_000_000
)

// A checker does to objects of one version what the API server does. The validators are made at
// their first use: serving needs none.
type checker struct {
	schema    *schema.Structural
	embeds    bool // an embedded resource somewhere
	validator func() (validation.SchemaValidator, error)
	rules     func() func(obj map[string]any) field.ErrorList
	embedded  func(obj map[string]any) field.ErrorList
}

func newChecker(s *schema.Structural, props *apiextensions.JSONSchemaProps) *checker {
	return &checker{
		schema: s, embeds: embeds(s),
		validator: sync.OnceValues(func() (validation.SchemaValidator, error) {
			v, _, err := validation.NewSchemaValidator(props)
			return v, err
		}),
		// No deadline: the cost of rules is limited.
		rules: sync.OnceValue(func() func(map[string]any) field.ErrorList {
			rules := cel.NewValidator(s, true, celCallLimit)
			return func(obj map[string]any) field.ErrorList {
				if rules == nil {
					return nil
				}
				errs, _ := rules.Validate(context.Background(), nil, s, obj, nil, celCostBudget)
				return errs
			}
		}),
		embedded: func(obj map[string]any) field.ErrorList {
			return objectmeta.Validate(context.Background(), nil, obj, s, false)
		},
	}
}

func embeds(s *schema.Structural) (found bool) {
	visitor := schema.Visitor{Structural: func(s *schema.Structural) bool {
		found = found || s.XEmbeddedResource
		return false // nothing was changed
	}}
	visitor.Visit(s)
	return found
}

// Prune removes from an object what the API server removes when it reads one: fields that the
// schema does not know, nulls where the schema allows none and has no default, unknown and
// malformed metadata of embedded resources. The object's own apiVersion, kind and metadata stay as
// they are. Numbers must be int64 or float64, here and in Default and Validate, as
// k8s.io/apimachinery/pkg/util/json reads them.
func (v *Version) Prune(obj map[string]any) {
	pruning.Prune(obj, v.checker.schema, true)
	defaulting.PruneNonNullableNullsWithoutDefaults(obj, v.checker.schema)
	v.coerce(obj)
}

// coerce removes unknown and malformed metadata of embedded resources.
func (v *Version) coerce(obj map[string]any) {
	if v.checker.embeds {
		_ = objectmeta.Coerce(nil, obj, v.checker.schema, false, true) // it never fails when it drops what is invalid
	}
}

// Default adds the schema's defaults to an object, which should be pruned.
func (v *Version) Default(obj map[string]any) { defaulting.Default(obj, v.checker.schema) }

// Validate returns the API server's errors about an object that is created: those of its schema,
// its list types, its validation rules and the metadata of embedded resources. Only the schema
// validates the object's own metadata. Like those of the API server, the errors quote values.
func (v *Version) Validate(obj map[string]any) field.ErrorList {
	validator, err := v.checker.validator()
	if err != nil {
		return field.ErrorList{field.InternalError(nil, err)}
	}
	errs := validation.ValidateCustomResource(nil, obj, validator)
	errs = append(errs, listtype.ValidateListSetsAndMaps(nil, v.checker.schema, obj)...)
	if v.checker.embeds {
		errs = append(errs, v.checker.embedded(obj)...)
	}
	if len(errs) == 0 {
		errs = v.checker.rules()(obj)
	}
	return errs
}
