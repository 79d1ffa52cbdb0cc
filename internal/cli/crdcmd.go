package cli

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/crdconvert/webhookd/internal/crdwire"
	"github.com/crdconvert/webhookd/internal/kubeapi"
	"github.com/crdconvert/webhookd/internal/ruleset"
)

func newCRDCommand(p *program) *cobra.Command {
	cmd := newGroup("crd", "Point CRDs at webhookd, tell what they point at, and guard their kinds",
		`Point CustomResourceDefinitions at webhookd, in their files and in a cluster, tell what they point at, and print admission
policies for their kinds.

The commands that change a cluster run in Jobs of the Helm chart, each with a ServiceAccount that may do no more than what
its help says. The server itself has no access to the API.`)
	cmd.AddCommand(newCRDWireCommand(p), newCRDStatusCommand(p), newCRDApplyCommand(p), newCRDReleaseCommand(p),
		newCRDGuardCommand(p))
	return cmd
}

// targetFlags say where a webhook is.
type targetFlags struct {
	service, path, caFile, address string
	port                           int
}

func (f *targetFlags) addService(flags *pflag.FlagSet, usage string) {
	flags.StringVar(&f.service, "service", "", usage+", as `NAMESPACE/NAME`")
}

func (f *targetFlags) addPort(flags *pflag.FlagSet) {
	flags.IntVar(&f.port, "port", crdwire.DefaultPort, "port of the Service")
	flags.StringVar(&f.path, "path", crdwire.DefaultPath, "`url-path` of the webhook")
}

func (f *targetFlags) addAddress(flags *pflag.FlagSet) {
	flags.StringVar(&f.address, "address", "", "`HOST:PORT` to connect to instead of the Service's name, such as that of a port-forward;\nthe name to verify stays the same")
}

// target reads the flags of a Service.
func (f *targetFlags) target() (crdwire.Target, error) {
	if f.service == "" {
		return crdwire.Target{}, errors.New("no Service: give that of webhookd with --service NAMESPACE/NAME")
	}
	t, err := crdwire.ParseService(f.service)
	if err != nil {
		return t, fmt.Errorf("--service: %w", err)
	}
	t.Port, t.Path = f.port, f.path
	return t, errors.Join(checkPort(f.port), checkPath(f.path))
}

func checkPort(port int) error {
	if port < 1 || port > 65535 {
		return fmt.Errorf("not a port, write 1 to 65535: --port %d", port)
	}
	return nil
}

func checkPath(path string) error {
	if !strings.HasPrefix(path, "/") || strings.ContainsAny(path, "?# ") {
		return fmt.Errorf("not a path, write it with a / first, and without a query: --path %q", path)
	}
	return nil
}

// checkAddress checks --address, which may be left out.
func checkAddress(address string) error {
	if _, port, err := net.SplitHostPort(address); address != "" && (err != nil || port == "") {
		return fmt.Errorf("not an address, write HOST:PORT such as 127.0.0.1:9443: --address %q", address)
	}
	return nil
}

// noUse reports flags that were given and change nothing.
func noUse(flags *pflag.FlagSet, why string, names ...string) error {
	var given []string
	for _, name := range names {
		if flags.Changed(name) {
			given = append(given, "--"+name)
		}
	}
	if len(given) == 0 {
		return nil
	}
	return fmt.Errorf("of no use %s: %s", why, strings.Join(given, ", "))
}

// bundle reads the CA file; without one there is none.
func (f *targetFlags) bundle() (crdwire.Bundle, error) {
	if f.caFile == "" {
		return nil, nil
	}
	text, err := os.ReadFile(f.caFile)
	if err != nil {
		return nil, ruleset.Origin{What: "the CAs", Remedy: "give their file with --ca-file"}.Unread(f.caFile, err)
	}
	b, err := crdwire.ParseBundle(text)
	if err != nil {
		return nil, fmt.Errorf("--ca-file: %w: %s", err, f.caFile)
	}
	return b, nil
}

const caFileUsage = "`file` with the CAs, in PEM, that the webhook's certificate is from, such as ca.crt of its Secret"

// crdNames checks the names of CRDs that a flag was given.
func crdNames(flag string, names []string) error {
	for _, name := range names {
		if !strings.Contains(name, ".") || strings.ContainsAny(name, "/ ,") {
			return fmt.Errorf("not the name of a CRD, write PLURAL.GROUP such as crontabs.example.com: --%s %q", flag, name)
		}
	}
	return nil
}

// apiFlags say where the API server is, for use outside of a cluster.
type apiFlags struct{ server, tokenFile, caFile string }

func (f *apiFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.server, "api-server", "", "`URL` of the API server (default that of the cluster that this runs in);\nkubectl proxy serves http://127.0.0.1:8001")
	flags.StringVar(&f.tokenFile, "api-token-file", "", "`file` with a bearer token for --api-server")
	flags.StringVar(&f.caFile, "api-ca-file", "", "`file` with the CAs of --api-server (default those of the system)")
}

// client returns a client of the API server; inCluster says whether it is that of the cluster that this runs in. The other way
// out that a command has outside of one comes before that with the API server.
func (f *apiFlags) client(p *program, otherwise string) (api *kubeapi.Client, inCluster bool, err error) {
	c := kubeapi.Config{Server: f.server, TokenFile: f.tokenFile, CAFile: f.caFile}
	if f.server == "" {
		if c, err = kubeapi.InCluster(p.environ); err != nil {
			return nil, false, usage(err, "outside of one, "+otherwise+"name the API server with --api-server; kubectl proxy serves http://127.0.0.1:8001")
		}
		inCluster = true
	}
	c.UserAgent = "webhookd/" + p.build.Version
	api, err = kubeapi.New(c)
	if err != nil {
		return nil, false, usage(ruleset.Origin{What: "the CAs of the API server", Remedy: "give their file with --api-ca-file"}.Unread(c.CAFile, err), "")
	}
	return api, inCluster, nil
}

// tell says to a person what is done.
func (p *program) tell(format string, args ...any) {
	fmt.Fprintf(p.stderr, "webhookd: "+format+"\n", args...)
}
