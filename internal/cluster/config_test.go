package cluster_test

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/internal/cluster"
	"github.com/crdconvert/webhookd/test/helpers/clustertest"
)

const twoContexts = `{"apiVersion":"v1","kind":"Config","current-context":"a",
	"clusters":[{"name":"c","cluster":{"server":"https://127.0.0.1:1"}}],
	"contexts":[{"name":"a","context":{"cluster":"c","namespace":"of-a"}},{"name":"b","context":{"cluster":"c","namespace":"of-b"}},
		{"name":"none","context":{"cluster":"c"}}]}`

func TestTheNamespaceIsThatOfKubectl(t *testing.T) {
	t.Parallel()
	file := writeFile(t, "kubeconfig", twoContexts)
	for want, o := range map[string]cluster.Options{
		"of-a":    {},
		"of-b":    {Context: "b"},
		"default": {Context: "none"},
		"given":   {Context: "b", Namespace: "given"},
	} {
		o.Kubeconfig = file
		if got, err := o.DefaultNamespace(); err != nil || got != want {
			t.Errorf("%+v: %s, %v", o, got, err)
		}
	}
}

func TestKubeconfigsThatNameNoCluster(t *testing.T) {
	t.Parallel()
	good := writeFile(t, "kubeconfig", twoContexts)
	for name, tt := range map[string]struct {
		o    cluster.Options
		want string
	}{
		"no such file":    {cluster.Options{Kubeconfig: "nowhere"}, "nowhere: cannot read the kubeconfig: no such file or directory, give its file with --kubeconfig"},
		"not YAML":        {cluster.Options{Kubeconfig: writeFile(t, "kubeconfig", "]")}, "kubeconfig: not a kubeconfig: "},
		"no such context": {cluster.Options{Kubeconfig: good, Context: "z"}, `--context z: no such context in the kubeconfig, kubectl config get-contexts lists them`},
		"a folder":        {cluster.Options{Kubeconfig: t.TempDir()}, ": cannot read the kubeconfig: is a directory, give its file with --kubeconfig"},
		"empty":           {cluster.Options{Kubeconfig: writeFile(t, "kubeconfig", "")}, "kubeconfig: no cluster in the context, give another file with "},
		"another cluster": {cluster.Options{Kubeconfig: writeFile(t, "kubeconfig", strings.ReplaceAll(twoContexts, `"cluster":"c"`, `"cluster":"d"`))}, "kubeconfig: no cluster in the context, "},
		"no CA": {
			cluster.Options{Kubeconfig: writeFile(t, "kubeconfig", strings.Replace(twoContexts, `:1"`, `:1","certificate-authority":"/nowhere"`, 1))},
			"unable to read certificate-authority /nowhere",
		},
	} {
		if _, err := cluster.New(tt.o); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWithoutAKubeconfigThereIsNoCluster(t *testing.T) {
	t.Setenv("KUBECONFIG", "nowhere")
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	if _, err := cluster.New(cluster.Options{}); !errors.Is(err, cluster.ErrNone) {
		t.Errorf("%v", err)
	}
}

// Credentials of clouds come from a program that the kubeconfig names, and those of a pod from a
// file.
func TestCredentials(t *testing.T) {
	t.Parallel()
	s := clustertest.New()
	s.Put(t, path, "kubectl", text)
	runs := writeFile(t, "runs", "")
	plugin := func(script string) map[string]any {
		return map[string]any{"exec": map[string]any{
			"apiVersion": "client.authentication.k8s.io/v1", "interactiveMode": "Never",
			"command": writeFile(t, "plugin", "#!/bin/sh\n"+script+"\n"),
			"env":     []map[string]string{{"name": "TOKEN", "value": clustertest.Token}, {"name": "RUNS", "value": runs}},
		}}
	}
	for name, tt := range map[string]struct {
		credentials map[string]any
		want        string
	}{
		"a token file":        {map[string]any{"tokenFile": writeFile(t, "token", clustertest.Token+"\n")}, ""},
		"an old token":        {map[string]any{"tokenFile": writeFile(t, "token", "old")}, "the API server does not accept these credentials"},
		"a plugin":            {plugin(`echo '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"'$TOKEN'"}}'`), ""},
		"a plugin that fails": {plugin("echo once >>$RUNS; exit 3"), "failed with exit code 3\nrun the exec plugin of the kubeconfig's user by hand to see why"},
		"a plugin, not found": {map[string]any{"exec": map[string]any{"apiVersion": "client.authentication.k8s.io/v1", "interactiveMode": "Never", "command": "no-such-plugin", "installHint": "install it"}}, "install it"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, err := json.Marshal(tt.credentials)
			if err != nil {
				t.Fatal(err)
			}
			c, err := cluster.New(cluster.Options{Kubeconfig: s.Kubeconfig(t, string(text))})
			if err != nil {
				t.Fatal(err)
			}
			err = c.Get(t.Context(), path, nil)
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v", err)
			}
		})
	}
	t.Cleanup(func() {
		if text, _ := os.ReadFile(runs); string(text) != "once\n" {
			t.Errorf("the plugin that fails was run like this: %q", text)
		}
	})
}
