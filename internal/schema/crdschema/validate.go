package crdschema

import (
	"maps"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// validate checks what else the API server demands of a schema and the nodes rely on. The API
// server's own function for it would link a client of the API.
func validate(s *schema.Structural, at *field.Path) field.ErrorList {
	if s == nil {
		return nil
	}
	var errs field.ErrorList
	if kindOf(s) == None {
		types := []string{"array", "boolean", "integer", "number", "object", "string"}
		errs = append(errs, field.NotSupported(at.Child("type"), s.Type, types))
	}
	if len(s.Properties) > 0 && valuesOf(s) != nil {
		errs = append(errs, field.Forbidden(at.Child("additionalProperties"),
			"additionalProperties and properties are mutual exclusive"))
	}
	errs = append(errs, validateList(s, at)...)
	errs = append(errs, validate(s.Items, at.Child("items"))...)
	if s.AdditionalProperties != nil {
		errs = append(errs, validate(s.AdditionalProperties.Structural, at.Child("additionalProperties"))...)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		property := s.Properties[name]
		errs = append(errs, validate(&property, at.Child("properties").Key(name))...)
	}
	return errs
}

// validateList checks the type of a list and its keys.
func validateList(s *schema.Structural, at *field.Path) field.ErrorList {
	listType := ""
	if s.XListType != nil {
		listType = *s.XListType
	}
	keys := at.Child("x-kubernetes-list-map-keys")
	switch {
	case !slices.Contains([]string{"", "atomic", "set", "map"}, listType):
		return field.ErrorList{field.NotSupported(at.Child("x-kubernetes-list-type"), listType, []string{"atomic", "map", "set"})}
	case s.XListType != nil && s.Type != "array":
		return field.ErrorList{field.Invalid(at.Child("type"), s.Type, "must be array if x-kubernetes-list-type is specified")}
	case listType != "map" && len(s.XListMapKeys) > 0:
		return field.ErrorList{field.Required(at.Child("x-kubernetes-list-type"),
			"must be map if x-kubernetes-list-map-keys is non-empty")}
	case listType != "map":
		return nil
	case len(s.XListMapKeys) == 0:
		return field.ErrorList{field.Required(keys, "must not be empty if x-kubernetes-list-type is map")}
	case s.Items == nil || s.Items.Type != "object":
		return field.ErrorList{field.Invalid(at.Child("items", "type"), "",
			"must be object if parent array's x-kubernetes-list-type is map")}
	}
	var errs field.ErrorList
	for _, name := range s.XListMapKeys {
		property, found := s.Items.Properties[name]
		where := at.Child("items", "properties").Key(name)
		switch {
		case !found:
			errs = append(errs, field.Invalid(keys, s.XListMapKeys, "entries must all be names of item properties"))
		case property.Type == "object" || property.Type == "array":
			errs = append(errs, field.Invalid(where.Child("type"), property.Type,
				"must be a scalar type if parent array's x-kubernetes-list-type is map"))
		case property.Default.Object == nil && !requires(s.Items, name):
			errs = append(errs, field.Required(where.Child("default"),
				"this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property"))
		}
	}
	return errs
}

func requires(s *schema.Structural, name string) bool {
	return s.ValueValidation != nil && slices.Contains(s.ValueValidation.Required, name)
}
