// Package xrd makes of Crossplane's CompositeResourceDefinitions the CustomResourceDefinitions that
// Crossplane makes of them.
//
// Crossplane writes these CRDs back whole: what others change in one, Crossplane reverts. So
// spec.conversion belongs into the definition.
package xrd

import (
	"encoding/json"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The type of the definitions. Each has the same content at v1 and v2, but v2 has no claims.
const (
	Group = "apiextensions.crossplane.io"
	Kind  = "CompositeResourceDefinition"
)

// The scopes of composite resources.
const (
	ScopeNamespaced    = "Namespaced"
	ScopeCluster       = "Cluster"
	ScopeLegacyCluster = "LegacyCluster"
)

// A Definition is a CompositeResourceDefinition.
type Definition struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   Spec            `json:"spec"`
	Status json.RawMessage `json:"status,omitempty"`
}

// A Spec is the spec of a Definition.
type Spec struct {
	Group      string                                         `json:"group"`
	Names      apiextensionsv1.CustomResourceDefinitionNames  `json:"names"`
	ClaimNames *apiextensionsv1.CustomResourceDefinitionNames `json:"claimNames,omitempty"`
	Scope      string                                         `json:"scope,omitempty"`
	Versions   []Version                                      `json:"versions"`
	Conversion *apiextensionsv1.CustomResourceConversion      `json:"conversion,omitempty"`
	Metadata   *struct {
		Labels      map[string]string `json:"labels,omitempty"`
		Annotations map[string]string `json:"annotations,omitempty"`
	} `json:"metadata,omitempty"`
	DefaultCompositionUpdatePolicy string `json:"defaultCompositionUpdatePolicy,omitempty"`
	DefaultCompositeDeletePolicy   string `json:"defaultCompositeDeletePolicy,omitempty"`

	// These have no effect on CRDs.
	ConnectionSecretKeys               []string              `json:"connectionSecretKeys,omitempty"`
	DefaultCompositionRef              *Reference            `json:"defaultCompositionRef,omitempty"`
	DefaultCompositionRevisionSelector *metav1.LabelSelector `json:"defaultCompositionRevisionSelector,omitempty"`
	EnforcedCompositionRef             *Reference            `json:"enforcedCompositionRef,omitempty"`
}

// A Reference names an object.
type Reference struct {
	Name string `json:"name"`
}

// A Version is a version of a Definition.
type Version struct {
	Name string `json:"name"`
	// Referenceable is the version in which objects are stored.
	Referenceable            bool                                             `json:"referenceable"`
	Served                   bool                                             `json:"served"`
	Deprecated               bool                                             `json:"deprecated,omitempty"`
	DeprecationWarning       *string                                          `json:"deprecationWarning,omitempty"`
	Schema                   *apiextensionsv1.CustomResourceValidation        `json:"schema,omitempty"`
	AdditionalPrinterColumns []apiextensionsv1.CustomResourceColumnDefinition `json:"additionalPrinterColumns,omitempty"`
	Subresources             *struct {
		Scale *apiextensionsv1.CustomResourceSubresourceScale `json:"scale,omitempty"`
	} `json:"subresources,omitempty"`
}

// Is reports whether an apiVersion and a kind are those of a definition, at any version.
func Is(apiVersion, kind string) bool {
	return kind == Kind && strings.HasPrefix(apiVersion, Group+"/")
}

// Known reports whether this package knows a version of definitions, given as apiVersion.
func Known(apiVersion string) bool { return apiVersion == Group+"/v1" || apiVersion == Group+"/v2" }

// Owner returns the definition of which Crossplane makes a CRD: its apiVersion and name; false if
// it makes it of none.
func Owner(crd metav1.Object) (metav1.OwnerReference, bool) {
	for _, owner := range crd.GetOwnerReferences() {
		if Is(owner.APIVersion, owner.Kind) && owner.Controller != nil && *owner.Controller {
			return owner, true
		}
	}
	return metav1.OwnerReference{}, false
}

// ClaimCRD returns the name of the CRD of claims, or "" without claims.
func (d *Definition) ClaimCRD() string {
	if d.Spec.ClaimNames == nil {
		return ""
	}
	return d.Spec.ClaimNames.Plural + "." + d.Spec.Group
}

// scope returns the scope with the default of the API server.
func (d *Definition) scope() string {
	switch {
	case d.Spec.Scope != "":
		return d.Spec.Scope
	case d.APIVersion == Group+"/v1":
		return ScopeLegacyCluster
	}
	return ScopeNamespaced
}
