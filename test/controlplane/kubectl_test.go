package controlplane_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/crdconvert/webhookd/test/e2e/scenario"
	"github.com/crdconvert/webhookd/test/e2e/webhook"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/crdconvert/webhookd/test/controlplane/plane"
)

// kubectl replays the transcripts in testdata/kubectl: what a user does at both versions of a kind.
func kubectl(t *testing.T, p *plane.Plane) {
	t.Helper()
	e := byService(t, p)
	w := e.Webhookd(t)
	r := e.Install(t, crontabsWithColumns(t), w)
	paths, err := filepath.Glob("testdata/kubectl/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			client := p.Kubectl(t, p.Token(plane.Admin))
			for name, text := range kubectlFiles(t) {
				client.Write(t, name, text)
			}
			r.MustConvert(t, w, 1, func() { replay(t, client, path) })
		})
	}
}

// kubectlFiles are the files in the folder where kubectl runs.
func kubectlFiles(t *testing.T) map[string]string {
	t.Helper()
	files := map[string]string{
		"alice.yaml":        "{apiVersion: example.com/v1beta1, kind: CronTab, metadata: {name: shared}, hostPort: 'localhost:1234'}",
		"alice-again.yaml":  "{apiVersion: example.com/v1beta1, kind: CronTab, metadata: {name: shared}, hostPort: 'localhost:4321'}",
		"bob.yaml":          "{apiVersion: example.com/v1, kind: CronTab, metadata: {name: shared}, spec: {replicas: 2}}",
		"bob-conflict.yaml": "{apiVersion: example.com/v1, kind: CronTab, metadata: {name: shared}, host: example.com, spec: {replicas: 2}}",
		"editor":            "#!/bin/sh\nexec sed -i s/8080/9090/ \"$1\"\n",
	}
	for _, name := range []string{"crontab-v1beta1.yaml", "crontab-v1.yaml"} {
		text, err := os.ReadFile(filepath.Join(webhook.Root(t), "examples", "crontab", name))
		if err != nil {
			t.Fatal(err)
		}
		files[name] = string(text)
	}
	return files
}

// crontabsWithColumns is the CRD of the examples with columns and selectable fields of its own at
// each version.
func crontabsWithColumns(t *testing.T) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	crd := scenario.CRD(t, "crontabs.example.com")
	column := func(name, path string, priority int32) apiextensionsv1.CustomResourceColumnDefinition {
		return apiextensionsv1.CustomResourceColumnDefinition{Name: name, Type: "string", JSONPath: path, Priority: priority}
	}
	v1beta1, v1 := scenario.Version(t, crd, "v1beta1"), scenario.Version(t, crd, "v1")
	v1beta1.AdditionalPrinterColumns = []apiextensionsv1.CustomResourceColumnDefinition{
		column("HostPort", ".hostPort", 0), column("Image", ".spec.image", 1),
	}
	v1beta1.SelectableFields = []apiextensionsv1.SelectableField{{JSONPath: ".hostPort"}}
	v1.AdditionalPrinterColumns = []apiextensionsv1.CustomResourceColumnDefinition{
		column("Host", ".host", 0), column("Port", ".port", 0), column("Image", ".spec.image", 1),
	}
	v1.SelectableFields = []apiextensionsv1.SelectableField{{JSONPath: ".host"}, {JSONPath: ".port"}}
	return crd
}
