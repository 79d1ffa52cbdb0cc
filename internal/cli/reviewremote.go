package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"

	"github.com/spf13/pflag"

	"github.com/crdconvert/webhookd/internal/cluster/crdwire"
)

// remoteFlags make review post to a running webhookd.
type remoteFlags struct {
	targetFlags

	server        string
	files, probes []string
}

func (f *remoteFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.server, "server", "", "post the review to a running webhookd at this `URL`, such as https://localhost:9443/crdconvert")
	f.addService(flags, "post the review to this Service as the API server does")
	f.addPort(flags)
	f.addAddress(flags)
	flags.StringVar(&f.caFile, "ca-file", "", caFileUsage+" (default those of the system)")
	flags.StringArrayVarP(&f.files, "filename", "f", nil, "`file` with a review, - for stdin, the default; may be given more than once; same as an argument")
	flags.StringArrayVar(&f.probes, "probe", nil, "post a test review instead of stdin: an object of `KIND.GROUP/FROM:TO`, or the word empty for one without objects;\nmay be given more than once")
	f.cluster.add(flags)
}

// check reports flags that have no effect without a server, or with the one that is given.
func (f *remoteFlags) check(flags *pflag.FlagSet) error {
	switch {
	case !f.given():
		return noUse(flags, "without a running webhookd, give --server or --service",
			"port", "path", "address", "ca-file", "probe")
	case len(f.files) > 0 && len(f.probes) > 0:
		return errors.New("both files and test reviews: give files or --probe")
	case f.service == "":
		return noUse(flags, "with --server, whose URL has it", "port", "path")
	}
	return nil
}

func (f *remoteFlags) given() bool { return f.server != "" || f.service != "" }

// endpoint reads the flags, and reports everything that is wrong with them.
func (f *remoteFlags) endpoint() (*crdwire.Endpoint, []crdwire.Probe, error) {
	var target crdwire.Target
	var targetErr error
	switch {
	case f.server != "" && f.service != "":
		targetErr = errors.New("both a URL and a Service: give --server or --service")
	case f.service != "":
		target, targetErr = f.target()
	default:
		if target, targetErr = crdwire.ParseURL(f.server); targetErr != nil {
			targetErr = fmt.Errorf("--server: %w", targetErr)
		} else if u, err := url.Parse(f.server); err == nil && u.Path == "" {
			target.URL += crdwire.DefaultPath
		}
	}
	bundle, bundleErr := f.bundle()
	problems := append(make([]error, 0, 3+len(f.probes)), targetErr, bundleErr, checkAddress(f.address))
	probes := make([]crdwire.Probe, 0, len(f.probes))
	for _, text := range f.probes {
		probe, err := crdwire.ParseProbe(text)
		if err != nil {
			err = fmt.Errorf("--probe: %w", err)
		}
		problems, probes = append(problems, err), append(probes, probe)
	}
	return &crdwire.Endpoint{Target: target, Bundle: bundle, Address: f.address}, probes, errors.Join(problems...)
}

// reviewRemotely posts stdin, files, or test reviews to a running webhookd.
func (p *program) reviewRemotely(ctx context.Context, f *remoteFlags) error {
	endpoint, probes, err := f.endpoint()
	if err != nil {
		return usage(err, "")
	}
	for _, name := range f.files {
		body, err := p.readReview(name)
		if err != nil {
			return err
		}
		if err := p.postReview(ctx, endpoint, body); err != nil {
			if name != stdinName {
				err = fmt.Errorf("%s: %w", name, err)
			}
			return err
		}
	}
	for i := range probes {
		if err := probes[i].Try(ctx, endpoint, "v1"); err != nil {
			return hintConnection(err)
		}
		p.note("answered by %s: %s", endpoint.Target, &probes[i])
	}
	return nil
}

// postReview writes the answer to stdout, and checks it as the API server does.
func (p *program) postReview(ctx context.Context, endpoint *crdwire.Endpoint, body []byte) error {
	var review struct {
		Request struct {
			UID     string            `json:"uid"`
			Desired string            `json:"desiredAPIVersion"`
			Objects []json.RawMessage `json:"objects"`
		} `json:"request"`
	}
	_ = json.Unmarshal(body, &review) // the server reports what is wrong with it
	answer, err := endpoint.Post(ctx, body)
	if err != nil {
		return fmt.Errorf("%w: %s", hintConnection(hintObject(err, body, "this is an object, not a review: webhookd compare -f FILE --to VERSION --server URL posts it")), endpoint.Target)
	}
	if _, err := p.stdout.Write(answer); err != nil {
		return fmt.Errorf("cannot write the answer: %w", err)
	}
	_, err = crdwire.CheckAnswer(answer, review.Request.UID, review.Request.Desired, len(review.Request.Objects))
	return err
}
