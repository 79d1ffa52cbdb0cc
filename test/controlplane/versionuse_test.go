package controlplane_test

import (
	"testing"

	"github.com/crdconvert/webhookd/internal/versionuse"
	"github.com/crdconvert/webhookd/test/e2e/scenario"
	"github.com/crdconvert/webhookd/test/e2e/webhook"

	"github.com/crdconvert/webhookd/test/controlplane/plane"
)

// usesAreCounted checks that the counters of crd status --prometheus have the uses of a kind whose
// objects were written at v1beta1 and are stored in v1.
func usesAreCounted(t *testing.T, p *plane.Plane, w *webhook.Process, r *scenario.Resource) {
	t.Helper()
	apiServer := p.Metrics(t)
	requests, calls, objects := versionuse.Requests(), versionuse.Calls(), versionuse.Objects()
	for what, counted := range map[string]float64{
		"the witness":   apiServer.Sum(requests.Witness.Metric, requests.Witness.Labels...),
		requests.Metric: apiServer.Sum(requests.Metric, "group", r.Group, "resource", r.Plural, requests.By[0], "v1beta1"),
		calls.Metric:    apiServer.Sum(calls.Metric, "crd_name", r.Name, calls.By[0], "v1beta1", calls.By[1], "v1"),
		objects.Metric:  w.Metrics(t).Sum(objects.Metric, "kind", r.Kind+"."+r.Group, objects.By[0], "v1beta1", objects.By[1], "v1"),
	} {
		if counted == 0 {
			t.Errorf("%s counted nothing", what)
		}
	}
}
