package cli

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"syscall"

	"github.com/spf13/pflag"

	"github.com/crdconvert/webhookd/internal/cluster/crdwire"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/laws/hold"
)

// serverFlags name a running webhook that is tested. It may be one under development, so http is
// allowed.
type serverFlags struct{ server, caFile string }

func (f *serverFlags) add(flags *pflag.FlagSet, usage string) {
	flags.StringVar(&f.server, "server", "", usage)
	flags.StringVar(&f.caFile, "ca-file", "", caFileUsage+" (default those of the system)")
}

// endpoint reads the flags, and reports everything that is wrong with them.
func (f *serverFlags) endpoint() (*serverEndpoint, error) {
	return newEndpoint("server", f.server, "ca-file", f.caFile)
}

// A serverEndpoint is a webhook and the connections to it.
type serverEndpoint struct {
	*crdwire.Endpoint

	client *http.Client
}

// newEndpoint reads the values of two flags, a URL and the file of its CAs.
func newEndpoint(urlFlag, at, caFlag, caFile string) (*serverEndpoint, error) {
	bundle, bundleErr := readBundle(caFlag, caFile)
	e := &crdwire.Endpoint{Target: crdwire.Target{URL: at}, Bundle: bundle}
	return &serverEndpoint{e, e.Client(true)}, errors.Join(checkServerURL(urlFlag, at), bundleErr)
}

func (e *serverEndpoint) post(ctx context.Context, review []byte) ([]byte, error) {
	answer, err := e.PostBy(ctx, e.client, review)
	return answer, hintConnection(err)
}

// hintConnection adds a remedy to an error of a connection to a webhook.
func hintConnection(err error) error {
	hint := ""
	if _, is := errors.AsType[x509.UnknownAuthorityError](err); is {
		hint = "give the CA of the webhook's certificate with --ca-file, such as ca.crt of its Secret"
	} else if _, is := errors.AsType[x509.HostnameError](err); is {
		hint = "give a host or a Service that the certificate names; --service with --address connects elsewhere, such as to a kubectl port-forward"
	} else if _, is := errors.AsType[*net.DNSError](err); is {
		hint = "the name of a Service is known only in the cluster: give --service, with --address of a kubectl port-forward"
	} else if errors.Is(err, http.ErrSchemeMismatch) {
		hint = "this port speaks HTTP, such as that of health and metrics: give the one on which the webhook listens"
	} else if errors.Is(err, syscall.ECONNREFUSED) {
		hint = "start the webhook, or give the port on which it listens"
	}
	if hint == "" {
		return err
	}
	return hintError{err, hint}
}

// addDrops adds --drop for a webhook whose losses no rules declare.
func addDrops(flags *pflag.FlagSet, paths *[]string, what string) {
	flags.StringArrayVar(paths, "drop", nil, "`path` that "+what+", at any version, such as .spec.ports[].name;\nmay be given more than once")
}

func parseDrops(paths []string) ([]hold.Drop, error) {
	drops := make([]hold.Drop, 0, len(paths))
	var problems []error
	for _, path := range paths {
		if _, err := syntax.ParsePath(path); err != nil {
			problems = append(problems, fmt.Errorf("--drop %q: not a path, write it as rules do: %w", path, err))
		}
		drops = append(drops, hold.Drop{Path: path})
	}
	return drops, errors.Join(problems...)
}

func checkServerURL(flag, text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" {
		return fmt.Errorf("not the URL of a webhook, write https://HOST[:PORT]/PATH without user, query and fragment: --%s", flag)
	}
	return nil
}
