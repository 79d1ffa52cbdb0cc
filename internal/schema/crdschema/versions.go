package crdschema

import (
	"go.yaml.in/yaml/v3"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/crdconvert/webhookd/internal/schema/xrd"
)

// convert takes from a CRD what webhookd needs, and reports what is wrong with it: a CRD in a file
// may have mistakes that an API server refuses.
func (p *parser) convert(in *apiextensionsv1.CustomResourceDefinition, n *yaml.Node) *CRD {
	crd := &CRD{
		Name: in.Name, Group: in.Spec.Group, Kind: in.Spec.Names.Kind, Plural: in.Spec.Names.Plural,
		Namespaced: in.Spec.Scope == apiextensionsv1.NamespaceScoped, File: p.file, Line: n.Line,
	}
	for _, must := range []struct{ path, value string }{
		{"metadata.name", crd.Name}, {"spec.group", crd.Group}, {"spec.names.kind", crd.Kind}, {"spec.names.plural", crd.Plural},
	} {
		if must.value == "" {
			p.report(lineOf(n, must.path), "field that must be set: %s", must.path)
		}
	}
	if want := crd.Plural + "." + crd.Group; crd.Name != want && crd.Name != "" && crd.Plural != "" && crd.Group != "" {
		p.report(lineOf(n, "metadata.name"), "name that is not the plural and the group, write %s: metadata.name", want)
	}
	if in.Spec.PreserveUnknownFields {
		p.report(lineOf(n, "spec.preserveUnknownFields"),
			"true is not allowed, set x-kubernetes-preserve-unknown-fields where it is needed: spec.preserveUnknownFields")
	}
	p.versions(in, n, crd)
	return crd
}

func (p *parser) versions(in *apiextensionsv1.CustomResourceDefinition, n *yaml.Node, crd *CRD) {
	if len(in.Spec.Versions) == 0 {
		p.report(lineOf(n, "spec.versions"), "%s without versions, add them: spec.versions", crdKind)
		return
	}
	stored := 0
	for i := range in.Spec.Versions {
		version := &in.Spec.Versions[i]
		path := field.NewPath("spec", "versions").Index(i)
		if crd.Version(version.Name) != nil {
			p.report(lineOf(n, path.Child("name").String()), "version appears twice, remove one: %s", version.Name)
		}
		if version.Storage {
			stored++
		}
		crd.Versions = append(crd.Versions, p.version(version, n, crd, path))
	}
	if stored != 1 {
		key := "storage"
		if _, is := xrd.Owner(in); is {
			key = "referenceable"
		}
		p.report(lineOf(n, "spec.versions"), "%d versions with %s: true, want exactly one: spec.versions", stored, key)
	}
}

func (p *parser) version(
	in *apiextensionsv1.CustomResourceDefinitionVersion, n *yaml.Node, crd *CRD, path *field.Path,
) *Version {
	v := &Version{
		Name: in.Name, Served: in.Served, Storage: in.Storage, Deprecated: in.Deprecated, Line: lineOf(n, path.String()), group: crd.Group, kind: crd.Kind,
	}
	if in.DeprecationWarning != nil {
		v.Warning = *in.DeprecationWarning
	}
	if v.Name == "" {
		p.report(v.Line, "version without a name, set it: %s", path.Child("name"))
	}
	at := path.Child("schema", "openAPIV3Schema")
	if in.Schema == nil || in.Schema.OpenAPIV3Schema == nil {
		p.report(v.Line, "version without a schema, the API server would prune all its fields: %s", at)
		return v
	}
	props := &apiextensions.JSONSchemaProps{}
	err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(in.Schema.OpenAPIV3Schema, props, nil)
	var s *schema.Structural
	if err == nil {
		s, err = schema.NewStructural(props)
	}
	if err != nil {
		p.report(lineOf(n, at.String()), "%v: %s", err, at)
		return v
	}
	if p.structural(s, n, at) && p.strategy(v, s, props, n, at) {
		v.Root = build(withMeta(s))
		v.Unshown = unshown(in, v.Root)
	}
	return v
}

// strategy adds what the API server does to objects of the version, and reports what is wrong with
// its defaults.
func (p *parser) strategy(
	v *Version, s *schema.Structural, props *apiextensions.JSONSchemaProps, n *yaml.Node, at *field.Path,
) bool {
	if p.newStrategy == nil {
		return true
	}
	var errs field.ErrorList
	v.Strategy, errs = p.newStrategy(s, props, at)
	return p.fields(n, errs)
}

// structural reports what is wrong with a schema, and returns whether it is structural.
func (p *parser) structural(s *schema.Structural, n *yaml.Node, at *field.Path) bool {
	errs := schema.ValidateStructural(at, s)
	errs = append(errs, validate(s, at)...)
	return p.fields(n, errs)
}

// fields reports errors of the API server's own packages about a schema, and returns whether there
// are none.
func (p *parser) fields(n *yaml.Node, errs field.ErrorList) bool {
	for _, err := range errs {
		p.report(lineOf(n, err.Field), "the API server refuses this schema: %s: %s", err.ErrorBody(), err.Field)
	}
	return len(errs) == 0
}
