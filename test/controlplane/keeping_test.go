package controlplane_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/test/e2e/scenario"
	"github.com/crdconvert/webhookd/test/e2e/webhook"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// machinesWebhookd starts a webhookd for machines: each version has fields that the other one has
// not, in its spec and in its status.
func machinesWebhookd(t *testing.T, e *scenario.Env) *webhook.Process {
	t.Helper()
	return e.Webhookd(t, "--rules", filepath.Join("testdata", "guard", "conversion.yaml"),
		"--crds", filepath.Join("testdata", "guard", "crd.yaml"))
}

func machinesCRD(t *testing.T) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	return scenario.ParseCRD(t, readFile(t, filepath.Join("testdata", "guard", "crd.yaml")))
}

// ownField is the field of spec, and of status, that one version alone has.
func ownField(version string) string { return version + "Only" }

// keptKey is the key of the annotation that keeps what a version has at a path.
func keptKey(version string, path ...string) string {
	return keptPrefix(version, path[0] == "status") + strings.Join(path, ".")
}

func keptPrefix(version string, status bool) string {
	if status {
		return "status.conversion.webhookd.io/" + version + "."
	}
	return "conversion.webhookd.io/" + version + "."
}

// keptValue is what such an annotation has of a text.
func keptValue(text string) string { return fmt.Sprintf(`{"value":%q}`, text) }
