package cluster

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"slices"

	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// Options name a cluster as kubectl's flags do. Each may be empty.
type Options struct {
	Kubeconfig string // file, instead of those of KUBECONFIG or ~/.kube/config
	Context    string // instead of the current one of the kubeconfig
	Namespace  string // instead of that of the context
	// UserAgent names the program in the API server's audit log.
	UserAgent string
	// Transport carries requests in place of a network if it is set.
	Transport http.RoundTripper
}

// ErrNone is returned if no cluster is named.
var ErrNone = errors.New("no cluster: there is no kubeconfig, and this is not a pod")

// loader reads the kubeconfig, or in a pod without one, the pod's ServiceAccount.
func (o *Options) loader() clientcmd.ClientConfig {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = o.Kubeconfig
	rules.WarnIfAllMissing = false // ErrNone says so
	return clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{
		CurrentContext: o.Context, Context: api.Context{Namespace: o.Namespace},
	})
}

// DefaultNamespace returns the namespace of names without one.
func (o *Options) DefaultNamespace() (string, error) {
	namespace, _, err := o.loader().Namespace()
	return namespace, o.explain(err)
}

// Contexts returns the names of the contexts of the kubeconfig.
func (o *Options) Contexts() []string {
	raw, err := o.loader().RawConfig()
	if err != nil {
		return nil
	}
	return slices.Sorted(maps.Keys(raw.Contexts))
}

func (o *Options) explain(err error) error {
	if err == nil {
		return nil
	}
	found := ""
	for _, name := range o.loader().ConfigAccess().GetLoadingPrecedence() {
		_, wrong := clientcmd.LoadFromFile(name)
		file, unread := errors.AsType[*fs.PathError](wrong)
		switch {
		case unread && o.Kubeconfig == "" && errors.Is(wrong, fs.ErrNotExist):
		case unread:
			return fmt.Errorf("%s: cannot read the kubeconfig: %w, give its file with --kubeconfig", name, file.Err)
		case wrong != nil:
			return fmt.Errorf("%s: not a kubeconfig: %w, give another file with --kubeconfig", name, wrong)
		default:
			found = name
		}
	}
	switch {
	case found != "" && o.Context != "" && !slices.Contains(o.Contexts(), o.Context):
		return fmt.Errorf("--context %s: no such context in the kubeconfig, kubectl config get-contexts lists them", o.Context)
	case !clientcmd.IsEmptyConfig(err):
		return fmt.Errorf("kubeconfig: %w", err)
	case found != "":
		return fmt.Errorf("%s: no cluster in the context, give another file with --kubeconfig or another context with --context", found)
	}
	return ErrNone
}
