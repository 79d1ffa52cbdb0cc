package scenario

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/crdconvert/webhookd/test/e2e/webhook"
)

// CRD loads examples/crds/NAME.yaml of this tree, without the annotations for cert-manager.
func CRD(t *testing.T, name string) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(webhook.Root(t), "examples", "crds", name+".yaml")) //nolint:gosec // a file of this tree
	if err != nil {
		t.Fatal(err)
	}
	crd := ParseCRD(t, string(text))
	crd.Annotations = nil
	return crd
}

// ParseCRD reads a CRD that a scenario writes down as YAML.
func ParseCRD(t *testing.T, text string) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict([]byte(text), crd); err != nil {
		t.Fatalf("CRD: %v", err)
	}
	return crd
}

// Version returns a version of a CRD, to change it.
func Version(t *testing.T, crd *apiextensionsv1.CustomResourceDefinition, name string) *apiextensionsv1.CustomResourceDefinitionVersion {
	t.Helper()
	for i := range crd.Spec.Versions {
		if crd.Spec.Versions[i].Name == name {
			return &crd.Spec.Versions[i]
		}
	}
	t.Fatalf("CRD %s has no version %s", crd.Name, name)
	return nil
}

// SetStorage makes one version of a CRD the one that is stored.
func SetStorage(t *testing.T, crd *apiextensionsv1.CustomResourceDefinition, name string) {
	t.Helper()
	for i := range crd.Spec.Versions {
		crd.Spec.Versions[i].Storage = false
	}
	Version(t, crd, name).Storage = true
}

// servedVersions returns the names of the versions that are served.
func servedVersions(crd *apiextensionsv1.CustomResourceDefinition) []string {
	var names []string
	for _, v := range crd.Spec.Versions {
		if v.Served {
			names = append(names, v.Name)
		}
	}
	return names
}

// storageVersion returns the name of the version that is stored.
func storageVersion(crd *apiextensionsv1.CustomResourceDefinition) string {
	i := slices.IndexFunc(crd.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return v.Storage })
	return crd.Spec.Versions[i].Name
}
