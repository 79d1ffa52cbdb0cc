package chart_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"

	"github.com/crdconvert/webhookd/test/chart"
)

const kustomizeDir = "../../deploy/kustomize"

// The base for kustomize is what the chart renders for its values, without the labels of Helm.
func TestKustomizeBaseIsTheChart(t *testing.T) {
	t.Parallel()
	v, err := chart.ReadValues(filepath.Join(kustomizeDir, "values.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	rendering, err := chart.RenderIn("webhookd", v, nil)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("# Rendered from the chart with ../values.yaml; do not edit.\n")
	for _, o := range objects(t, rendering) {
		withoutHelm(o)
		text, err := yaml.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		b.WriteString("---\n" + string(text))
	}
	golden(t, filepath.Join(kustomizeDir, "base", "webhookd.yaml"), b.String())
}

// withoutHelm removes labels that only a release of Helm has.
func withoutHelm(value any) {
	switch value := value.(type) {
	case map[string]any:
		delete(value, "helm.sh/chart")
		if value["app.kubernetes.io/managed-by"] == "Helm" {
			delete(value, "app.kubernetes.io/managed-by")
		}
		for _, below := range value {
			withoutHelm(below)
		}
	case []any:
		for _, below := range value {
			withoutHelm(below)
		}
	}
}

// The example builds with the files of examples/widget: the pods mount its ConfigMaps, and the CRD
// points at the Service of the base.
func TestKustomizeExampleBuilds(t *testing.T) {
	t.Parallel()
	root, err := filesys.NewTmpConfirmedDir()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(root.String()) })
	if err := os.CopyFS(root.String(), os.DirFS(kustomizeDir)); err != nil {
		t.Fatal(err)
	}
	example := filepath.Join(root.String(), "example")
	for _, name := range []string{"rules.yaml", "crd.yaml"} {
		text, err := os.ReadFile(filepath.Join("..", "..", "examples", "widget", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(example, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	options := krusty.MakeDefaultOptions()
	options.PluginConfig = types.DisabledPluginConfig()
	built, err := krusty.MakeKustomizer(options).Run(filesys.MakeFsOnDisk(), example)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]map[string]any{}
	for _, r := range built.Resources() {
		o, err := r.Map()
		if err != nil {
			t.Fatal(err)
		}
		found[r.GetKind()+"/"+r.GetName()] = o
		if namespace := at(t, o, "metadata", "namespace"); namespace != "webhookd" && r.GetKind() != "Namespace" && r.GetKind() != "CustomResourceDefinition" {
			t.Errorf("%s %s is in namespace %q", r.GetKind(), r.GetName(), namespace)
		}
	}
	for _, name := range []string{"Namespace/webhookd", "Deployment/webhookd", "Certificate/webhookd", "ConfigMap/webhookd-conversions", "ConfigMap/webhookd-crds"} {
		if found[name] == nil {
			t.Errorf("no %s", name)
		}
	}
	crd := found["CustomResourceDefinition/widgets.shop.example.com"]
	for path, want := range map[string]string{"name": "webhookd", "namespace": "webhookd", "path": "/crdconvert"} {
		if got := at(t, crd, "spec", "conversion", "webhook", "clientConfig", "service", path); got != want {
			t.Errorf("%s of the Service is %q, want %q", path, got, want)
		}
	}
	if at(t, crd, "metadata", "annotations", "cert-manager.io/inject-ca-from") != "webhookd/webhookd" {
		t.Error("cert-manager does not fill in the CA")
	}
}
