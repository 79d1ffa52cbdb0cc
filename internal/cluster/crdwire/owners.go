package crdwire

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// The field managers of webhookd. ManagerWire owns spec.conversion, ManagerCerts only caBundle.
// There are two because server-side apply removes the fields that a manager does not send again.
const (
	ManagerWire  = "webhookd"
	ManagerCerts = "webhookd-certs"
)

// An owner is a field manager of a field.
type owner struct {
	manager string
	applies bool // by server-side apply, and not just because it wrote the object
	since   time.Time
}

// ownersOf returns the owners of a field: ownersOf(crd, "f:spec", "f:conversion",
// "f:strategy").
func ownersOf(crd *CRD, path ...string) []owner {
	var owners []owner
	for _, entry := range crd.ManagedFields {
		if entry.FieldsV1 == nil {
			continue
		}
		var fields map[string]any
		_ = json.Unmarshal(entry.FieldsV1.GetRawBytes(), &fields) // fields that cannot be read are none
		if _, found, _ := unstructured.NestedFieldNoCopy(fields, path...); !found {
			continue
		}
		o := owner{manager: entry.Manager, applies: entry.Operation == metav1.ManagedFieldsOperationApply}
		if entry.Time != nil {
			o.since = entry.Time.Time
		}
		owners = append(owners, o)
	}
	return owners
}

// managerOf takes the name out of the API server's message: conflict with "kubectl" using v1.
func managerOf(conflict metav1.StatusCause) string {
	_, rest, _ := strings.Cut(conflict.Message, `"`)
	name, _, _ := strings.Cut(rest, `"`)
	return name
}

// mayTake reports whether a field may be taken from its owner without --force: fields of webhookd's
// own, and a strategy None that its owner did not apply, since the API server sets that default on
// behalf of the manager that wrote the object.
func mayTake(crd *CRD, conflict metav1.StatusCause) bool {
	manager := managerOf(conflict)
	if manager == ManagerWire || manager == ManagerCerts {
		return true
	}
	if conflict.Field != ".spec.conversion.strategy" || crd.Spec.Conversion == nil ||
		crd.Spec.Conversion.Strategy != apiextensionsv1.NoneConverter {
		return false
	}
	return !slices.ContainsFunc(ownersOf(crd, "f:spec", "f:conversion", "f:strategy"), func(o owner) bool { return o.manager == manager && o.applies })
}

// A ConflictError lists the fields that belong to another manager.
type ConflictError struct {
	Name      string // of the CRD
	Conflicts []metav1.StatusCause
	Remedy    string
}

// Error implements error: a line for each field.
func (e *ConflictError) Error() string {
	var text strings.Builder
	for _, c := range e.Conflicts {
		fmt.Fprintf(&text, "%s: field manager %q owns %s, with another value\n", e.Name, managerOf(c), strings.TrimPrefix(c.Field, "."))
	}
	return text.String() + e.Remedy
}

// injectors are the programs that fill in the caBundle of a CRD with an annotation: see
// https://cert-manager.io/docs/concepts/ca-injector and the service CA operator of OpenShift.
func injectors() map[string]string {
	return map[string]string{
		"cert-manager.io/inject-ca-from":            "cert-manager's cainjector",
		"cert-manager.io/inject-ca-from-secret":     "cert-manager's cainjector",
		"cert-manager.io/inject-apiserver-ca":       "cert-manager's cainjector",
		"service.beta.openshift.io/inject-cabundle": "OpenShift's service CA operator",
	}
}

// injector returns what annotations of a CRD ask to fill in the caBundle, and by which one.
func injector(annotations map[string]string) (by, annotation string) {
	for annotation, by := range injectors() {
		if annotations[annotation] != "" {
			return by, annotation
		}
	}
	return "", ""
}

// keepInjectors removes all other annotations.
func keepInjectors(annotations map[string]string) {
	known := injectors()
	maps.DeleteFunc(annotations, func(name, _ string) bool { return known[name] == "" })
}
