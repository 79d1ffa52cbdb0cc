package controlplane_test

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/test/e2e/scenario"
	"github.com/crdconvert/webhookd/test/e2e/webhook"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/crdconvert/webhookd/test/controlplane/plane"
)

// An installation is one of the chart, in a namespace of its own and for a CRD in a group of its
// own, so that several can be there at once.
type installation struct {
	mode      chartMode
	plane     *plane.Plane
	namespace string        // of the objects
	release   string        // namespace of the release
	client    *plane.Client // helm
	kubectl   *plane.Client
	values    []string
	files     map[string]string // of rules
}

func newInstallation(t *testing.T, p *plane.Plane, m chartMode) *installation {
	t.Helper()
	i := &installation{
		mode: m, plane: p, namespace: "chart-" + m.name, client: p.Helm(t), kubectl: p.Kubectl(t, p.Token(plane.Admin)),
		values: append([]string{"replicaCount=1", "jobs.backoffLimit=0"}, m.values...),
	}
	i.files = map[string]string{"rules": i.rules(":")}
	if i.release = i.namespace; m.release != "" {
		i.release = m.release
		p.MakeNamespace(t, i.release, nil)
	}
	p.MakeNamespace(t, i.namespace, map[string]string{"pod-security.kubernetes.io/enforce": "restricted"})
	return i
}

func (i *installation) group() string { return i.mode.name + ".example.com" }

func (i *installation) crd() string { return "crontabs." + i.group() }

// rules convert the CRD, with a separator between host and port.
func (i *installation) rules(separator string) string {
	return strings.NewReplacer("GROUP", i.group(), "SEPARATOR", separator).Replace(`apiVersion: conversion.webhookd.io/v1beta1
kind: Conversion
metadata: {name: crontabs.GROUP}
spec:
  hub: v1
  versions:
  - name: v1beta1
    unmapped: Preserve
    rules:
    - {spoke: .hostPort, hub: {host: .host, port: .port}, template: "{host}SEPARATOR{port}", absent: ""}
`)
}

// makeCRD makes the CRD of the example, without a conversion, and has its file at hand.
func (i *installation) makeCRD(t *testing.T) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(webhook.Root(t), "examples", "crontab-rules", "crd.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var crd map[string]any
	if err := yaml.Unmarshal(bytes.ReplaceAll(text, []byte("rules.example.com"), []byte(i.group())), &crd); err != nil {
		t.Fatal(err)
	}
	spec, ok := crd["spec"].(map[string]any)
	if !ok {
		t.Fatal("a CRD without a spec")
	}
	delete(spec, "conversion")
	for _, version := range spec["versions"].([]any) { //nolint:forcetypeassert // those of a CRD
		addStatus(t, version.(map[string]any)) //nolint:forcetypeassert // one of a CRD
	}
	metadata, ok := crd["metadata"].(map[string]any)
	if !ok {
		t.Fatal("a CRD without metadata")
	}
	delete(metadata, "annotations")
	unwired, err := yaml.Marshal(crd)
	if err != nil {
		t.Fatal(err)
	}
	i.client.Write(t, "crd.yaml", string(unwired))
	i.kubectl.Write(t, "crd.yaml", string(unwired))
	i.kubectl.Run(t, "apply", "-f", "crd.yaml")
	established(t, i.kubectl, i.crd())
}

// addStatus gives a version a status with a field that no other version has.
func addStatus(t *testing.T, version map[string]any) {
	t.Helper()
	status := map[string]any{"type": "object", "properties": map[string]any{ownField(fmt.Sprint(version["name"])): map[string]any{"type": "string"}}}
	version["subresources"] = map[string]any{"status": map[string]any{}}
	if err := unstructured.SetNestedMap(version, status, "schema", "openAPIV3Schema", "properties", "status"); err != nil {
		t.Fatal(err)
	}
}

// established waits until the API server serves the kinds of a CRD. kubectl wait gives up on one
// that was just created, whose conditions are null for a moment.
func established(t *testing.T, kubectl *plane.Client, crd string) {
	t.Helper()
	scenario.Eventually(t, "the CRD to be established", func() bool {
		out, err := kubectl.Try(t, "wait", "--for=condition=established", "--timeout=1m", "crd/"+crd)
		if err != nil && !strings.Contains(out, "accessor error") {
			t.Fatalf("%v\n%s", err, out)
		}
		return err == nil
	})
}

func (i *installation) args(args ...string) []string { return append(args, "--namespace="+i.namespace) }

func (i *installation) ofRelease(args ...string) []string {
	return append(args, "--namespace="+i.release)
}

// run runs helm.
func (i *installation) run(t *testing.T, args ...string) {
	t.Helper()
	i.client.Run(t, i.ofRelease(args...)...)
}

func (i *installation) chart(t *testing.T) string {
	t.Helper()
	return filepath.Join(webhook.Root(t), "deploy", "helm", "webhookd")
}

// helm installs or upgrades.
func (i *installation) helm(t *testing.T, verb string) {
	t.Helper()
	args := []string{verb, "webhookd", i.chart(t), "--wait", "--timeout=90s"}
	for _, v := range i.values {
		args = append(args, "--set="+v)
	}
	if i.mode.more != "" {
		i.client.Write(t, "values.yaml", i.mode.more)
		args = append(args, "--values=values.yaml")
	}
	for name, text := range maps.All(i.files) {
		i.client.Write(t, name+".yaml", text)
		args = append(args, "--set-file=rules."+name+"="+name+".yaml")
	}
	i.run(t, args...)
}

// webhookFolder is where a user has webhookd.
func webhookFolder(t *testing.T) string {
	t.Helper()
	return filepath.Dir(webhook.Build(t))
}

// pods are the names of the pods that serve.
func (i *installation) pods(t *testing.T) string {
	t.Helper()
	return i.kubectl.Run(t, i.args("get", "pods", "-l", "app.kubernetes.io/component=server", "-o", "name")...)
}

// wantCronTab makes an object at v1beta1 and reads it at v1, as soon as the API server knows how.
func (i *installation) wantCronTab(t *testing.T, name, hostPort, want string) {
	t.Helper()
	scenario.Eventually(t, name+" at v1", func() bool { return i.readCronTab(t, name, hostPort) == want })
}

func (i *installation) readCronTab(t *testing.T, name, hostPort string) string {
	t.Helper()
	i.kubectl.Write(t, name+".yaml", "apiVersion: "+i.group()+"/v1beta1\nkind: CronTab\nmetadata: {name: "+name+"}\nhostPort: "+hostPort+"\n")
	if _, err := i.kubectl.Try(t, "apply", "--server-side", "--force-conflicts", "-f", name+".yaml"); err != nil {
		return ""
	}
	out, err := i.kubectl.Try(t, "get", "crontabs.v1."+i.group(), name, "-o", "jsonpath={.host} {.port}")
	if err != nil {
		return ""
	}
	return out
}
