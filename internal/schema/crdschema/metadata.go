package crdschema

import (
	"maps"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
)

// withMeta returns the schema with the fields that every object has. A CRD's own schema of
// metadata.name and metadata.generateName takes precedence.
func withMeta(s *schema.Structural) *schema.Structural {
	whole := *s
	whole.Properties = make(map[string]schema.Structural, len(s.Properties)+3)
	maps.Copy(whole.Properties, s.Properties)
	for _, name := range []string{"apiVersion", "kind"} {
		if _, found := whole.Properties[name]; !found {
			whole.Properties[name] = typed("string")
		}
	}
	metadata := object(metaFields())
	maps.Copy(metadata.Properties, s.Properties["metadata"].Properties)
	whole.Properties["metadata"] = metadata
	return &whole
}

// metaFields returns the fields of metav1.ObjectMeta.
func metaFields() map[string]schema.Structural {
	str, flag, integer, time := typed("string"), typed("boolean"), typed("integer"), typed("string")
	integer.ValueValidation = &schema.ValueValidation{Format: "int64"}
	time.ValueValidation = &schema.ValueValidation{Format: "date-time"}
	time.Nullable = true
	owner := object(map[string]schema.Structural{
		"apiVersion": str, "kind": str, "name": str, "uid": str, "controller": flag, "blockOwnerDeletion": flag,
	})
	owner.ValueValidation = &schema.ValueValidation{Required: []string{"apiVersion", "kind", "name", "uid"}}
	owners, owned := list(owner), "map"
	owners.XListType, owners.XListMapKeys = &owned, []string{"uid"}
	finalizers, set := list(str), "set"
	finalizers.XListType = &set
	fieldsV1 := typed("object")
	fieldsV1.XPreserveUnknownFields = true
	return map[string]schema.Structural{
		"name": str, "generateName": str, "namespace": str, "selfLink": str, "uid": str, "resourceVersion": str,
		"generation": integer, "creationTimestamp": time, "deletionTimestamp": time, "deletionGracePeriodSeconds": integer,
		"labels": mapOf(str), "annotations": mapOf(str), "ownerReferences": owners, "finalizers": finalizers,
		"managedFields": list(object(map[string]schema.Structural{
			"manager": str, "operation": str, "apiVersion": str, "time": time, "fieldsType": str, "fieldsV1": fieldsV1,
			"subresource": str,
		})),
	}
}

func typed(name string) schema.Structural {
	return schema.Structural{Generic: schema.Generic{Type: name}}
}

func object(properties map[string]schema.Structural) schema.Structural {
	s := typed("object")
	s.Properties = properties
	return s
}

func mapOf(values schema.Structural) schema.Structural {
	s := typed("object")
	s.AdditionalProperties = &schema.StructuralOrBool{Structural: &values, Bool: true}
	return s
}

func list(items schema.Structural) schema.Structural {
	s := typed("array")
	s.Items = &items
	return s
}
