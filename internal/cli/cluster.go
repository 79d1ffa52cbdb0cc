package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/crdconvert/webhookd/internal/cluster"
	"github.com/crdconvert/webhookd/internal/serve/ruleset"
)

// clusterFlags name a cluster, as they do for kubectl.
type clusterFlags struct{ cluster.Options }

func (f *clusterFlags) add(flags *pflag.FlagSet) {
	f.addConfig(flags)
	flags.StringVarP(&f.Namespace, "namespace", "n", "", "`namespace` of a Service or Secret given without one (default that of the context)")
}

func (f *clusterFlags) addConfig(flags *pflag.FlagSet) {
	flags.StringVar(&f.Kubeconfig, "kubeconfig", "", "`file` that names clusters (default those of KUBECONFIG, or ~/.kube/config;\nin a pod without one, the cluster of the pod)")
	flags.StringVar(&f.Context, "context", "", "`name` of a context in the kubeconfig (default the current one)")
}

// qualified returns NAMESPACE/NAME.
func (f *clusterFlags) qualified(name string) (string, error) {
	if strings.Contains(name, "/") {
		return name, nil
	}
	namespace, err := f.DefaultNamespace()
	if err != nil {
		return "", fmt.Errorf("%q without a namespace: write NAMESPACE/NAME, or give -n: %w", name, err)
	}
	return namespace + "/" + name, nil
}

// client returns a client of the API server. otherwise is the command's alternative to a cluster,
// which the hint names first.
func (f *clusterFlags) client(p *program, otherwise string) (*cluster.Client, error) {
	f.UserAgent = "webhookd/" + p.build.Version
	api, err := cluster.New(f.Options)
	switch {
	case errors.Is(err, cluster.ErrNone):
		return nil, usage(err, otherwise+"name the kubeconfig with --kubeconfig or KUBECONFIG")
	case err != nil:
		return nil, usage(ruleset.Origin{What: "the kubeconfig", Remedy: "give its file with --kubeconfig"}.Unread(f.Kubeconfig, err), "")
	}
	return api, nil
}
