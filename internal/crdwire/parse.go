package crdwire

import (
	"crypto/x509"
	"encoding/json"
	"fmt"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/crdconvert/webhookd/internal/yamljson"
)

type certificate = *x509.Certificate

// Parse returns the CRDs of a YAML or JSON text; lists are looked through, and other kinds are left out.
func Parse(text []byte) ([]*CRD, error) {
	documents, err := yamljson.ToJSON(text)
	if err != nil {
		return nil, err
	}
	var crds []*CRD
	for _, document := range documents {
		if crds, err = parseObject(crds, document); err != nil {
			return nil, err
		}
	}
	return crds, nil
}

func parseObject(crds []*CRD, text []byte) ([]*CRD, error) {
	var head struct {
		APIVersion string            `json:"apiVersion"`
		Kind       string            `json:"kind"`
		Items      []json.RawMessage `json:"items"`
	}
	_ = json.Unmarshal(text, &head) // what is no object is no CRD
	if isList(head.APIVersion, head.Kind) {
		for _, item := range head.Items {
			var err error
			if crds, err = parseObject(crds, item); err != nil {
				return nil, err
			}
		}
		return crds, nil
	}
	if head.Kind != crdKind || !strings.HasPrefix(head.APIVersion, apiextensionsv1.GroupName+"/") {
		return crds, nil
	}
	var crd CRD
	if err := json.Unmarshal(text, &crd); err != nil {
		return nil, fmt.Errorf("%s that cannot be read: %w", crdKind, err)
	}
	if head.APIVersion != apiextensionsv1.SchemeGroupVersion.String() {
		return nil, fmt.Errorf("write it as %s first, no API server serves %s any more: %s", apiextensionsv1.SchemeGroupVersion, head.APIVersion, crd.Name)
	}
	return append(crds, &crd), nil
}
