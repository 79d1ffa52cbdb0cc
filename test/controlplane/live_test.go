package controlplane_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/test/e2e/webhook"

	"github.com/crdconvert/webhookd/test/controlplane/plane"
)

// live runs the commands of docs/how-to/check-live-objects.md as a user who has the rights that the
// page lists, and no other.
func live(t *testing.T, p *plane.Plane) {
	t.Helper()
	e := byService(t, p).ByRules(t)
	r := e.Install(t, e.CRD(t, "crontabs.example.com"), e.Webhookd(t))
	r.Create(t, "v1beta1", "report", `{hostPort: "localhost:80"}`)
	root := webhook.Root(t)
	page := readFile(t, filepath.Join(root, "docs", "how-to", "check-live-objects.md"))
	plugin := codeBlocks(readFile(t, filepath.Join(root, "docs", "how-to", "use-with-your-tools.md")))["sh"][0]
	admin, outsider := p.Kubectl(t, p.Token(plane.Admin)), p.Kubectl(t, p.Token(plane.NoRights))
	blocks := codeBlocks(page)
	admin.Write(t, "role.yaml", strings.ReplaceAll(blocks["yaml"][0], "[example.com]", "["+r.Group+"]"))
	admin.Run(t, "apply", "-f", "role.yaml")
	admin.Run(t, "create", "serviceaccount", "live")
	admin.Run(t, "create", "clusterrolebinding", "live", "--clusterrole=read-crontabs", "--serviceaccount=default:live")
	reader := p.Kubectl(t, strings.TrimSpace(admin.Run(t, "create", "token", "live")))
	for _, client := range []*plane.Client{admin, outsider, reader} {
		client.Shell(t, plugin, webhookFolder(t))
	}
	run := func(client *plane.Client, command string) string {
		return client.Shell(t, "PATH=\"$HOME/.local/bin:$PATH\"\n"+command+" || true", webhookFolder(t))
	}
	rules := filepath.Join(root, "test", "e2e", "scenario", "testdata", "rules", r.Name+".yaml")
	check := "kubectl webhookd check " + rules + " --live"
	if got := run(reader, check+" --fail-on note"); got != "webhookd: CronTab."+r.Group+": 1 live object of v1\nwebhookd: no findings in 1 file\n" {
		t.Errorf("with the rights of the page:\n%s", got)
	}
	// The other commands of the page, of this kind.
	here := strings.NewReplacer("engines", r.Name, "tuned", "report", "-n a", "-n default", "rules.yaml", rules, "> /dev/null", "2>&1")
	oneByOne, save := strings.TrimSpace(here.Replace(blocks["sh"][0])), here.Replace(blocks["sh"][1])
	for _, tt := range []struct {
		client        *plane.Client
		command, want string
	}{
		{reader, "kubectl get crd " + r.Name + " -o yaml > crd.yaml\n" + oneByOne, "nothing had to be kept"},
		{reader, save + "kubectl webhookd kept report.yaml", "CronTab default/report at v1: nothing is kept"},
		{outsider, check, "allow get of customresourcedefinitions.apiextensions.k8s.io with the resourceName " + r.Name + ", in a ClusterRole\n"},
	} {
		if got := run(tt.client, tt.command); !strings.Contains(got, tt.want) {
			t.Errorf("%s: does not say %q:\n%s", tt.command, tt.want, got)
		}
	}
}
