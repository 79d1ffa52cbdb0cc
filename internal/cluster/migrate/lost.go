package migrate

import (
	"bytes"
	"encoding/json"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// schema returns the schema of a version; nil if there is none.
func (c *crd) schema(version string) (*apiextensionsv1.JSONSchemaProps, error) {
	for i, v := range c.versions {
		var of struct {
			Schema apiextensionsv1.CustomResourceValidation `json:"schema"`
		}
		if v.Name == version {
			err := json.Unmarshal(c.Spec.Versions[i], &of)
			return of.Schema.OpenAPIV3Schema, err
		}
	}
	return nil, nil
}

// lost returns the fields of an entry that a schema does not have: under its version, the manager
// no longer owns them. Fields below them are left out.
func lost(schema *apiextensionsv1.JSONSchemaProps, e *metav1.ManagedFieldsEntry) []string {
	set := &fieldpath.Set{}
	if e.FieldsV1 == nil || set.FromJSON(bytes.NewReader(e.FieldsV1.GetRawBytes())) != nil {
		return nil
	}
	var paths []string
	set.Leaves().Iterate(func(p fieldpath.Path) {
		if path := missing(schema, p); path != "" {
			paths = append(paths, path)
		}
	})
	return paths
}

// missing returns the beginning of a path that a schema does not have, without keys of maps and
// lists; empty if it has all of it.
func missing(schema *apiextensionsv1.JSONSchemaProps, path fieldpath.Path) string {
	var text strings.Builder
	for i, element := range path {
		if schema == nil {
			return ""
		}
		preserves := schema.XPreserveUnknownFields != nil && *schema.XPreserveUnknownFields
		next, has := (*apiextensionsv1.JSONSchemaProps)(nil), preserves
		switch name := element.FieldName; {
		case name == nil:
			text.WriteString("[]")
			if schema.Items != nil {
				next, has = schema.Items.Schema, true
			}
		case (i == 0 || schema.XEmbeddedResource) && (*name == "apiVersion" || *name == "kind" || *name == "metadata"):
			return ""
		case schema.AdditionalProperties != nil:
			text.WriteString(".*")
			next, has = schema.AdditionalProperties.Schema, has || schema.AdditionalProperties.Allows || schema.AdditionalProperties.Schema != nil
		default:
			text.WriteString("." + *name)
			if property, known := schema.Properties[*name]; known {
				next, has = &property, true
			}
		}
		if !has {
			return text.String()
		}
		schema = next
	}
	return ""
}
