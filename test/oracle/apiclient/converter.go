package apiclient

import (
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/conversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// A Converter is what the API server has of one CRD. It is safe for concurrent use.
type Converter struct {
	safe  runtime.ObjectConvertor
	group string
}

// Converter makes the converter of a CRD with these versions, the first of which is stored, whose
// conversion h describes. Each one has connections of its own, unless h is the same.
func (s *Server) Converter(tb testing.TB, gk schema.GroupKind, versions []string, h Hook) *Converter {
	tb.Helper()
	factory, err := conversion.NewCRConverterFactory(s, s.authentication)
	if err != nil {
		tb.Fatalf("converter factory: %v", err)
	}
	safe, _, err := factory.NewConverter(crd(gk, versions, &h))
	if err != nil {
		tb.Fatalf("converter of %s: %v", gk, err)
	}
	return &Converter{safe: safe, group: gk.Group}
}

// To converts an object, or a list of them, as the API server does after reading and before
// writing. The error is the one that the user reads.
func (c *Converter) To(in runtime.Object, version string) (runtime.Object, error) {
	return c.safe.ConvertToVersion(in, schema.GroupVersion{Group: c.group, Version: version})
}

// Into converts in to the version of out, as admission does.
func (c *Converter) Into(in, out runtime.Object) error { return c.safe.Convert(in, out, nil) }

func crd(gk schema.GroupKind, versions []string, h *Hook) *apiextensionsv1.CustomResourceDefinition {
	plural := strings.ToLower(gk.Kind) + "s"
	c := &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: plural + "." + gk.Group},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: gk.Group,
			Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: plural, Kind: gk.Kind, ListKind: gk.Kind + "List"},
			Conversion: &apiextensionsv1.CustomResourceConversion{
				Strategy: apiextensionsv1.WebhookConverter,
				Webhook: &apiextensionsv1.WebhookConversion{
					ClientConfig: h.clientConfig(), ConversionReviewVersions: h.Reviews,
				},
			},
		},
	}
	for i, v := range versions {
		c.Spec.Versions = append(c.Spec.Versions, apiextensionsv1.CustomResourceDefinitionVersion{
			Name: v, Served: true, Storage: i == 0,
		})
	}
	return c
}
