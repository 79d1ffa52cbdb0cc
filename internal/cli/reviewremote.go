package cli

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"

	"github.com/spf13/pflag"

	"github.com/crdconvert/webhookd/internal/cluster/crdwire"
	"github.com/crdconvert/webhookd/internal/review/reviewclient"
	"github.com/crdconvert/webhookd/internal/schema/manifest"
)

// remoteFlags make review post to a running webhookd.
type remoteFlags struct {
	targetFlags

	server, to    string
	files, probes []string
}

func (f *remoteFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.server, "server", "", "post the review to a running webhookd at this `URL`, such as https://localhost:9443/crdconvert")
	f.addService(flags, "post the review to this Service as the API server does")
	f.addPort(flags)
	f.addAddress(flags)
	flags.StringVar(&f.caFile, "ca-file", "", caFileUsage+" (default those of the system)")
	flags.StringArrayVarP(&f.files, "filename", "f", nil, "`file` with a review, or with objects if there is --to, - for stdin, the default;\nmay be given more than once; same as an argument")
	flags.StringVar(&f.to, "to", "", "the files have objects: post them for conversion to this `version`, and print what changes")
	flags.StringArrayVar(&f.probes, "probe", nil, "post a test review instead of stdin: an object of `KIND.GROUP/FROM:TO`, or the word empty for one without objects;\nmay be given more than once")
	f.cluster.add(flags)
}

// check reports flags that have no effect without a server, or with the one that is given.
func (f *remoteFlags) check(flags *pflag.FlagSet) error {
	switch {
	case !f.given():
		return noUse(flags, "without a running webhookd, give --server or --service",
			"port", "path", "address", "ca-file", "to", "probe")
	case f.to != "" && len(f.probes) > 0:
		return errors.New("both objects and test reviews: give --to or --probe")
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
	if f.to != "" {
		return p.reviewObjects(ctx, &serverEndpoint{endpoint, endpoint.Client(true)}, f)
	}
	for _, name := range f.files {
		body, err := p.readReview(name)
		if err != nil {
			return err
		}
		if err := p.postReview(ctx, endpoint, body); err != nil {
			if name != stdinName {
				err = fmt.Errorf("%w: %s", err, name)
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

// reviewObjects posts a review with each object, and prints what the webhook changes. It prints
// nothing unless all objects are converted.
func (p *program) reviewObjects(ctx context.Context, endpoint *serverEndpoint, f *remoteFlags) error {
	inputs, err := p.readInputs(f.files)
	if err != nil {
		return err
	}
	var problems []error
	results := make([]manifest.File, len(inputs))
	o := &convertOptions{to: f.to}
	for i := range inputs {
		in := &inputs[i]
		results[i] = manifest.File{Name: in.Name, Format: in.Format, Documents: make([][]byte, len(in.Documents))}
		for j, document := range in.Documents {
			if results[i].Documents[j], err = postObject(ctx, endpoint, document, o); err != nil {
				problems = append(problems, fmt.Errorf("%s: %w", in.Describe(j), err))
			}
		}
	}
	if err := errors.Join(problems...); err != nil {
		return fmt.Errorf("%w: %s", err, endpoint.Target)
	}
	out, err := diffs(inputs, results, o)
	if err != nil {
		return err
	}
	if len(out) == 0 {
		p.note("the webhook changes nothing, as for objects that are at this version: %s", endpoint.Target)
	}
	_, err = p.stdout.Write(p.paintDiff(out))
	return err
}

// postObject returns an object as the webhook converts it.
func postObject(ctx context.Context, endpoint *serverEndpoint, object []byte, o *convertOptions) ([]byte, error) {
	_, gvk, err := manifest.ParseObject(object)
	if err != nil {
		return nil, err
	}
	group, version := o.target()
	if group != "" && group != gvk.Group {
		return nil, fmt.Errorf("not of the group of --to: %s", gvk.GroupKind())
	}
	uid := "webhookd-review-" + rand.Text()
	answer, err := endpoint.post(ctx, reviewclient.Request("v1", uid, gvk.Group+"/"+version, object))
	if err != nil {
		return nil, err
	}
	converted, err := crdwire.CheckAnswer(answer, uid)
	if err == nil && len(converted) != 1 {
		err = fmt.Errorf("answer has %d objects, not 1", len(converted))
	}
	if err != nil {
		return nil, err
	}
	if _, is, err := manifest.ParseObject(converted[0]); err != nil || is != gvk.GroupKind().WithVersion(version) {
		return nil, errors.Join(errors.New("answer with an object of another kind or version than requested"), err)
	}
	return converted[0], nil
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
		return fmt.Errorf("%w: %s", hintConnection(hintObject(err, body, "for an object give the version that it is converted to with --to")), endpoint.Target)
	}
	if _, err := p.stdout.Write(answer); err != nil {
		return fmt.Errorf("cannot write the answer: %w", err)
	}
	objects, err := crdwire.CheckAnswer(answer, review.Request.UID)
	if err != nil {
		return err
	}
	if len(objects) != len(review.Request.Objects) {
		return fmt.Errorf("answer has %d objects, not %d", len(objects), len(review.Request.Objects))
	}
	for i, text := range objects {
		var object struct {
			APIVersion string `json:"apiVersion"`
		}
		if err := json.Unmarshal(text, &object); err != nil || object.APIVersion != review.Request.Desired {
			return fmt.Errorf("answer with an object that is not at the requested version: objects[%d]", i)
		}
	}
	return nil
}
