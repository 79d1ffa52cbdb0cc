package crdguard

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"text/template"

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
}

//go:embed policies.tpl
var policies string

// Annotations returns, as YAML, the guard of the values that webhookd keeps in annotations and
// labels of a CRD's objects: a policy and its binding. It covers the versions of the CRD; values
// that were kept of another version may be removed. The result is empty for a CRD with one version,
// whose objects have no kept values. A CRD that an API server would refuse is an error.
func Annotations(crd *apiextensionsv1.CustomResourceDefinition, o Options) ([]byte, error) {
	kind, err := kindOf(crd)
	if err != nil || len(crd.Spec.Versions) < 2 {
		return nil, err
	}
	kind["mode"], kind["allowGroup"] = string(o.Mode), o.AllowGroup
	return render("webhookd.guard.annotations", kind)
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
	return render("webhookd.guard.convertible", kind)
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

// kindOf returns the values of a kind for policies.tpl, which has its names in YAML and in CEL. So
// they have to be names.
func kindOf(crd *apiextensionsv1.CustomResourceDefinition) (map[string]any, error) {
	if crd.Name != crd.Spec.Names.Plural+"."+crd.Spec.Group || len(validation.IsDNS1123Subdomain(crd.Name)) > 0 {
		return nil, fmt.Errorf("name of a CRD has to be spec.names.plural, a dot and spec.group: %q", crd.Name)
	}
	var versions, withStatus []string
	for i := range crd.Spec.Versions {
		v := &crd.Spec.Versions[i]
		if len(validation.IsDNS1035Label(v.Name)) > 0 {
			return nil, fmt.Errorf("not the name of a version, write one such as v1beta1: %s: spec.versions[%d].name", crd.Name, i)
		}
		versions = append(versions, v.Name)
		if v.Subresources != nil && v.Subresources.Status != nil {
			withStatus = append(withStatus, v.Name)
		}
	}
	return map[string]any{
		"group": crd.Spec.Group, "plural": crd.Spec.Names.Plural,
		"versions": versions, "statusVersions": withStatus, "others": others(crd), "labels": nil,
	}, nil
}

func render(name string, kind map[string]any) ([]byte, error) {
	t, err := template.New("policies.tpl").Funcs(template.FuncMap{"toJson": toJSON}).Parse(policies)
	if err != nil {
		return nil, fmt.Errorf("cannot read the policies: %w", err)
	}
	var out bytes.Buffer
	if err := t.ExecuteTemplate(&out, name, kind); err != nil {
		return nil, fmt.Errorf("cannot render the policies: %w", err)
	}
	return out.Bytes(), nil
}

// toJSON is like Helm's function.
func toJSON(v any) (string, error) {
	text, err := json.Marshal(v)
	return string(text), err
}
