package crdschema

import (
	"crypto/sha256"
	"encoding/json"
	"reflect"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/crdconvert/webhookd/internal/schema/xrd"
)

// convert takes from a CRD what webhookd needs, and reports what is wrong with it: a CRD in a file
// may have mistakes that an API server refuses.
func (p *parser) convert(in *apiextensionsv1.CustomResourceDefinition, at *place) *CRD {
	crd := &CRD{
		Name: in.Name, Group: in.Spec.Group, Kind: in.Spec.Names.Kind, Plural: in.Spec.Names.Plural,
		Namespaced: in.Spec.Scope == apiextensionsv1.NamespaceScoped, File: p.file, Line: at.line,
	}
	for _, must := range []struct{ path, value string }{
		{"metadata.name", crd.Name}, {"spec.group", crd.Group}, {"spec.names.kind", crd.Kind}, {"spec.names.plural", crd.Plural},
	} {
		if must.value == "" {
			p.report(at.lineOf(must.path), "field that must be set: %s", must.path)
		}
	}
	if want := crd.Plural + "." + crd.Group; crd.Name != want && crd.Name != "" && crd.Plural != "" && crd.Group != "" {
		p.report(at.lineOf("metadata.name"), "name that is not the plural and the group, write %s: metadata.name", want)
	}
	if in.Spec.PreserveUnknownFields {
		p.report(at.lineOf("spec.preserveUnknownFields"),
			"true is not allowed, set x-kubernetes-preserve-unknown-fields where it is needed: spec.preserveUnknownFields")
	}
	digested := in.Spec
	digested.Conversion = nil
	text, _ := json.Marshal([]any{in.Name, digested}) // what was decoded can be encoded
	crd.Digest = sha256.Sum256(text)
	p.versions(in, at, crd)
	return crd
}

func (p *parser) versions(in *apiextensionsv1.CustomResourceDefinition, at *place, crd *CRD) {
	if len(in.Spec.Versions) == 0 {
		p.report(at.lineOf("spec.versions"), "%s without versions, add them: spec.versions", crdKind)
		return
	}
	stored := 0
	for i := range in.Spec.Versions {
		version := &in.Spec.Versions[i]
		path := field.NewPath("spec", "versions").Index(i)
		if crd.Version(version.Name) != nil {
			p.report(at.lineOf(path.Child("name").String()), "version appears twice, remove one: %s", version.Name)
		}
		if version.Storage {
			stored++
		}
		crd.Versions = append(crd.Versions, p.version(version, at, crd, path))
	}
	if stored != 1 {
		key := "storage"
		if _, is := xrd.Owner(in); is {
			key = "referenceable"
		}
		p.report(at.lineOf("spec.versions"), "%d versions with %s: true, want exactly one: spec.versions", stored, key)
	}
}

func (p *parser) version(
	in *apiextensionsv1.CustomResourceDefinitionVersion, from *place, crd *CRD, path *field.Path,
) *Version {
	v := &Version{
		Name: in.Name, Served: in.Served, Storage: in.Storage, Deprecated: in.Deprecated, Line: from.lineOf(path.String()), group: crd.Group, kind: crd.Kind,
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
	s, err := structuralOf(in.Schema)
	if err != nil {
		p.report(from.lineOf(at.String()), "%v: %s", err, at)
		return v
	}
	if p.structural(s, from, at) && p.strategy(v, s, from, at) {
		v.Root = build(withMeta(s))
		v.Unshown = unshown(in, v.Root)
	}
	return v
}

// structuralOf returns a schema in the API server's own form. It empties the argument: each form
// takes ten times the memory of the text.
func structuralOf(in *apiextensionsv1.CustomResourceValidation) (*schema.Structural, error) {
	var props apiextensions.JSONSchemaProps
	err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(in.OpenAPIV3Schema, &props, nil)
	if in.OpenAPIV3Schema = nil; err != nil {
		return nil, err
	}
	s, err := schema.NewStructural(&props)
	if err == nil {
		(&schema.Visitor{Structural: slim}).Visit(s)
	}
	return s, err
}

// slim drops what takes memory for as long as the schema lives and says nothing about objects.
func slim(s *schema.Structural) (changed bool) {
	s.Description, s.Title = "", ""
	if reflect.DeepEqual(s.ValueValidation, &schema.ValueValidation{}) {
		s.ValueValidation = nil
	}
	return true
}

// strategy adds what the API server does to objects of the version, and reports what is wrong with
// its defaults.
func (p *parser) strategy(v *Version, s *schema.Structural, from *place, at *field.Path) bool {
	if p.newStrategy == nil {
		return true
	}
	var errs field.ErrorList
	v.Strategy, errs = p.newStrategy(s, at)
	return p.fields(from, errs)
}

// structural reports what is wrong with a schema, and returns whether it is structural.
func (p *parser) structural(s *schema.Structural, from *place, at *field.Path) bool {
	errs := schema.ValidateStructural(at, s)
	errs = append(errs, validate(s, at)...)
	return p.fields(from, errs)
}

// fields reports errors of the API server's own packages about a schema, and returns whether there
// are none.
func (p *parser) fields(from *place, errs field.ErrorList) bool {
	for _, err := range errs {
		p.report(from.lineOf(err.Field), "the API server refuses this schema: %s: %s", err.ErrorBody(), err.Field)
	}
	return len(errs) == 0
}
