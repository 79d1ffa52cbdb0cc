package crdwire

import (
	"encoding/json"
	"fmt"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// needed is the part of a CRD, or of an XRD, that is read from an API server: no schemas, which are
// megabytes, and ten times as much once decoded. The Jobs that read all CRDs have little memory.
type needed struct {
	CRD

	Spec struct {
		apiextensionsv1.CustomResourceDefinitionSpec

		Versions []struct {
			apiextensionsv1.CustomResourceDefinitionVersion

			Schema struct{} `json:"schema"`
			// Referenceable is Storage of an XRD.
			Referenceable bool `json:"referenceable"`
		} `json:"versions"`
		// ClaimNames are of an XRD.
		ClaimNames *apiextensionsv1.CustomResourceDefinitionNames `json:"claimNames"`
	} `json:"spec"`
}

// crd returns the CRD, with the annotations of injectors and the managedFields of spec.conversion
// only.
func (n *needed) crd() *CRD {
	crd := &n.CRD
	crd.Spec = n.Spec.CustomResourceDefinitionSpec
	for i := range n.Spec.Versions {
		crd.Spec.Versions = append(crd.Spec.Versions, n.Spec.Versions[i].CustomResourceDefinitionVersion)
		crd.Spec.Versions[i].Storage = crd.Spec.Versions[i].Storage || n.Spec.Versions[i].Referenceable
	}
	keepInjectors(crd.Annotations) // kubectl keeps the whole object in another
	for i := range crd.ManagedFields {
		if fields := crd.ManagedFields[i].FieldsV1; fields != nil {
			fields.SetRawBytes(ofConversion(fields.GetRawBytes()))
		}
	}
	return crd
}

// parseNeeded reads the needed part of a CRD, and its schemas if schemas returns true for it.
func parseNeeded(text []byte, schemas func(*CRD) bool) (*CRD, error) {
	var n needed
	if err := json.Unmarshal(text, &n); err != nil {
		return nil, fmt.Errorf("%s that cannot be read: %w", crdKind, err)
	}
	crd := n.crd()
	if schemas == nil || !schemas(crd) {
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

// ofConversion returns the part of a manager's fields at and below spec.conversion.
func ofConversion(fields []byte) []byte {
	var of struct {
		Spec struct {
			Conversion json.RawMessage `json:"f:conversion,omitempty"`
		} `json:"f:spec,omitzero"`
	}
	_ = json.Unmarshal(fields, &of) // fields that cannot be read are none
	text, err := json.Marshal(of)
	if err != nil {
		return []byte("{}")
	}
	return text
}

// A Need is what the API server needs the webhook of a CRD for.
type Need struct {
	// All means that objects can be neither read nor written without it: more than one version is
	// served or stored.
	All bool
	// Idle are the versions that are neither served nor stored, if nothing else needs the webhook.
	// Requests are for served versions, and objects are read from stored ones. But managedFields
	// may have entries at an idle version, since they stay when it is no longer served, and the API
	// server converts an object to it to compare a change. Without the webhook such an object
	// cannot be applied, and older API servers drop all its managedFields at any other change.
	Idle []string
}

// Any reports whether the webhook is needed.
func (n *Need) Any() bool { return n.All || len(n.Idle) > 0 }

// NeedOf returns what a CRD needs its webhook for: nothing, if it points at another target. The
// zero Target means any webhook.
func NeedOf(crd *CRD, target Target) Need {
	at, is := TargetOf(crd)
	if !is || target != (Target{}) && !at.Same(target) {
		return Need{}
	}
	used := slices.Clone(crd.Status.StoredVersions)
	var idle []string
	for _, v := range crd.Spec.Versions {
		switch {
		case slices.Contains(used, v.Name):
		case v.Served || v.Storage:
			used = append(used, v.Name)
		default:
			idle = append(idle, v.Name)
		}
	}
	if len(used) > 1 {
		return Need{All: true}
	}
	return Need{Idle: idle}
}
