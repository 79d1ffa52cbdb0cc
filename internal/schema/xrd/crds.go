package xrd

import (
	"cmp"
	_ "embed"
	"fmt"
	"maps"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"
)

//go:embed injected.yaml
var injectedYAML []byte

type properties = map[string]apiextensionsv1.JSONSchemaProps

// injected are the fields that Crossplane adds.
type injected struct {
	Machinery    properties `json:"machinery"`
	Legacy       properties `json:"legacy"`
	Claim        properties `json:"claim"`
	Status       properties `json:"status"`
	LegacyStatus properties `json:"legacyStatus"`
}

// CRDs returns the CRDs that Crossplane makes: that of the composite resource and, if there are
// claims, that of the claim. They lack printer columns. The errors are about a definition that the
// API server or Crossplane refuses.
func (d *Definition) CRDs() ([]*apiextensionsv1.CustomResourceDefinition, field.ErrorList) {
	var add injected
	if err := yaml.UnmarshalStrict(injectedYAML, &add); err != nil {
		panic(err) // the tests read it
	}
	if problems := d.validate(); len(problems) > 0 {
		return nil, problems
	}
	composite := d.crd(d.Name, d.Spec.Names, "composite", d.scope() == ScopeNamespaced)
	spec, status := add.composite(d.scope(), d.Spec.DefaultCompositionUpdatePolicy)
	d.addVersions(composite, spec, status)
	crds := []*apiextensionsv1.CustomResourceDefinition{composite}
	if names := d.Spec.ClaimNames; names != nil {
		claim := d.crd(d.ClaimCRD(), *names, "claim", true)
		setDefault(add.Claim, "compositeDeletePolicy", cmp.Or(d.Spec.DefaultCompositeDeletePolicy, "Background"))
		d.addVersions(claim, add.Claim, add.legacyStatus())
		crds = append(crds, claim)
	}
	return crds, nil
}

// composite returns the fields of spec and status of a composite resource.
func (add *injected) composite(scope, updatePolicy string) (spec, status properties) {
	setDefault(add.Machinery, "compositionUpdatePolicy", cmp.Or(updatePolicy, "Automatic"))
	switch scope {
	case ScopeLegacyCluster:
		spec = maps.Clone(add.Machinery)
		maps.Copy(spec, add.Legacy)
		return spec, add.legacyStatus()
	case ScopeNamespaced:
		delete(add.Machinery["resourceRefs"].Items.Schema.Properties, "namespace")
	}
	return properties{"crossplane": {
		Type: "object", Description: "Configures how Crossplane will reconcile this composite resource", Properties: add.Machinery,
	}}, add.Status
}

func (add *injected) legacyStatus() properties {
	status := maps.Clone(add.Status)
	maps.Copy(status, add.LegacyStatus)
	return status
}

func setDefault(of properties, name, value string) {
	property := of[name]
	property.Default = &apiextensionsv1.JSON{Raw: fmt.Appendf(nil, "%q", value)}
	of[name] = property
}

// validate finds what keeps Crossplane from making CRDs.
func (d *Definition) validate() (problems field.ErrorList) {
	spec := field.NewPath("spec")
	scopes := []string{ScopeNamespaced, ScopeCluster}
	if d.APIVersion == Group+"/v1" {
		scopes = append(scopes, ScopeLegacyCluster)
	}
	if !slices.Contains(scopes, d.scope()) {
		problems = append(problems, field.NotSupported(spec.Child("scope"), d.scope(), scopes))
	}
	if claim := d.Spec.ClaimNames; claim != nil {
		if d.scope() != ScopeLegacyCluster {
			problems = append(problems, field.Forbidden(spec.Child("claimNames"), "only a definition of "+Group+"/v1 with scope LegacyCluster has claims"))
		}
		for name, values := range map[string][2]string{
			"kind": {claim.Kind, d.Spec.Names.Kind}, "plural": {claim.Plural, d.Spec.Names.Plural},
			"singular": {claim.Singular, d.Spec.Names.Singular}, "listKind": {claim.ListKind, d.Spec.Names.ListKind},
		} {
			if values[0] != "" && values[0] == values[1] {
				problems = append(problems, field.Forbidden(spec.Child("claimNames", name), "the composite resource has this name, write another one"))
			}
		}
	}
	for i, v := range d.Spec.Versions {
		if v.Schema == nil || v.Schema.OpenAPIV3Schema == nil {
			problems = append(problems, field.Required(spec.Child("versions").Index(i).Child("schema", "openAPIV3Schema"),
				"Crossplane makes no CRD without the schema of each version"))
		}
	}
	return problems
}

