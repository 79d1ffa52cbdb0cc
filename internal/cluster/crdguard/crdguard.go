package crdguard

import (
	"encoding/json"
	"fmt"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

// A Mode is what the guard does with a request that changes kept values.
type Mode string

const (
	// Validate refuses the request, by a ValidatingAdmissionPolicy (Kubernetes 1.30).
	Validate Mode = "validate"
	// Restore puts back what the request changes, by a MutatingAdmissionPolicy (Kubernetes 1.36).
	Restore Mode = "restore"
)

// Options are those of the guard.
type Options struct {
	// Mode is Validate or Restore.
	Mode Mode
	// AllowGroup is a group of users that the guard lets pass; empty means none.
	AllowGroup string
	// Webhook is where Conversion lets spec.conversion point as well as where it does: a URL, or
	// NAMESPACE/NAME:PORT/PATH of a Service. Empty means nowhere.
	Webhook string
}

// Annotations returns, as YAML, the guard of the values that webhookd keeps in annotations of a
// CRD's objects: a policy and its binding, for kept values of any version. The result is empty for
// a CRD with one version, whose objects need none. A CRD that an API server would refuse is an
// error.
func Annotations(crd *apiextensionsv1.CustomResourceDefinition, o Options) ([]byte, error) {
	kind, err := kindOf(crd)
	if err != nil || len(crd.Spec.Versions) < 2 {
		return nil, err
	}
	return []byte(kind.guard(o)), nil
}

// Convertible returns, as YAML, the gate for a CRD's objects: a policy and its binding for each
// served version that is not the storage version. The result is empty if only one version is
// served: then every written object is converted anyway, or none is. A CRD that an API server would
// refuse is an error.
func Convertible(crd *apiextensionsv1.CustomResourceDefinition) ([]byte, error) {
	kind, err := kindOf(crd)
	if err != nil {
		return nil, err
	}
	var gates []string
	for _, version := range others(crd) {
		gates = append(gates, kind.gate(version))
	}
	return []byte(strings.Join(gates, "---\n")), nil
}

// others returns the versions that the gate is for.
func others(crd *apiextensionsv1.CustomResourceDefinition) []string {
	var names []string
	served := 0
	for _, v := range crd.Spec.Versions {
		if v.Served {
			served++
		}
		if v.Served && !v.Storage {
			names = append(names, v.Name)
		}
	}
	if served < 2 {
		return nil
	}
	return names
}

// A kind has what the policies name of a CRD.
type kind struct{ group, plural string }

// kindOf returns the kind of a CRD. The policies have its names in YAML and in CEL, so they have to
// be names.
func kindOf(crd *apiextensionsv1.CustomResourceDefinition) (kind, error) {
	if crd.Name != crd.Spec.Names.Plural+"."+crd.Spec.Group || len(validation.IsDNS1123Subdomain(crd.Name)) > 0 {
		return kind{}, fmt.Errorf("%q: the name of a CRD has to be spec.names.plural, a dot and spec.group", crd.Name)
	}
	for i := range crd.Spec.Versions {
		if len(validation.IsDNS1035Label(crd.Spec.Versions[i].Name)) > 0 {
			return kind{}, fmt.Errorf("%s: spec.versions[%d].name: not the name of a version, write one such as v1beta1", crd.Name, i)
		}
	}
	return kind{group: crd.Spec.Group, plural: crd.Spec.Names.Plural}, nil
}

// guard renders the guard of annotations: a policy and its binding.
func (k *kind) guard(o Options) string {
	comment := "Refuses a request that changes, adds or removes annotations in which webhookd keeps values."
	policy, reinvocation, denial, action := "ValidatingAdmissionPolicy", "", "  validationActions: [Deny]\n", validationsYAML
	if o.Mode == Restore {
		comment = "Puts back what a request changes of the annotations in which webhookd keeps values, and takes away what it adds."
		policy, reinvocation, denial, action = "MutatingAdmissionPolicy", "  reinvocationPolicy: IfNeeded\n", "", mutationYAML
	}
	allowed := outsideOf(o.AllowGroup)
	if allowed != "" {
		allowed = "  matchConditions:\n" + allowed
	}
	return strings.NewReplacer(
		"$comment", comment, "$kind", policy, "$name", "webhookd-kept-values."+k.plural+"."+k.group,
		"$group", literal(k.group), "$plural", literal(k.plural),
		"$reinvocation", reinvocation, "$allowed", allowed, "$action", action, "$denial", denial,
	).Replace(guardYAML)
}

// gate renders the gate for a version that objects are not stored in: a policy and its binding.
func (k *kind) gate(version string) string {
	return strings.NewReplacer(
		"$version", version, "$name", "webhookd-convertible-"+version+"."+k.plural+"."+k.group,
		"$group", literal(k.group), "$plural", k.plural,
	).Replace(gateYAML)
}

// literal returns a string of YAML and of CEL.
func literal(s string) string {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err) // a string always encodes
	}
	return string(text)
}
