// Package apiserver does to the objects of a CRD what the API server does, by the API server's own
// packages: it prunes, fills in defaults and validates. It links CEL, which package crdschema does
// not.
package apiserver

import (
	"context"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// Parse is [crdschema.Parse] that also checks the defaults of schemas, and its versions have a
// [crdschema.Strategy].
func Parse(file string, text []byte) ([]*crdschema.CRD, error) {
	return crdschema.Parse(file, text, strategy)
}

// strategy implements [crdschema.NewStrategy].
func strategy(s *schema.Structural, at *field.Path) (crdschema.Strategy, field.ErrorList) {
	// No deadline: the cost of a default is limited.
	errs, err := defaulting.ValidateDefaults(context.Background(), at, s, true, false)
	if err == nil && len(errs) == 0 {
		err = defaulting.PruneDefaults(s) // as the API server does
	}
	if err != nil {
		errs = append(errs, field.InternalError(at, err))
	}
	return newObjects(s), errs
}
