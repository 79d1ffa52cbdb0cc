package crdwire

import (
	"context"
	"encoding/json"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/crdconvert/webhookd/internal/cluster"
)

// A CRD is never written back whole, so fields that are not read, or that this build does not know,
// are not lost.
type CRD = apiextensionsv1.CustomResourceDefinition

const (
	crdKind = "CustomResourceDefinition"
	crdsAPI = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
)

// Path returns the path of a CRD in the API.
func Path(name string) string { return crdsAPI + "/" + name }

// Read reads a CRD from the API server, without its schemas.
func Read(ctx context.Context, api *cluster.Client, name string) (*CRD, error) {
	return read(ctx, api, name, nil)
}

func read(ctx context.Context, api *cluster.Client, name string, schemas func(*CRD) bool) (*CRD, error) {
	var text json.RawMessage
	if err := api.Get(ctx, Path(name), &text); err != nil {
		return nil, err
	}
	return parseNeeded(text, schemas)
}

// ReadAll reads the CRDs with these names, or all if there are no names, with the schemas of those
// for which schemas, which may be nil, returns true. It returns the names that do not exist as
// missing.
func ReadAll(
	ctx context.Context, api *cluster.Client, names []string, schemas func(*CRD) bool,
) (crds []*CRD, missing []string, err error) {
	for _, name := range names {
		crd, err := read(ctx, api, name, schemas)
		switch {
		case apierrors.IsNotFound(err):
			missing = append(missing, name)
		case err != nil:
			return nil, nil, err
		default:
			crds = append(crds, crd)
		}
	}
	if len(names) > 0 {
		return crds, missing, nil
	}
	err = api.List(ctx, crdsAPI, func(page cluster.Page) error {
		for _, text := range page.Objects {
			crd, err := parseNeeded(text, schemas)
			if err != nil {
				return err
			}
			crds = append(crds, crd)
		}
		return nil
	})
	switch {
	case err == nil:
		return crds, nil, nil
	case apierrors.IsForbidden(err):
		err = fmt.Errorf("%w, or name the CRDs", err)
	}
	return nil, nil, err
}

// TargetOf returns the webhook that a CRD points at; false without one.
func TargetOf(crd *CRD) (Target, bool) { return targetOf(crd.Spec.Conversion) }

// caBundleOf returns the caBundle of a CRD, or nil.
func caBundleOf(crd *CRD) []byte {
	if _, ok := TargetOf(crd); !ok {
		return nil
	}
	return crd.Spec.Conversion.Webhook.ClientConfig.CABundle
}

// BundleOf returns the CAs that a CRD trusts.
func BundleOf(crd *CRD) Bundle { return ReadableBundle(caBundleOf(crd)) }

// elsewhere returns an error if a CRD must not be pointed at a target without --force.
func elsewhere(c *apiextensionsv1.CustomResourceConversion, target Target) error {
	at, is := targetOf(c)
	switch {
	case is && !at.Same(target):
		return fmt.Errorf("converted by %s already, --force points it at %s", at, target)
	case !is && c != nil && c.Strategy != "" && c.Strategy != apiextensionsv1.NoneConverter && c.Strategy != apiextensionsv1.WebhookConverter:
		return fmt.Errorf("unknown strategy %q of conversion, --force replaces it", c.Strategy)
	}
	return nil
}
