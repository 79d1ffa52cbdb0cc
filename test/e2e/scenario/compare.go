package scenario

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crdconvert/webhookd/test/e2e/webhook"
)

// Compare compares rules with the webhook in place. That is webhookd with the same rules, which
// converts live and random objects the same, and then with other ones. Its CRD names a URL: there
// is no kubelet here that forwards to a Service.
func Compare(t *testing.T, e *Env) {
	t.Helper()
	e = (&Env{Cluster: e.Cluster, Reference: ByURL, Reviews: e.Reviews}).ByRules(t)
	r := e.Install(t, relayCRD(t), e.Webhookd(t))
	const many = 12
	for i := range many {
		obj := r.Object(t, "v1alpha1", fmt.Sprintf("compared-%02d", i), "{spec: {host: localhost, mode: manual, note: the-secret-note}}")
		if _, err := r.At("v1alpha1").Create(t.Context(), obj, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	c := commandLine{t, webhook.Build(t), Kubeconfig(t, e)}
	compare := []string{
		"compare", "--rules", e.rules.path("rules"), "--crd", e.rules.path("crds"), "--kind", "Relay." + rulesGroup, "--live", "--seed", "1",
	}
	c.run(append(compare, "--objects", "0"), fmt.Sprintf("Relay.%s: convert the same, %d objects (seed 1)\ntheirs: https://", rulesGroup, many))
	c.run(append(compare, "--objects", "5"), "convert the same, ")
}
