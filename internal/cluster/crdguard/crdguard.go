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

// Annotations returns, as YAML, the guard of the values that webhookd keeps in annotations and
// labels of a CRD's objects: a policy and its binding. It covers the versions of the CRD; values
// that were kept of another version may be removed. The result is empty for a CRD with one version,
// whose objects have no kept values. A CRD that an API server would refuse is an error.
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
type kind struct {
	group, plural        string
	versions, withStatus []string // all versions, and those with the subresource status
}

// kindOf returns the kind of a CRD. The policies have its names in YAML and in CEL, so they have to
// be names.
func kindOf(crd *apiextensionsv1.CustomResourceDefinition) (kind, error) {
	if crd.Name != crd.Spec.Names.Plural+"."+crd.Spec.Group || len(validation.IsDNS1123Subdomain(crd.Name)) > 0 {
		return kind{}, fmt.Errorf("%q: the name of a CRD has to be spec.names.plural, a dot and spec.group", crd.Name)
	}
	k := kind{group: crd.Spec.Group, plural: crd.Spec.Names.Plural}
	for i := range crd.Spec.Versions {
		v := &crd.Spec.Versions[i]
		if len(validation.IsDNS1035Label(v.Name)) > 0 {
			return kind{}, fmt.Errorf("%s: spec.versions[%d].name: not the name of a version, write one such as v1beta1", crd.Name, i)
		}
		k.versions = append(k.versions, v.Name)
		if v.Subresources != nil && v.Subresources.Status != nil {
			k.withStatus = append(k.withStatus, v.Name)
		}
	}
	return k, nil
}

// guard renders the guard of annotations and labels: a policy and its binding.
func (k *kind) guard(o Options) string {
	comment := "Refuses a request that changes or adds annotations or labels in which webhookd keeps values."
	policy, reinvocation, denial := "ValidatingAdmissionPolicy", "", "  validationActions: [Deny]\n"
	action := "  validations:\n" + ofBothMaps(validationsYAML)
	if o.Mode == Restore {
		comment = "Puts back what a request changes of the annotations and labels in which webhookd keeps values, and takes away what it adds."
		policy, reinvocation, denial = "MutatingAdmissionPolicy", "  reinvocationPolicy: IfNeeded\n", ""
		action = "  mutations:\n" +
			"    # Where no annotation is left, the map goes too: an empty one would make a write of a request that changes nothing.\n" +
			ofBothMaps(mutationYAML)
	}
	operations := "UPDATE"
	if len(k.withStatus) > 0 {
		operations = "CREATE, UPDATE"
	}
	allowed := outsideOf(o.AllowGroup)
	if allowed != "" {
		allowed = "  matchConditions:\n" + allowed
	}
	return strings.NewReplacer(
		"$comment", comment, "$kind", policy, "$name", "webhookd-kept-values."+k.plural+"."+k.group,
		"$group", literal(k.group), "$plural", literal(k.plural), "$operations", operations,
		"$reinvocation", reinvocation, "$allowed", allowed, "$prefixes", k.prefixes(),
		"$variables", ofBothMaps(variablesYAML), "$action", action, "$denial", denial,
	).Replace(guardYAML)
}

// prefixes returns a CEL expression of the prefixes of kept values. A new object may have those of
// its spec, which its author could also have written at the other version.
func (k *kind) prefixes() string {
	all, ofStatus := make([]string, 0, 2*len(k.versions)), make([]string, 0, len(k.withStatus))
	for _, v := range k.versions {
		all = append(all, `"conversion.webhookd.io/`+v+`."`, `"status.conversion.webhookd.io/`+v+`."`)
	}
	if len(k.withStatus) == 0 {
		return "[" + strings.Join(all, ", ") + "]"
	}
	for _, v := range k.withStatus {
		ofStatus = append(ofStatus, `"status.conversion.webhookd.io/`+v+`."`)
	}
	const indent = "\n        "
	return `request.operation == "CREATE"` + indent +
		"? [" + strings.Join(ofStatus, ", ") + "]" + indent +
		": [" + strings.Join(all, ", ") + "]"
}

// gate renders the gate for a version that objects are not stored in: a policy and its binding.
func (k *kind) gate(version string) string {
	return strings.NewReplacer(
		"$version", version, "$name", "webhookd-convertible-"+version+"."+k.plural+"."+k.group,
		"$group", literal(k.group), "$plural", k.plural,
	).Replace(gateYAML)
}

// ofBothMaps returns a part of a policy for annotations and for labels.
func ofBothMaps(part string) string {
	return strings.ReplaceAll(part, "$map", "annotations") + strings.ReplaceAll(part, "$map", "labels")
}

// literal returns a string of YAML and of CEL.
func literal(s string) string {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err) // a string always encodes
	}
	return string(text)
}
