package controlplane_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/test/e2e/webhook"

	"github.com/crdconvert/webhookd/test/controlplane/plane"
)

// export runs the first commands of docs/how-to/back-up-and-export.md: what they write can be
// applied after the object is gone. The objects that docs/reference/rules.md saves can be written
// back. Then webhookd is gone, and what
// docs/how-to/debug-a-failing-conversion.md says of the stored version holds.
func export(t *testing.T, p *plane.Plane) {
	t.Helper()
	e := byService(t, p)
	w := e.Webhookd(t)
	e.Install(t, crontabs(t), w)
	docs := filepath.Join(webhook.Root(t), "docs")
	how := filepath.Join(docs, "how-to")
	client := p.Kubectl(t, p.Token(plane.Admin))
	client.Write(t, "old.yaml", `{apiVersion: example.com/v1beta1, kind: CronTab, metadata: {name: nightly-report, namespace: default}, hostPort: "localhost:80"}`)
	client.Run(t, "apply", "--server-side", "--field-manager=flux", "-f", "old.yaml")
	client.Shell(t, codeBlocks(readFile(t, filepath.Join(docs, "reference", "rules.md")))["sh"][1])

	const nightly = "crontabs.v1.example.com nightly-report"
	client.Shell(t, codeBlocks(readFile(t, filepath.Join(how, "back-up-and-export.md")))["sh"][0], webhookFolder(t))
	client.Run(t, strings.Fields("delete "+nightly)...)
	manifest := client.Shell(t, "cat crontabs.yaml")
	if found := regexp.MustCompile(`(?m)^ *(uid|resourceVersion|generation|creationTimestamp|managedFields|status):|webhookd\.io`).FindAllString(manifest, -1); found != nil {
		t.Errorf("%q in what is exported:\n%s", found, manifest)
	}
	client.Run(t, "create", "-f", "crontabs.yaml")
	client.Run(t, "apply", "-f", "crontabs.yaml")
	client.Run(t, "apply", "--server-side", "--force-conflicts", "--field-manager=flux", "-f", "old.yaml")

	w.Terminate()
	w.Wait()
	stored := regexp.MustCompile("`(kubectl get crd [^`]*)`").FindStringSubmatch(readFile(t, filepath.Join(how, "debug-a-failing-conversion.md")))
	if got := client.Shell(t, stored[1]); got != "v1" {
		t.Errorf("the stored version: %q", got)
	}
	client.Run(t, strings.Fields("get "+nightly)...)
	client.Run(t, strings.Fields("label "+nightly+" a=b")...)
	client.Write(t, "new.yaml", `{apiVersion: example.com/v1, kind: CronTab, metadata: {name: nightly-report, namespace: default}, host: localhost, port: "81"}`)
	if got := client.Fails(t, strings.Fields("apply --server-side --force-conflicts --field-manager=flux -f new.yaml")...); !strings.Contains(got, "connection refused") {
		t.Errorf("server-side apply where managedFields name v1beta1:\n%s", got)
	}
	client.Write(t, "editor", "#!/bin/sh\nsed -i 's/\"80\"/\"82\"/' \"$1\"\n")
	client.Run(t, strings.Fields("edit "+nightly)...)
	if got := client.Run(t, strings.Fields("get "+nightly+" -o jsonpath={.port}")...); got != "82" {
		t.Errorf("edited: %q", got)
	}
	client.Run(t, strings.Fields("delete "+nightly)...)
}
