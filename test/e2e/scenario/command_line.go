package scenario

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"testing"

	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// Kubeconfig writes a kubeconfig of the administrator of the cluster and returns its path.
func Kubeconfig(t *testing.T, e *Env) string {
	t.Helper()
	of := e.Cluster.Config()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	err := clientcmd.WriteToFile(api.Config{
		Clusters:       map[string]*api.Cluster{"c": {Server: of.Host, CertificateAuthorityData: of.CAData, CertificateAuthority: of.CAFile, TLSServerName: of.ServerName}},
		AuthInfos:      map[string]*api.AuthInfo{"u": {Token: of.BearerToken}},
		Contexts:       map[string]*api.Context{"x": {Cluster: "c", AuthInfo: "u", Namespace: "default"}},
		CurrentContext: "x",
	}, path)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// A commandLine runs webhookd's commands that need a cluster.
type commandLine struct {
	t                   *testing.T
	program, kubeconfig string
}

// run runs a command that succeeds and says some texts.
func (c commandLine) run(args []string, want ...string) {
	c.t.Helper()
	cmd := exec.CommandContext(c.t.Context(), c.program, append(args, "--kubeconfig", c.kubeconfig)...) //nolint:gosec // webhookd
	out, err := cmd.CombinedOutput()
	if err != nil {
		c.t.Errorf("%q: %v:\n%s", args, err, out)
	}
	for _, text := range want {
		if !bytes.Contains(out, []byte(text)) {
			c.t.Errorf("%q: does not say %q:\n%s", args, text, out)
		}
	}
}