// crd returns a CRD without versions.
func (d *Definition) crd(
	name string, names apiextensionsv1.CustomResourceDefinitionNames, category string, namespaced bool,
) *apiextensionsv1.CustomResourceDefinition {
	crd := &apiextensionsv1.CustomResourceDefinition{
		TypeMeta:   metav1.TypeMeta{APIVersion: apiextensionsv1.SchemeGroupVersion.String(), Kind: "CustomResourceDefinition"},
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: maps.Clone(d.Labels)},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: d.Spec.Group, Names: names, Scope: apiextensionsv1.ClusterScoped, Conversion: d.Spec.Conversion,
		},
	}
	crd.OwnerReferences = []metav1.OwnerReference{{
		APIVersion: Group + "/v1", Kind: Kind, Name: d.Name, UID: d.UID, Controller: new(true), BlockOwnerDeletion: new(true),
	}}
	if m := d.Spec.Metadata; m != nil {
		if crd.Labels == nil && m.Labels != nil {
			crd.Labels = map[string]string{}
		}
		maps.Copy(crd.Labels, m.Labels)
		crd.Annotations = m.Annotations
	}
	crd.Spec.Names.Categories = append(slices.Clone(names.Categories), category)
	if namespaced {
		crd.Spec.Scope = apiextensionsv1.NamespaceScoped
	}
	return crd
}

func (d *Definition) addVersions(crd *apiextensionsv1.CustomResourceDefinition, spec, status properties) {
	for _, v := range d.Spec.Versions {
		version := apiextensionsv1.CustomResourceDefinitionVersion{
			Name: v.Name, Served: v.Served, Storage: v.Referenceable, Deprecated: v.Deprecated, DeprecationWarning: v.DeprecationWarning,
			Schema:       &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: schemaOf(v.Schema.OpenAPIV3Schema, spec, status)},
			Subresources: &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}},
		}
		if v.Subresources != nil {
			version.Subresources.Scale = v.Subresources.Scale
		}
		crd.Spec.Versions = append(crd.Spec.Versions, version)
	}
}

// maxName is the longest name, since Crossplane makes it a label.
const maxName = 63

// schemaOf returns a version's schema. Crossplane takes a few things of the given one and ignores
// all others, such as further fields next to spec and status.
func schemaOf(given *apiextensionsv1.JSONSchemaProps, spec, status properties) *apiextensionsv1.JSONSchemaProps {
	longest := int64(maxName)
	if given := given.Properties["metadata"].Properties["name"].MaxLength; given != nil {
		longest = min(longest, *given)
	}
	part := func(name string, add properties) apiextensionsv1.JSONSchemaProps {
		from := given.Properties[name]
		all := properties{}
		maps.Copy(all, from.Properties)
		maps.Copy(all, add)
		return apiextensionsv1.JSONSchemaProps{
			Type: "object", Description: from.Description, Required: from.Required, XValidations: from.XValidations, OneOf: from.OneOf, Properties: all,
		}
	}
	ofSpec := part("spec", spec)
	ofSpec.XPreserveUnknownFields = given.Properties["spec"].XPreserveUnknownFields
	text := apiextensionsv1.JSONSchemaProps{Type: "string"}
	return &apiextensionsv1.JSONSchemaProps{
		Type: "object", Description: given.Description, XValidations: given.XValidations, Required: []string{"spec"},
		Properties: properties{
			"apiVersion": text, "kind": text,
			"metadata": {Type: "object", Properties: properties{"name": {Type: "string", MaxLength: &longest}}},
			"spec":     ofSpec, "status": part("status", status),
		},
	}
}
