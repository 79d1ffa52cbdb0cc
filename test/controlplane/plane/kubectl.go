package plane

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Kubeconfig writes the configuration of clients with a token and returns its path.
func (p *Plane) Kubeconfig(t *testing.T, token string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := p.writeKubeconfig(path, &clientcmdapi.AuthInfo{Token: token}); err != nil {
		t.Fatal(err)
	}
	return path
}

func (p *Plane) writeKubeconfig(path string, user *clientcmdapi.AuthInfo) error {
	return clientcmd.WriteToFile(clientcmdapi.Config{
		Clusters:       map[string]*clientcmdapi.Cluster{"plane": {Server: "https://" + p.secure, CertificateAuthority: p.caFile()}},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{"user": user},
		Contexts:       map[string]*clientcmdapi.Context{"plane": {Cluster: "plane", AuthInfo: "user"}},
		CurrentContext: "plane",
	}, path)
}

// A Client is a command line client of the control plane, kubectl or helm, with a token. It is safe
// for concurrent use.
type Client struct {
	program    string
	home       string
	kubeconfig string
}

// Kubectl returns a kubectl with a token. What it knows of the API it has asked for itself: no
// other Kubectl has left that behind.
func (p *Plane) Kubectl(t *testing.T, token string) *Client {
	t.Helper()
	return &Client{program: p.bin.Kubectl, home: t.TempDir(), kubeconfig: p.Kubeconfig(t, token)}
}

// Helm returns a helm of the administrator's.
func (p *Plane) Helm(t *testing.T) *Client {
	t.Helper()
	return &Client{program: p.bin.Helm, home: t.TempDir(), kubeconfig: p.Kubeconfig(t, p.Token(Admin))}
}

// Write makes a file in the folder in which the client runs.
func (c *Client) Write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(c.home, name), []byte(text), 0o700); err != nil { //nolint:gosec // one is an editor
		t.Fatal(err)
	}
}

// Run runs the client and returns what a user sees, standard output and error together.
func (c *Client) Run(t *testing.T, args ...string) string {
	t.Helper()
	out, err := c.Try(t, args...)
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", filepath.Base(c.program), strings.Join(args, " "), err, out)
	}
	return out
}

// Try is Run for what may fail.
func (c *Client) Try(t *testing.T, args ...string) (string, error) {
	t.Helper()
	return c.run(exec.CommandContext(t.Context(), c.program, args...)) //nolint:gosec // our own build
}

// Shell runs what a user pastes into a shell that finds the clients, and the programs of more
// folders. It stops at what fails, and fails if the shell still waits for more in the end, as for
// the end of a text.
func (c *Client) Shell(t *testing.T, script string, folders ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-e", "-c", script+"\necho "+pasted) //nolint:gosec // of the repository
	path := slices.Concat([]string{filepath.Dir(c.program)}, folders, []string{"/usr/bin", "/bin"})
	cmd.Env = []string{"PATH=" + strings.Join(path, string(filepath.ListSeparator))}
	out, err := c.run(cmd)
	out, whole := strings.CutSuffix(out, pasted+"\n")
	if err != nil || !whole {
		t.Fatalf("%v\n%s\n%s", err, script, out)
	}
	return out
}

// pasted is what Shell has printed in the end.
const pasted = "all of it was run"

func (c *Client) run(cmd *exec.Cmd) (string, error) {
	cmd.Dir = c.home
	cmd.Env = append(cmd.Env, "HOME="+c.home, "KUBECONFIG="+c.kubeconfig, "KUBE_EDITOR="+c.editor())
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	return out.String(), err
}

// Fails runs what must fail and returns what the user sees of it.
func (c *Client) Fails(t *testing.T, args ...string) string {
	t.Helper()
	out, err := c.Try(t, args...)
	if exit := new(exec.ExitError); !errors.As(err, &exit) {
		t.Errorf("%s %s: %v, want a failure\n%s", filepath.Base(c.program), strings.Join(args, " "), err, out)
	}
	return out
}

// editor is the path of the program that `kubectl edit` runs; see the tests of it.
func (c *Client) editor() string { return filepath.Join(c.home, "editor") }
