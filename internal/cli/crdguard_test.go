package cli

import (
	"strings"
	"testing"
)

// The policies for CRDs of a cluster and for their files are the same.
func TestGuardOfACluster(t *testing.T) {
	t.Parallel()
	withStatus := strings.Replace(crontabsCRD, `"served":true,"storage":false`, `"served":true,"storage":false,"subresources":{"status":{}}`, 1)
	c := newCluster(t)
	c.Put(t, crontabsPath, "kubectl-create", withStatus)
	for _, policy := range []string{"annotations", "convertible"} {
		want := runWith(t, nil, strings.NewReader(withStatus), "crd", "guard", policy, "-f", "-")
		if want.Code != 0 || !strings.Contains(want.Stdout, crontabs) || want.Stderr != "" {
			t.Errorf("%s of a file: %+v", policy, want)
		}
		if got := c.run(t, "crd", "guard", policy, "--crd", crontabs); got != want {
			t.Errorf("%s of a cluster: %+v\nwant %+v", policy, got, want)
		}
		if got := c.run(t, "crd", "guard", policy, "--service", "webhookd/webhookd"); got.Code != 1 ||
			got.Stderr != "webhookd: webhookd/webhookd: no CRD here points at this Service\n" {
			t.Errorf("%s of another Service: %+v", policy, got)
		}
		if got := c.run(t, "crd", "guard", policy, "--crd", "others.example.com"); got.Code != 1 ||
			got.Stderr != "webhookd: others.example.com: there is no such CRD\n" {
			t.Errorf("%s of a CRD that is not there: %+v", policy, got)
		}
	}
}
