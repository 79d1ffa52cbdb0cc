package cli

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/crdconvert/webhookd/internal/cluster/crdwire"
	"github.com/crdconvert/webhookd/internal/serve/ruleset"
)

func newCRDCommand(p *program) *cobra.Command {
	cmd := newGroup("crd", "Point CRDs at webhookd, show what they point at, and guard their kinds",
		`Point CustomResourceDefinitions at webhookd, in files and in a cluster, show what they point at, and print admission
policies for their kinds.

The Helm chart runs the commands that change a cluster in Jobs. Each Job has a ServiceAccount with only the permissions
that the command's help lists. The server itself has no access to the API.`)
	cmd.AddCommand(newCRDWireCommand(p), newCRDStatusCommand(p), newCRDApplyCommand(p), newCRDReleaseCommand(p),
		newCRDGuardCommand(p))
	return cmd
}

// targetFlags name a webhook.
type targetFlags struct {
	cluster                        clusterFlags
	service, path, caFile, address string
	port                           int
}

func (f *targetFlags) addService(flags *pflag.FlagSet, usage string) {
	flags.StringVar(&f.service, "service", "", usage+", as `[NAMESPACE/]NAME`")
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
	t, err := f.optionalService()
	if err != nil {
		return t, err
	}
	t.Port, t.Path = f.port, f.path
	return t, errors.Join(checkPort(f.port), checkPath(f.path))
}

// optionalService reads --service. Without it the Target is empty.
func (f *targetFlags) optionalService() (crdwire.Target, error) {
	if f.service == "" {
		return crdwire.Target{}, nil
	}
	service, err := f.cluster.qualified(f.service)
	if err != nil {
		return crdwire.Target{}, fmt.Errorf("--service: %w", err)
	}
	t, err := crdwire.ParseService(service)
	if err != nil {
		err = fmt.Errorf("--service: %w", err)
	}
	return t, err
}

func checkPort(port int) error {
	if port < 1 || port > 65535 {
		return fmt.Errorf("--port %d: not a port, write 1 to 65535", port)
	}
	return nil
}

func checkPath(path string) error {
	if !strings.HasPrefix(path, "/") || strings.ContainsAny(path, "?# ") {
		return fmt.Errorf("--path %q: not a path, write it with a / first, and without a query", path)
	}
	return nil
}

// checkAddress checks --address, which is optional.
func checkAddress(address string) error {
	if _, port, err := net.SplitHostPort(address); address != "" && (err != nil || port == "") {
		return fmt.Errorf("--address %q: not an address, write HOST:PORT such as 127.0.0.1:9443", address)
	}
	return nil
}

// noUse returns an error for given flags that have no effect.
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
	return fmt.Errorf("%s: of no use %s", strings.Join(given, ", "), why)
}

// bundle reads the CA file. Without --ca-file the bundle is nil.
func (f *targetFlags) bundle() (crdwire.Bundle, error) { return readBundle("ca-file", f.caFile) }

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
		return nil, fmt.Errorf("--%s: %s: %w", flag, file, err)
	}
	return b, nil
}

const caFileUsage = "`file` with the CAs of the webhook's certificate, in PEM, such as ca.crt of its Secret"

// crdNames checks the values of a flag that names CRDs. An argument has no flag.
func crdNames(flag string, names []string) error {
	for _, name := range names {
		if !strings.Contains(name, ".") || strings.ContainsAny(name, "/ ,") {
			if flag != "" {
				flag = "--" + flag + " "
			}
			return fmt.Errorf("not the name of a CRD, write PLURAL.GROUP such as crontabs.example.com: %s%q", flag, name)
		}
	}
	return nil
}

// note prints one line about what the command does.
func (p *program) note(format string, args ...any) {
	fmt.Fprintf(p.stderr, "webhookd: "+format+"\n", args...)
}
