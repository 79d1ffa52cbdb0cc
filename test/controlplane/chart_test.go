package controlplane_test

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/internal/tlsreload/tlstest"
	"github.com/crdconvert/webhookd/test/e2e/scenario"
	"github.com/crdconvert/webhookd/test/e2e/webhook"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/crdconvert/webhookd/test/controlplane/plane"
)

// A chartMode is a way to install the chart. What it installs is run by a node.
type chartMode struct {
	name   string
	values []string
	// prepare makes what is there before.
	prepare func(t *testing.T, p *plane.Plane, namespace string)
	jobs    bool // Jobs point the CRD at webhookd, and keep it from being left behind
}

func chartModes() []chartMode {
	return []chartMode{
		{name: "helm", values: []string{"tls.mode=helm", "crdWiring.mode=job"}, jobs: true},
		{name: "self-managed", values: []string{"tls.mode=selfManaged", "crdWiring.mode=job"}, jobs: true},
		{
			name: "existing-secret", values: []string{"tls.mode=existingSecret", "tls.existingSecret=mine", "crdWiring.mode=job"}, jobs: true,
			prepare: func(t *testing.T, p *plane.Plane, namespace string) {
				t.Helper()
				pairInSecret(t, p, namespace, "mine")
			},
		},
		{
			name: "cert-manager", values: []string{"tls.mode=certManager", "crdWiring.mode=annotate"},
			prepare: func(t *testing.T, p *plane.Plane, namespace string) {
				t.Helper()
				standIn(t, p)
				pairInSecret(t, p, namespace, "webhookd-cert")
			},
		},
	}
}

// charts installs the chart in each mode, as a user does, with its Jobs and its server running as
// processes with the rights that the chart gives them; reads objects at both versions; changes the rules;
// upgrades, rolls back, and uninstalls.
func charts(t *testing.T, p *plane.Plane) {
	t.Helper()
	p.StartControllers(t)
	for _, m := range chartModes() {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			m.run(t, p)
		})
	}
}

// group is that of the mode's own CronTabs, so that the modes can run at once.
func (m chartMode) group() string { return m.name + ".example.com" }

func (m chartMode) crd() string { return "crontabs." + m.group() }

func (m chartMode) run(t *testing.T, p *plane.Plane) {
	t.Helper()
	namespace := "chart-" + m.name
	p.MakeNamespace(t, namespace, map[string]string{"pod-security.kubernetes.io/enforce": "restricted"})
	kubectl := p.Kubectl(t, p.Token(plane.Admin))
	kubectl.Write(t, "crd.yaml", m.unwired(t))
	kubectl.Run(t, "create", "-f", "crd.yaml")
	kubectl.Run(t, "wait", "--for=condition=established", "crd/"+m.crd())
	if m.prepare != nil {
		m.prepare(t, p, namespace)
	}
	p.StartNode(t, namespace, webhook.Build(t))
	release := newRelease(t, p, namespace, m)
	release.helm(t, "install")
	if !m.jobs {
		m.wireByHand(t, kubectl, namespace)
	}
	m.wantCronTab(t, kubectl, "first", "localhost:80", "localhost 80")
	release.run(t, "test", "webhookd", "--timeout=60s")

	before := kubectl.Run(t, "-n", namespace, "get", "pods", "-l", "app.kubernetes.io/component=server", "-o", "name")
	release.files["rules"] = m.rules("/")
	release.helm(t, "upgrade")
	scenario.Eventually(t, "the new rules", func() bool {
		return m.readCronTab(t, kubectl, "second", "localhost/80") == "localhost 80"
	})
	if after := kubectl.Run(t, "-n", namespace, "get", "pods", "-l", "app.kubernetes.io/component=server", "-o", "name"); after != before {
		t.Errorf("a change of the rules changed the pods:\n%s%s", before, after)
	}
	release.run(t, "rollback", "webhookd", "1", "--wait", "--timeout=90s")
	m.wantCronTab(t, kubectl, "third", "localhost:81", "localhost 81")
	m.uninstall(t, release, kubectl)
}

// uninstall holds that the chart does not go while the CRD points at it, where a Job looks after that.
func (m chartMode) uninstall(t *testing.T, release *release, kubectl *plane.Client) {
	t.Helper()
	if m.jobs {
		out, err := release.client.Try(t, release.args("uninstall", "webhookd", "--timeout=20s")...)
		if err == nil {
			t.Errorf("the chart was uninstalled though the CRD points at it:\n%s", out)
		}
	}
	kubectl.Run(t, "delete", "crd", m.crd())
	release.run(t, "uninstall", "webhookd", "--wait", "--timeout=60s")
}

// A release is one of the chart with its values and files.
type release struct {
	client    *plane.Client
	namespace string
	values    []string
	files     map[string]string
}

func newRelease(t *testing.T, p *plane.Plane, namespace string, m chartMode) *release {
	t.Helper()
	return &release{
		client: p.Helm(t), namespace: namespace, values: append([]string{"replicaCount=1", "jobs.backoffLimit=0"}, m.values...),
		files: map[string]string{"rules": m.rules(":")},
	}
}

