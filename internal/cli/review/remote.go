package review

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"

	"github.com/spf13/pflag"

	"github.com/crdconvert/webhookd/internal/cli/connect"
	"github.com/crdconvert/webhookd/internal/cli/offline"
	"github.com/crdconvert/webhookd/internal/cli/voice"
	"github.com/crdconvert/webhookd/internal/cluster/crdwire"
)

// remoteFlags make review post to a running webhookd.
type remoteFlags struct {
	connect.TargetFlags

	server        string
	files, probes []string
}

func (f *remoteFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.server, "server", "", "post the review to a running webhookd at this `URL`, such as https://localhost:9443/crdconvert")
	f.AddService(flags, "post the review to this Service as the API server does")
	f.AddPort(flags)
	f.AddAddress(flags)
	flags.StringVar(&f.CAFile, "ca-file", "", connect.CAFileUsage+" (default those of the system)")
	flags.StringArrayVarP(&f.files, "filename", "f", nil, "`file` with a review, - for stdin, the default; may be given more than once; same as an argument")
	flags.StringArrayVar(&f.probes, "probe", nil, "post a test review instead of stdin: an object of `KIND.GROUP/FROM:TO`, or the word empty for one without objects;\nmay be given more than once")
	f.Cluster.Add(flags)
}

// check reports flags that have no effect without a server, or with the one that is given.
func (f *remoteFlags) check(flags *pflag.FlagSet) error {
	switch {
	case !f.given():
		return voice.NoUse(flags, "without a running webhookd, give --server or --service",
			"port", "path", "address", "ca-file", "probe")
	case len(f.files) > 0 && len(f.probes) > 0:
		return errors.New("both files and test reviews: give files or --probe")
	case f.Service == "":
		return voice.NoUse(flags, "with --server, whose URL has it", "port", "path")
	}
	return nil
}

func (f *remoteFlags) given() bool { return f.server != "" || f.Service != "" }

// endpoint reads the flags, and reports everything that is wrong with them.
func (f *remoteFlags) endpoint() (*crdwire.Endpoint, []crdwire.Probe, error) {
	var target crdwire.Target
	var targetErr error
	switch {
	case f.server != "" && f.Service != "":
		targetErr = errors.New("both a URL and a Service: give --server or --service")
	case f.Service != "":
		target, targetErr = f.Target()
	default:
		if target, targetErr = crdwire.ParseURL(f.server); targetErr != nil {
			targetErr = fmt.Errorf("--server: %w", targetErr)
		} else if u, err := url.Parse(f.server); err == nil && u.Path == "" {
			target.URL += crdwire.DefaultPath
		}
	}
	bundle, bundleErr := f.Bundle()
	problems := append(make([]error, 0, 3+len(f.probes)), targetErr, bundleErr, connect.CheckAddress(f.Address))
	probes := make([]crdwire.Probe, 0, len(f.probes))
	for _, text := range f.probes {
		probe, err := crdwire.ParseProbe(text)
		if err != nil {
			err = fmt.Errorf("--probe: %w", err)
		}
		problems, probes = append(problems, err), append(probes, probe)
	}
	return &crdwire.Endpoint{Target: target, Bundle: bundle, Address: f.Address}, probes, errors.Join(problems...)
}

// reviewRemotely posts stdin, files, or test reviews to a running webhookd.
func reviewRemotely(ctx context.Context, p *voice.Program, f *remoteFlags) error {
	endpoint, probes, err := f.endpoint()
	if err != nil {
		return voice.Usage(err, "")
	}
	for _, name := range f.files {
		body, err := readReview(p, name)
		if err != nil {
			return err
		}
		if err := postReview(ctx, p, endpoint, body); err != nil {
			if name != offline.Stdin {
				err = fmt.Errorf("%s: %w", name, err)
			}
			return err
		}
	}
	for i := range probes {
		if err := probes[i].Try(ctx, endpoint, "v1"); err != nil {
			return connect.HintConnection(err)
		}
		p.Note("answered by %s: %s", endpoint.Target, &probes[i])
	}
	return nil
}

// postReview writes the answer to stdout, and checks it as the API server does.
func postReview(ctx context.Context, p *voice.Program, endpoint *crdwire.Endpoint, body []byte) error {
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
		return fmt.Errorf("%w: %s", connect.HintConnection(hintObject(err, body, "this is an object, not a review: webhookd compare -f FILE --to VERSION --server URL posts it")), endpoint.Target)
	}
	if _, err := p.Stdout.Write(answer); err != nil {
		return fmt.Errorf("cannot write the answer: %w", err)
	}
	_, err = crdwire.CheckAnswer(answer, review.Request.UID, review.Request.Desired, len(review.Request.Objects))
	return err
}
