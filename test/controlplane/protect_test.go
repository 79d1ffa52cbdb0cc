package controlplane_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/test/e2e/webhook"

	"github.com/crdconvert/webhookd/test/controlplane/plane"
)

// protect runs the command of docs/how-to/protect-the-connection.md as a user who has the rights
// that the page lists, and no other, with Secrets that are made as it says.
func protect(t *testing.T, p *plane.Plane) {
	t.Helper()
	page := readFile(t, filepath.Join(webhook.Root(t), "docs", "how-to", "protect-the-connection.md"))
	admin := p.Kubectl(t, p.Token(plane.Admin))
	crd := crontabs(t)
	crd.APIVersion, crd.Kind = "apiextensions.k8s.io/v1", "CustomResourceDefinition"
	admin.Write(t, "crd.yaml", textOf(t, crd))
	admin.Run(t, "create", "-f", "crd.yaml")
	defer admin.Run(t, "delete", "crd", crd.Name)
	p.MakeNamespace(t, "webhookd", nil) // other parts have their Service there
	admin.Shell(t, "webhookd crd wire -f crd.yaml --service webhookd/webhookd | kubectl apply --server-side --force-conflicts -f -", webhookFolder(t))

	secret := regexp.MustCompile("`(kubectl -n webhookd create secret[^`]*)`").FindStringSubmatch(page)[1]
	admin.Shell(t, secret+"\n"+secret+"-ca")
	rules := strings.Split(codeBlocks(page)["yaml"][0], "\n") // each behind a comment
	admin.Write(t, "role.yaml", "{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: certs, namespace: webhookd}, rules: [\n"+
		strings.TrimPrefix(rules[1], "- ")+"]}\n---\n"+
		"{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: certs}, rules: [\n"+strings.TrimPrefix(rules[3], "- ")+"]}\n")
	admin.Run(t, "apply", "-f", "role.yaml")
	admin.Shell(t, "kubectl -n webhookd create serviceaccount certs\n"+
		"kubectl -n webhookd create rolebinding certs --role=certs --serviceaccount=webhookd:certs\n"+
		"kubectl create clusterrolebinding certs --clusterrole=certs --serviceaccount=webhookd:certs")

	user := p.Kubectl(t, strings.TrimSpace(admin.Run(t, "-n", "webhookd", "create", "token", "certs")))
	user.Shell(t, codeBlocks(page)["sh"][0], webhookFolder(t))
	trusted := admin.Run(t, "get", "crd", crd.Name, "-o", "jsonpath={.spec.conversion.webhook.clientConfig.caBundle}")
	served := admin.Run(t, "-n", "webhookd", "get", "secret", "webhookd-tls", "-o", `jsonpath={.data.tls\.crt} {.data.ca\.crt}`)
	leaf, ca, _ := strings.Cut(served, " ")
	if leaf == "" || ca == "" || ca != trusted {
		t.Errorf("the Secret has a certificate of %d bytes and CAs of %d, and the CRD trusts %d bytes", len(leaf), len(ca), len(trusted))
	}
}
