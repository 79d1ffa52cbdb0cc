package controlplane_test

import (
	"net/netip"
	"testing"

	"github.com/crdconvert/webhookd/test/controlplane/plane"
)

// defaults holds that the control plane has what a cluster has by default, PodSecurity and priority
// and fairness, and that Services have addresses of the range that is this machine's own. That RBAC
// is on is shown by the part of that name.
func defaults(t *testing.T, p *plane.Plane) {
	t.Helper()
	address, err := netip.ParseAddrPort(env(p).Address(t))
	if err != nil {
		t.Fatal(err)
	}
	if !netip.MustParsePrefix("127.1.2.0/24").Contains(address.Addr()) {
		t.Errorf("the Service of webhookd has the address %s", address)
	}
	version, err := p.Kube(t).Discovery().ServerVersion()
	if err != nil {
		t.Fatal(err)
	}
	if version.GitVersion != "v1.37.1" {
		t.Errorf("kube-apiserver %s", version.GitVersion)
	}
	metrics := p.Metrics(t)
	for _, counted := range [][]string{
		{"apiserver_flowcontrol_dispatched_requests_total"},
		{"apiserver_admission_controller_admission_duration_seconds_count", "name", "PodSecurity"},
	} {
		if metrics.Sum(counted[0], counted[1:]...) == 0 {
			t.Errorf("the API server has not counted %s", counted)
		}
	}
}
