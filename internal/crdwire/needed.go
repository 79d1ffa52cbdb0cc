package crdwire

import (
	"encoding/json"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// needed is what is read of a CRD from an API server: all but its schemas and annotations, and of its
// managedFields those of spec.conversion. Schemas are megabytes, and ten times as much when they are decoded, of each CRD; the
// Jobs that read them have little memory.
type needed struct {
	metav1.TypeMeta `json:",inline"`

	Metadata metav1.ObjectMeta `json:"metadata"`
	Spec     struct {
		Group      string                                        `json:"group"`
		Names      apiextensionsv1.CustomResourceDefinitionNames `json:"names"`
		Scope      apiextensionsv1.ResourceScope                 `json:"scope"`
		Conversion *apiextensionsv1.CustomResourceConversion     `json:"conversion"`
		Versions   []struct {
			Name    string `json:"name"`
			Served  bool   `json:"served"`
			Storage bool   `json:"storage"`

			Subresources *apiextensionsv1.CustomResourceSubresources `json:"subresources"`
		} `json:"versions"`
	} `json:"spec"`
	Status struct {
		StoredVersions []string `json:"storedVersions"`
	} `json:"status"`
}

func (n *needed) crd() *CRD {
	crd := &CRD{TypeMeta: n.TypeMeta, ObjectMeta: n.Metadata}
	crd.Spec.Group, crd.Spec.Names, crd.Spec.Scope, crd.Spec.Conversion = n.Spec.Group, n.Spec.Names, n.Spec.Scope, n.Spec.Conversion
	for _, v := range n.Spec.Versions {
		crd.Spec.Versions = append(crd.Spec.Versions, apiextensionsv1.CustomResourceDefinitionVersion{
			Name: v.Name, Served: v.Served, Storage: v.Storage, Subresources: v.Subresources,
		})
	}
	crd.Status.StoredVersions = n.Status.StoredVersions
	crd.Annotations = nil // kubectl keeps the whole object in one
	for i := range crd.ManagedFields {
		if fields := crd.ManagedFields[i].FieldsV1; fields != nil {
			fields.SetRawBytes(ofConversion(fields.GetRawBytes()))
		}
	}
	return crd
}

// parseNeeded reads what is needed of a CRD, and its schemas if schemas returns true for its name.
func parseNeeded(text []byte, schemas func(name string) bool) (*CRD, error) {
	var n needed
	if err := json.Unmarshal(text, &n); err != nil {
		return nil, fmt.Errorf("%s that cannot be read: %w", crdKind, err)
	}
	crd := n.crd()
	if schemas == nil || !schemas(crd.Name) {
		return crd, nil
	}
	var whole CRD
	if err := json.Unmarshal(text, &whole); err != nil {
		return nil, fmt.Errorf("%s that cannot be read: %w", crdKind, err)
	}
	for i := range crd.Spec.Versions {
		crd.Spec.Versions[i].Schema = whole.Spec.Versions[i].Schema
	}
	return crd, nil
}

// ofConversion returns what of a manager's fields is spec.conversion or below it.
func ofConversion(fields []byte) []byte {
	var of struct {
		Spec struct {
			Conversion json.RawMessage `json:"f:conversion,omitempty"`
		} `json:"f:spec"`
	}
	if json.Unmarshal(fields, &of) != nil || of.Spec.Conversion == nil {
		return []byte("{}")
	}
	text, err := json.Marshal(of)
	if err != nil {
		return []byte("{}")
	}
	return text
}
