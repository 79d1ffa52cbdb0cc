package connect

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/crdconvert/webhookd/internal/cli/voice"
	"github.com/crdconvert/webhookd/internal/cluster"
	"github.com/crdconvert/webhookd/internal/serve/ruleset"
)

// ClusterFlags name a cluster, as they do for kubectl.
type ClusterFlags struct{ cluster.Options }

// Add adds all flags.
func (f *ClusterFlags) Add(flags *pflag.FlagSet) {
	f.AddConfig(flags)
	flags.StringVarP(&f.Namespace, "namespace", "n", "", "`namespace` of a Service or Secret given without one (default that of the context)")
}

// AddConfig adds the flags but --namespace.
func (f *ClusterFlags) AddConfig(flags *pflag.FlagSet) {
	flags.StringVar(&f.Kubeconfig, "kubeconfig", "", "`file` that names clusters (default those of KUBECONFIG, or ~/.kube/config;\nin a pod without one, the cluster of the pod)")
	flags.StringVar(&f.Context, "context", "", "`name` of a context in the kubeconfig (default the current one)")
}

// Qualified returns NAMESPACE/NAME.
func (f *ClusterFlags) Qualified(name string) (string, error) {
	if strings.Contains(name, "/") {
		return name, nil
	}
	namespace, err := f.DefaultNamespace()
	if err != nil {
		return "", fmt.Errorf("%q without a namespace: write NAMESPACE/NAME, or give -n: %w", name, err)
	}
	return namespace + "/" + name, nil
}

// Client returns a client of the API server. otherwise is the command's alternative to a cluster,
// which the hint names first. If there are problems with the command line, it returns those.
func (f *ClusterFlags) Client(p *voice.Program, otherwise string, problems ...error) (*cluster.Client, error) {
	if err := errors.Join(problems...); err != nil {
		return nil, voice.Usage(err, "")
	}
	f.UserAgent = "webhookd/" + p.Build.Version
	api, err := cluster.New(f.Options)
	switch {
	case errors.Is(err, cluster.ErrNone):
		return nil, voice.Usage(err, otherwise+"name the kubeconfig with --kubeconfig or KUBECONFIG")
	case err != nil:
		return nil, voice.Usage(ruleset.Origin{What: "the kubeconfig", Remedy: "give its file with --kubeconfig"}.Unread(f.Kubeconfig, err), "")
	}
	return api, nil
}
