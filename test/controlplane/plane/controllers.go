package plane

import (
	"path/filepath"
	"strings"
	"testing"

	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// StartControllers starts kube-controller-manager with the controllers that make pods of
// Deployments and Jobs, migrate stored versions and delete namespaces.
//
// The migration needs the garbage collector's monitors, which look for new CRDs twice a minute:
// start the controllers after the CRD that is to be migrated. They run until the control plane
// ends; a second call does nothing.
func (p *Plane) StartControllers(t *testing.T) {
	t.Helper()
	p.mu.Lock()
	running := p.controls
	p.controls = true
	p.mu.Unlock()
	if running {
		return
	}
	kubeconfig := filepath.Join(p.dir, "controllers.kubeconfig")
	if err := p.writeKubeconfig(kubeconfig, &clientcmdapi.AuthInfo{Token: p.Token(Admin)}); err != nil {
		t.Fatal(err)
	}
	p.launch(t, "kube-controller-manager", p.bin.ControllerManager,
		"--kubeconfig="+kubeconfig, "--authentication-kubeconfig="+kubeconfig, "--authorization-kubeconfig="+kubeconfig,
		"--leader-elect=false", "--secure-port=0", "--controllers="+strings.Join([]string{
			"deployment-controller", "disruption-controller", "garbage-collector-controller", "job-controller", "namespace-controller",
			"replicaset-controller", "storage-version-migrator-controller",
		}, ","))
}
