package connect

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/crdconvert/webhookd/internal/cli/voice"
	"github.com/crdconvert/webhookd/internal/cluster"
	"github.com/crdconvert/webhookd/internal/cluster/crdwire"
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
	switch {
	case errors.Is(err, cluster.ErrNone):
		return "", fmt.Errorf("%q: no namespace, and no kubeconfig to take one from: write NAMESPACE/NAME or give -n", name)
	case err != nil: // which says what to do
		return "", fmt.Errorf("%q: no namespace, since the kubeconfig gives none: %w", name, err)
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
		return nil, voice.Usage(err, "")
	}
	return api, nil
}

// TargetFlags name a webhook.
type TargetFlags struct {
	Cluster                        ClusterFlags
	Service, Path, CAFile, Address string
	Port                           int
}

// AddService adds --service.
func (f *TargetFlags) AddService(flags *pflag.FlagSet, usage string) {
	flags.StringVar(&f.Service, "service", "", usage+", as `[NAMESPACE/]NAME`")
}

// AddPort adds --port and --path.
func (f *TargetFlags) AddPort(flags *pflag.FlagSet) {
	flags.IntVar(&f.Port, "port", crdwire.DefaultPort, "port of the Service")
	flags.StringVar(&f.Path, "path", crdwire.DefaultPath, "`url-path` of the webhook")
}

// AddAddress adds --address.
func (f *TargetFlags) AddAddress(flags *pflag.FlagSet) {
	flags.StringVar(&f.Address, "address", "", "`HOST:PORT` to connect to instead of the Service's name, such as that of a port-forward;\nthe name to verify stays the same")
}

// Target reads the flags of a Service.
func (f *TargetFlags) Target() (crdwire.Target, error) {
	if f.Service == "" {
		return crdwire.Target{}, errors.New("no Service: give that of webhookd with --service NAMESPACE/NAME")
	}
	t, err := f.OptionalService()
	if err != nil {
		return t, err
	}
	t.Port, t.Path = f.Port, f.Path
	return t, errors.Join(
		voice.Problem(f.Port < 1 || f.Port > 65535, "--port %d: not a port, write 1 to 65535", f.Port),
		voice.Problem(!strings.HasPrefix(f.Path, "/") || strings.ContainsAny(f.Path, "?# "), "--path %q: not a path, write it with a / first, and without a query", f.Path))
}

// OptionalService reads --service. Without it the Target is empty.
func (f *TargetFlags) OptionalService() (t crdwire.Target, err error) {
	if f.Service == "" {
		return t, nil
	}
	service, err := f.Cluster.Qualified(f.Service)
	if err == nil {
		t, err = crdwire.ParseService(service)
	}
	if err != nil {
		err = fmt.Errorf("--service %w", err)
	}
	return t, err
}

// CheckAddress checks --address, which is optional.
func CheckAddress(address string) error {
	_, port, err := net.SplitHostPort(address)
	return voice.Problem(address != "" && (err != nil || port == ""), "--address %q: not an address, write HOST:PORT such as 127.0.0.1:9443", address)
}

// Bundle reads the CA file. Without --ca-file the bundle is nil.
func (f *TargetFlags) Bundle() (crdwire.Bundle, error) { return readBundle("ca-file", f.CAFile) }

// readBundle reads the CAs in the file of a flag. Without a file the bundle is nil.
func readBundle(flag, file string) (crdwire.Bundle, error) {
	if file == "" {
		return nil, nil
	}
	text, err := os.ReadFile(file) //nolint:gosec // the user's own file
	if err != nil {
		return nil, ruleset.Origin{What: "the CAs", Remedy: "give their file with --" + flag}.Unread(file, err)
	}
	b, err := crdwire.ParseBundle(text)
	if err != nil {
		err = fmt.Errorf("--%s: %s: %w", flag, file, err)
	}
	return b, err
}

// CAFileUsage is the usage of --ca-file.
const CAFileUsage = "`file` with the CAs of the webhook's certificate, in PEM, such as ca.crt of its Secret"

// CheckCRDNames checks the values of a flag that names CRDs. An argument has no flag.
func CheckCRDNames(flag string, names []string) error {
	for _, name := range names {
		if !strings.Contains(name, ".") || strings.ContainsAny(name, "/ ,") {
			if flag != "" {
				flag = "--" + flag + " "
			}
			return fmt.Errorf("%s%q: not the name of a CRD, write PLURAL.GROUP such as crontabs.example.com", flag, name)
		}
	}
	return nil
}