// rules convert the mode's CRD, with a separator between host and port.
func (m chartMode) rules(separator string) string {
	return strings.NewReplacer("GROUP", m.group(), "SEPARATOR", separator).Replace(`apiVersion: conversion.webhookd.io/v1alpha1
kind: Conversion
metadata: {name: crontabs.GROUP}
spec:
  hub: v1
  versions:
  - name: v1beta1
    rules:
    - {field: .hostPort, hub: {host: .host, port: .port}, template: "{host}SEPARATOR{port}", absent: ""}
`)
}

func (r *release) args(args ...string) []string { return append(args, "--namespace="+r.namespace) }

func (r *release) run(t *testing.T, args ...string) { t.Helper(); r.client.Run(t, r.args(args...)...) }

// helm installs or upgrades.
func (r *release) helm(t *testing.T, verb string) {
	t.Helper()
	args := []string{verb, "webhookd", filepath.Join(webhook.Root(t), "deploy", "helm", "webhookd"), "--wait", "--timeout=90s"}
	for _, v := range r.values {
		args = append(args, "--set="+v)
	}
	for name, text := range maps.All(r.files) {
		r.client.Write(t, name+".yaml", text)
		args = append(args, "--set-file=rules."+name+"="+name+".yaml")
	}
	r.run(t, args...)
}

// unwired is the CRD of the example without its conversion.
func (m chartMode) unwired(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(webhook.Root(t), "examples", "crontab-rules", "crd.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var crd map[string]any
	text = bytes.ReplaceAll(text, []byte("rules.example.com"), []byte(m.group()))
	if err := yaml.Unmarshal(text, &crd); err != nil {
		t.Fatal(err)
	}
	spec, ok := crd["spec"].(map[string]any)
	if !ok {
		t.Fatal("a CRD without a spec")
	}
	delete(spec, "conversion")
	out, err := yaml.Marshal(crd)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// wireByHand does what the notes of the chart say.
func (m chartMode) wireByHand(t *testing.T, kubectl *plane.Client, namespace string) {
	t.Helper()
	ca := kubectl.Run(t, "-n", namespace, "get", "secret", "webhookd-cert", "-o", `jsonpath={.data.ca\.crt}`)
	kubectl.Run(t, "patch", "crd", m.crd(), "--type=merge", "-p", `{"spec":{"conversion":{"strategy":"Webhook","webhook":{`+
		`"conversionReviewVersions":["v1"],"clientConfig":{"service":{"namespace":"`+namespace+`","name":"webhookd","path":"/crdconvert"},`+
		`"caBundle":"`+ca+`"}}}}}`)
}

// wantCronTab makes an object at v1beta1 and reads it at v1, as soon as the API server knows how.
func (m chartMode) wantCronTab(t *testing.T, kubectl *plane.Client, name, hostPort, want string) {
	t.Helper()
	scenario.Eventually(t, name+" at v1", func() bool { return m.readCronTab(t, kubectl, name, hostPort) == want })
}

func (m chartMode) readCronTab(t *testing.T, kubectl *plane.Client, name, hostPort string) string {
	t.Helper()
	kubectl.Write(t, name+".yaml", "apiVersion: "+m.group()+"/v1beta1\nkind: CronTab\nmetadata: {name: "+name+"}\nhostPort: "+hostPort+"\n")
	if _, err := kubectl.Try(t, "apply", "--server-side", "--force-conflicts", "-f", name+".yaml"); err != nil {
		return ""
	}
	out, err := kubectl.Try(t, "get", "crontabs.v1."+m.group(), name, "-o", "jsonpath={.host} {.port}")
	if err != nil {
		return ""
	}
	return out
}

// pairInSecret makes a Secret with a pair for the chart's Service.
func pairInSecret(t *testing.T, p *plane.Plane, namespace, name string) {
	t.Helper()
	ca := tlstest.NewCA(t, "chart")
	data := ca.Issue(t, tlstest.Leaf{Hosts: []string{"webhookd." + namespace + ".svc"}}).Files()
	data["ca.crt"] = ca.PEM
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name}, Type: corev1.SecretTypeTLS, Data: data}
	if _, err := p.Kube(t).CoreV1().Secrets(namespace).Create(t.Context(), secret, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// standIn makes CRDs in the place of cert-manager's.
func standIn(t *testing.T, p *plane.Plane) {
	t.Helper()
	kubectl := p.Kubectl(t, p.Token(plane.Admin))
	var all strings.Builder
	for kind, plural := range map[string]string{"Certificate": "certificates", "Issuer": "issuers"} {
		all.WriteString(strings.NewReplacer("KIND", kind, "PLURAL", plural).Replace(`---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: PLURAL.cert-manager.io}
spec:
  group: cert-manager.io
  scope: Namespaced
  names: {kind: KIND, plural: PLURAL}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`))
	}
	kubectl.Write(t, "cert-manager.yaml", all.String())
	kubectl.Run(t, "create", "-f", "cert-manager.yaml")
	kubectl.Run(t, "wait", "--for=condition=established", "crd/certificates.cert-manager.io", "crd/issuers.cert-manager.io")
}
