package scenario

import (
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/crdconvert/webhookd/test/e2e/webhook"
)

// Live runs the commands that read live objects. Relays are written at all versions, so that
// webhookd has kept values in some, and there is more than one page of them.
func Live(t *testing.T, e *Env) {
	t.Helper()
	e = e.ByRules(t)
	r := e.Install(t, relayCRD(t), e.Webhookd(t))
	const many = 120
	for i := range many {
		version, spec := r.Served[i%len(r.Served)], "{image: a}"
		if version == "v1alpha1" {
			spec = "{host: localhost, mode: manual, note: the-secret-note}"
		}
		obj := r.Object(t, version, fmt.Sprintf("live-%03d", i), "{spec: "+spec+"}")
		if _, err := r.At(version).Create(t.Context(), obj, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	c := commandLine{t, webhook.Build(t), Kubeconfig(t, e)}
	rules := []string{"--rules", e.rules.path("rules"), "--crd", e.rules.path("crds")}

	all := fmt.Sprintf("%d live objects of %s", many, r.Storage)
	c.run(append([]string{"check", "--live", "-o", "json"}, rules...), "Relay."+rulesGroup+": "+all+"\n", `"code": "live-kept"`)
	c.run(append([]string{"check", "--live", "-n", r.Namespace, "--fail-on", "error"}, rules...), all, ".spec.note (40 objects)")
	c.run(append([]string{"check", "--live", "-n", "nowhere"}, rules...), "0 live objects of "+r.Storage)
	c.run([]string{"kept", r.Name + "/live-000", "-n", r.Namespace}, "at "+r.Storage+": kept values have ", ".spec.note", "needed as long as clients read or write v1alpha1, which is served; ")
	shown := c.run([]string{"kept", r.Name + "/live-000", "-n", r.Namespace, "--show-values"}, `.spec.note = "the-secret-note"`)
	if strings.Contains(c.run([]string{"kept", r.Name + "/live-000", "-n", r.Namespace}), "the-secret-note") || shown == "" {
		t.Error("a value is printed without --show-values")
	}
}

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

// run runs a command that succeeds and says some texts, and returns all that it says.
func (c commandLine) run(args []string, want ...string) string {
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
	return string(out)
}
