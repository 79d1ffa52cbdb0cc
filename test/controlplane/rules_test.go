package controlplane_test

import (
	"path/filepath"
	"testing"

	"github.com/crdconvert/webhookd/test/e2e/scenario"
	"github.com/crdconvert/webhookd/test/e2e/webhook"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/crdconvert/webhookd/test/controlplane/plane"
)

// rules replays the transcript in testdata/rules: what a user does at both versions of a kind that
// no code knows, only a Conversion file.
func rules(t *testing.T, p *plane.Plane) {
	t.Helper()
	e := byService(t, p)
	w := backupsWebhookd(t, e)
	r := e.Install(t, backups(t), w)
	client := p.Kubectl(t, p.Token(plane.Admin))
	for name, text := range backupFiles() {
		client.Write(t, name, text)
	}
	r.MustConvert(t, w, 1, func() { replay(t, client, filepath.Join("testdata", "rules", "both-versions.txt")) })
}

// backupsWebhookd starts a webhookd that has the rules.
func backupsWebhookd(t *testing.T, e *scenario.Env) *webhook.Process {
	t.Helper()
	return e.Webhookd(t, "--rules", filepath.Join("testdata", "rules", "conversion.yaml"),
		"--crds", filepath.Join("testdata", "rules", "crd.yaml"))
}

// backups is the CRD that the rules are about.
func backups(t *testing.T) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	return scenario.ParseCRD(t, readFile(t, filepath.Join("testdata", "rules", "crd.yaml")))
}

// backupFiles are the files in the folder where kubectl runs.
func backupFiles() map[string]string {
	const v1beta1 = "{apiVersion: example.com/v1beta1, kind: Backup, metadata: {name: "
	const v1 = "{apiVersion: example.com/v1, kind: Backup, metadata: {name: "
	return map[string]string{
		"nightly.yaml": v1beta1 + "nightly}, spec: {hostPort: 'db.example.com:5432', paused: false, keep: Manual, " +
			"timeout: 90s, params: {zone: b, level: '9'}, image: dump}}",
		"weekly.yaml": v1 + "weekly}, spec: {host: db.example.com, port: '5432', enabled: false, retention: Forever, " +
			"timeoutSeconds: 60, params: [{name: level, value: '1'}]}}",
		"alice.yaml":        v1beta1 + "shared}, spec: {hostPort: 'db.example.com:5432', timeout: 90s, params: {level: '9'}}}",
		"bob.yaml":          v1 + "shared}, spec: {image: dump, params: [{name: zone, value: b}]}}",
		"bob-conflict.yaml": v1 + "shared}, spec: {image: dump, port: '5433', params: [{name: level, value: '1'}]}}",
	}
}
