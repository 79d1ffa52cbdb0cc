package controlplane_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/test/e2e/scenario"
	"github.com/crdconvert/webhookd/test/e2e/webhook"
	"github.com/google/go-cmp/cmp"

	"github.com/crdconvert/webhookd/test/controlplane/plane"
)

// withoutRights is what a user who may not list CRDs sees.
const withoutRights = `webhookd: /apis/apiextensions.k8s.io/v1/customresourcedefinitions: cannot list: customresourcedefinitions.apiextensions.k8s.io is forbidden: ` +
	`User "no-rights" cannot list resource "customresourcedefinitions" in API group "apiextensions.k8s.io" at the cluster scope (403)
webhookd: allow list of customresourcedefinitions.apiextensions.k8s.io, in a ClusterRole, or name the CRDs
`

// plugin runs webhookd as a plugin of kubectl, installed as docs/how-to/use-with-your-tools.md
// says.
func plugin(t *testing.T, p *plane.Plane) {
	t.Helper()
	e := byService(t, p)
	w := e.Webhookd(t)
	r := e.Install(t, scenario.CRD(t, "crontabs.example.com"), w)
	blocks := codeBlocks(readFile(t, filepath.Join(webhook.Root(t), "docs", "how-to", "use-with-your-tools.md")))
	admin, outsider := p.Kubectl(t, p.Token(plane.Admin)), p.Kubectl(t, p.Token(plane.NoRights))
	run := func(client *plane.Client, script string) string {
		return client.Shell(t, "PATH=\"$HOME/.local/bin:$PATH\"\n"+script, webhookFolder(t))
	}
	run(outsider, blocks["sh"][0])
	run(admin, blocks["sh"][0])
	if got := run(admin, "kubectl plugin list"); !strings.Contains(got, "/.local/bin/kubectl-webhookd\n") {
		t.Errorf("plugins:\n%s", got)
	}
	target := " --name " + r.Name + " --service " + scenario.ServiceName + " -n " + scenario.ServiceNamespace
	if got := run(admin, "kubectl webhookd crd status"+target+" --address "+w.Addr()+" || true"); !strings.Contains(got, "test reviews succeed\n") {
		t.Errorf("status:\n%s", got)
	}
	admin.Write(t, "ca.crt", string(w.CA().PEM))
	// There is no kubelet, so the port-forward ends at once.
	apply := strings.NewReplacer("127.0.0.1:9443", w.Addr(), "9443:443 &", "9443:443 || true").Replace(strings.TrimSpace(blocks["sh"][1]))
	if got := run(admin, apply+" --force"); !strings.Contains(got, r.Name+": Service webhookd/webhookd converts between all of v1beta1, v1\n") {
		t.Errorf("apply, to a CRD of another manager:\n%s", got)
	}
	if got := run(admin, "kubectl webhookd crd status --help"); !strings.Contains(got, "  kubectl webhookd crd status [FILE...]") {
		t.Errorf("help:\n%s", got)
	}
	if got := run(admin, "kubectl __complete webhookd crd st"); !strings.Contains(got, "status\tShow which conversions of a cluster are broken") {
		t.Errorf("completion:\n%s", got)
	}
	if diff := cmp.Diff(withoutRights, run(outsider, "kubectl webhookd crd status || true")); diff != "" {
		t.Errorf("a user without rights (-want +got):\n%s", diff)
	}
	if got := run(admin, "kubectl webhookd crd status --context z || true"); got != "webhookd: --context z: no such context in the kubeconfig, kubectl config get-contexts lists them\n" {
		t.Errorf("another context:\n%s", got)
	}
}
