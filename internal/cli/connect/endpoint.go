package connect

import (
	"context"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/url"
	"syscall"

	"github.com/spf13/pflag"

	"github.com/crdconvert/webhookd/internal/cli/voice"
	"github.com/crdconvert/webhookd/internal/cluster/crdwire"
	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/laws/conformance"
	"github.com/crdconvert/webhookd/internal/laws/hold"
	"github.com/crdconvert/webhookd/internal/review/reviewclient"
)

// WebhookFlags name a running webhook that is tested. It may be one under development, so http is
// allowed.
type WebhookFlags struct {
	URL, CAFile     string
	urlFlag, caFlag string
}

// Add adds the flags with these names. The usage of the URL is the verb's own.
func (f *WebhookFlags) Add(flags *pflag.FlagSet, urlFlag, usage, caFlag string) {
	f.urlFlag, f.caFlag = urlFlag, caFlag
	flags.StringVar(&f.URL, urlFlag, "", usage)
	flags.StringVar(&f.CAFile, caFlag, "", "`file` with the CAs of its certificate, in PEM (default those of the system)")
}

// Webhook reads the flags, and reports everything that is wrong with them.
func (f *WebhookFlags) Webhook() (*Webhook, error) {
	bundle, bundleErr := readBundle(f.caFlag, f.CAFile)
	u, err := url.Parse(f.URL)
	wrong := err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != ""
	return Connected(&crdwire.Endpoint{Target: crdwire.Target{URL: f.URL}, Bundle: bundle}), errors.Join(bundleErr,
		voice.Problem(wrong, "--%s: not the URL of a webhook, write https://HOST[:PORT]/PATH without user, query and fragment", f.urlFlag))
}

// A Webhook is a webhook and the connections to it.
type Webhook struct {
	*crdwire.Endpoint

	client *http.Client
}

// Connected returns the webhook at an endpoint.
func Connected(e *crdwire.Endpoint) *Webhook { return &Webhook{e, e.Client(true)} }

// Post posts a review, and returns the answer.
func (e *Webhook) Post(ctx context.Context, review []byte) ([]byte, error) {
	answer, err := e.PostBy(ctx, e.client, review)
	return answer, HintConnection(err)
}

// Remote converts objects of a group by the webhook.
func (e *Webhook) Remote(group string) hold.Remote {
	return conformance.Remote(group, e.Post)
}

// Try posts a review without objects, so that a webhook that cannot be called is one error and not
// one for each object. Any answer will do.
func (e *Webhook) Try(ctx context.Context, kind *converters.Kind) error {
	probe := crdwire.Probe{Kind: kind.GroupKind, To: kind.Versions[0]}
	_, err := e.Post(ctx, probe.Review("v1"))
	if _, answered := errors.AsType[*reviewclient.StatusError](err); answered {
		return nil
	}
	return err
}

// HintConnection adds a remedy to an error of a connection to a webhook.
func HintConnection(err error) error {
	switch {
	case is[x509.UnknownAuthorityError](err):
		return voice.Hint(err, "give the CA of the webhook's certificate with --ca-file, such as ca.crt of its Secret")
	case is[x509.HostnameError](err):
		return voice.Hint(err, "give a host or a Service that the certificate names; --service with --address connects elsewhere, such as to a kubectl port-forward")
	case is[*net.DNSError](err):
		return voice.Hint(err, "the name of a Service is known only in the cluster: connect to its kubectl port-forward")
	case errors.Is(err, http.ErrSchemeMismatch):
		return voice.Hint(err, "this port speaks HTTP, such as that of health and metrics: give the one on which the webhook listens")
	case errors.Is(err, syscall.ECONNREFUSED):
		return voice.Hint(err, "start the webhook, or give the port on which it listens")
	}
	return err
}

func is[E error](err error) bool {
	_, found := errors.AsType[E](err)
	return found
}
