package controlplane_test

import (
	"path/filepath"
	"testing"

	"github.com/crdconvert/webhookd/test/e2e/scenario"
	"github.com/crdconvert/webhookd/test/e2e/webhook"

	"github.com/crdconvert/webhookd/test/controlplane/plane"
)

// fragment has a user of `kubectl apply --server-side` go from one version to the other. The API
// server then has what is left of the object without the user's fields converted, which has no
// metadata (kubernetes#117356).
func fragment(t *testing.T, p *plane.Plane) {
	t.Helper()
	e := byService(t, p)
	w := webhook.Start(t, webhook.Options{Hosts: []string{scenario.ServiceHost}})
	rec := newRecorder(t, e, w)
	r := e.Install(t, crontabsWithColumns(t), rec)
	kubectl := p.Kubectl(t, p.Token(plane.Admin))
	for name, text := range map[string]string{
		"alice-v1beta1.yaml": "{apiVersion: example.com/v1beta1, kind: CronTab, metadata: {name: moved, labels: {team: alice}}, " +
			"hostPort: 'localhost:1234', spec: {image: a}}",
		"alice-v1.yaml": "{apiVersion: example.com/v1, kind: CronTab, metadata: {name: moved, labels: {team: alice}}, " +
			"host: localhost, port: '1234', spec: {image: b}}",
		"bob.yaml": "{apiVersion: example.com/v1beta1, kind: CronTab, metadata: {name: moved}, spec: {replicas: 2}}",
	} {
		kubectl.Write(t, name, text)
	}
	r.MustConvert(t, w, 1, func() { replay(t, kubectl, filepath.Join("testdata", "fragment", "moved.txt")) })
	if rec.withoutMetadata() == 0 {
		t.Error("the API server sent no object without metadata, which is what this is about")
	}
}
