package apiserver

import (
	"context"
	"sync"

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

// objects does to objects of one version what the API server does. It implements
// [crdschema.Strategy]. The validators are made at their first use: serving needs none.
type objects struct {
	schema    *schema.Structural
	embeds    bool // an embedded resource somewhere
	validator func() (validation.SchemaValidator, error)
	rules     func() *cel.Validator // nil: none
}

func newObjects(s *schema.Structural) *objects {
	return &objects{
		schema: s, embeds: embeds(s),
		validator: sync.OnceValues(func() (validation.SchemaValidator, error) { return validatorOf(s) }),
		rules:     sync.OnceValue(func() *cel.Validator { return cel.NewValidator(s, true, celCallLimit) }),
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

// Prune implements [crdschema.Strategy].
func (o *objects) Prune(obj map[string]any) {
	pruning.Prune(obj, o.schema, true)
	defaulting.PruneNonNullableNullsWithoutDefaults(obj, o.schema)
	o.coerce(obj)
}

// coerce removes unknown and malformed metadata of embedded resources.
func (o *objects) coerce(obj map[string]any) {
	if o.embeds {
		_ = objectmeta.Coerce(nil, obj, o.schema, false, true) // it never fails when it drops what is invalid
	}
}

// Default implements [crdschema.Strategy].
func (o *objects) Default(obj map[string]any) { defaulting.Default(obj, o.schema) }

// Validate implements [crdschema.Strategy].
func (o *objects) Validate(obj map[string]any) field.ErrorList {
	validator, err := o.validator()
	if err != nil {
		return field.ErrorList{field.InternalError(nil, err)}
	}
	errs := validation.ValidateCustomResource(nil, obj, validator)
	errs = append(errs, listtype.ValidateListSetsAndMaps(nil, o.schema, obj)...)
	if o.embeds {
		errs = append(errs, objectmeta.Validate(context.Background(), nil, obj, o.schema, false)...)
	}
	if rules := o.rules(); len(errs) == 0 && rules != nil { // no deadline: their cost is limited
		errs, _ = rules.Validate(context.Background(), nil, o.schema, obj, nil, celCostBudget)
	}
	return errs
}
