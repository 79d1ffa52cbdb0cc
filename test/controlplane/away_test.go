package controlplane_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/test/e2e/scenario"
	"github.com/crdconvert/webhookd/test/e2e/webhook"
	"github.com/google/go-cmp/cmp"

	"github.com/crdconvert/webhookd/test/controlplane/plane"
)

// away does what docs/how-to/wire-a-crd.md says to do where one version is enough, with the
// commands as they are there. Objects that were applied at the other version can be read and
// applied when webhookd has gone, and nothing of them is lost.
func away(t *testing.T, p *plane.Plane) {
	t.Helper()
	e := byService(t, p)
	w := e.Webhookd(t)
	crd := crontabs(t)
	scenario.SetStorage(t, crd, "v1beta1")
	r := e.Install(t, crd, w)
	client := p.Kubectl(t, p.Token(plane.Admin))
	const objects = 3
	for i := range objects {
		client.Write(t, "object.yaml", fmt.Sprintf(`{apiVersion: example.com/v1beta1, kind: CronTab,
			metadata: {name: c%d, namespace: default}, hostPort: "localhost:8%d", spec: {image: cron}}`, i, i))
		client.Run(t, "apply", "--server-side", "--field-manager=imager", "-f", "object.yaml")
	}
	p.StartControllers(t)
	const read = "get crontabs.v1.example.com -o " +
		`jsonpath={range.items[*]}{.metadata.name}{" "}{.metadata.uid}{" "}{.host}{" "}{.port}{" "}{.spec}{"\n"}{end}`
	before := client.Run(t, strings.SplitN(read, " ", 4)...)

	page := readFile(t, filepath.Join(webhook.Root(t), "docs", "how-to", "wire-a-crd.md"))
	_, commands, _ := strings.Cut(page, "- **One version is enough**")
	migrate, last, _ := strings.Cut(strings.TrimSpace(codeBlocks(commands)["sh"][0]), "\n")
	client.Shell(t, migrate+" --settle 2s --yes", webhookFolder(t))
	r.Served = []string{"v1"}
	client.Shell(t, last)
	client.Run(t, "annotate", "crontabs.v1.example.com/c0", `conversion.webhookd.io/v1beta1.spec.old={"value":"once"}`)
	_, uninstall, _ := strings.Cut(page, "## Uninstall\n")
	printed := client.Shell(t, strings.TrimSpace(codeBlocks(uninstall)["sh"][0])+" --settle 2s --yes", webhookFolder(t))
	if !strings.Contains(printed, `.spec.old = "once"`) {
		t.Errorf("what the others said:\n%s", printed)
	}
	if left := client.Run(t, "get", "crontabs.v1.example.com", "-o", "yaml"); strings.Contains(left, "webhookd.io") {
		t.Errorf("annotations are left:\n%s", left)
	}
	w.Terminate()
	w.Wait()

	if diff := cmp.Diff(before, client.Run(t, strings.SplitN(read, " ", 4)...)); diff != "" {
		t.Errorf("without webhookd (-before +after):\n%s", diff)
	}
	for i := range objects {
		client.Write(t, "object.yaml", fmt.Sprintf(`{apiVersion: example.com/v1, kind: CronTab,
			metadata: {name: c%d, namespace: default}, spec: {image: "cron:2"}}`, i))
		client.Run(t, "apply", "--server-side", "--field-manager=imager", "-f", "object.yaml")
	}
	want := strings.ReplaceAll(before, `"cron"`, `"cron:2"`)
	if diff := cmp.Diff(want, client.Run(t, strings.SplitN(read, " ", 4)...)); diff != "" || want == before {
		t.Errorf("applied without webhookd (-want +got):\n%s", diff)
	}
}
