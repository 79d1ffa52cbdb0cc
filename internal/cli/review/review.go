package review

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/crdconvert/webhookd/internal/cli/connect"
	"github.com/crdconvert/webhookd/internal/cli/offline"
	"github.com/crdconvert/webhookd/internal/cli/voice"
	"github.com/crdconvert/webhookd/internal/cluster/crdwire"
	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/review"
	"github.com/crdconvert/webhookd/internal/schema/manifest"
	"github.com/crdconvert/webhookd/internal/serve/ruleset"
)

// New returns the command review.
func New(p *voice.Program) *cobra.Command {
	var o reviewOptions
	cmd := &cobra.Command{
		Use:   "review [FILE...] [--rules PATH --crds PATH] [--server URL | --service NAMESPACE/NAME]",
		Short: "Answer a ConversionReview, or post one to a running webhook",
		Long: `Answer the ConversionReview in a file or on stdin, such as a captured request body, byte for byte as serve would. The
exit code is 1 if the answer is Failed, or if it is not a ConversionReview.

With --server or --service the review is posted to a running webhookd, as the API server does it: over HTTP/1.1, with the
server's name verified. The answer must have the uid of the review, and the same number of objects at the requested
version. webhookd compare -f FILE posts an object, webhookd crd status test reviews.`,
		Example: `  webhookd review review.json --rules rules.yaml --crds crd.yaml
  webhookd review review.json --server https://localhost:9443/crdconvert --ca-file ca.crt`,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd, p) },
	}
	flags := cmd.Flags()
	o.ruled.Add(flags)
	flags.StringVar(&o.server, "server", "", "post the review to a running webhookd at this `URL`, such as https://localhost:9443/crdconvert")
	o.AddService(flags, "post the review to this Service as the API server does")
	o.AddPort(flags)
	o.AddAddress(flags)
	flags.StringVar(&o.CAFile, "ca-file", "", connect.CAFileUsage+" (default those of the system)")
	flags.StringArrayVarP(&o.files, "filename", "f", nil, "`file` with a review, - for stdin, the default; may be given more than once")
	o.Cluster.Add(flags)
	voice.FilesAfter(cmd, "filename")
	return cmd
}

// reviewOptions are the flags of review.
type reviewOptions struct {
	connect.TargetFlags

	ruled  offline.Flags
	server string
	files  []string
}

// check reports flags that have no effect without a running webhookd, or with the given one.
func (o *reviewOptions) check(flags *pflag.FlagSet) error {
	switch {
	case o.server == "" && o.Service == "":
		return voice.NoUse(flags, "without a running webhookd, give --server or --service", "port", "path", "address", "ca-file")
	case o.Service == "":
		return voice.NoUse(flags, "with --server, whose URL has it", "port", "path")
	}
	return nil
}

// run answers the reviews, or posts them.
func (o *reviewOptions) run(cmd *cobra.Command, p *voice.Program) error {
	if len(o.files) == 0 {
		o.files = []string{offline.Stdin}
	}
	if err := errors.Join(o.ruled.Check(o.files...), o.check(cmd.Flags())); err != nil {
		return voice.Usage(err, "")
	}
	ctx := cmd.Context()
	if o.server == "" && o.Service == "" {
		set, err := o.ruled.Load(ctx, p)
		if err != nil {
			return err
		}
		registry, err := set.Started(ctx)
		if err != nil {
			return err
		}
		return o.each(p, func(body []byte) error { return answer(ctx, p, registry, body) })
	}
	endpoint, err := o.endpoint()
	if err != nil {
		return voice.Usage(err, "")
	}
	return o.each(p, func(body []byte) error { return post(ctx, p, endpoint, body) })
}

// each does something with the review of each file, until it fails.
func (o *reviewOptions) each(p *voice.Program, do func(body []byte) error) error {
	for _, name := range o.files {
		body, err := offline.ReadFile(p, ruleset.Origin{What: "the review", Remedy: "name the file of a ConversionReview, or pipe one into it"}, name)
		if err != nil {
			return err
		}
		if name == offline.Stdin && len(bytes.TrimSpace(body)) == 0 {
			return errors.New("stdin: nothing to answer, pipe a ConversionReview into it")
		}
		if err := do(body); err != nil {
			return fmt.Errorf("%s: %w", offline.NamesOf([]string{name}), err)
		}
	}
	return nil
}

// endpoint reads the flags, and reports everything that is wrong with them.
func (o *reviewOptions) endpoint() (*crdwire.Endpoint, error) {
	var target crdwire.Target
	var targetErr error
	switch {
	case o.server != "" && o.Service != "":
		targetErr = errors.New("--server and --service: both name the webhook, give one")
	case o.Service != "":
		target, targetErr = o.Target()
	default:
		if target, targetErr = crdwire.ParseURL(o.server); targetErr != nil {
			targetErr = fmt.Errorf("--server: %w", targetErr)
		} else if u, err := url.Parse(o.server); err == nil && u.Path == "" {
			target.URL += crdwire.DefaultPath
		}
	}
	bundle, bundleErr := o.Bundle()
	return &crdwire.Endpoint{Target: target, Bundle: bundle, Address: o.Address}, errors.Join(targetErr, bundleErr, connect.CheckAddress(o.Address))
}

// answer writes the answer to one review.
func answer(ctx context.Context, p *voice.Program, registry *converters.Registry, body []byte) error {
	var result review.Result
	reviewer := review.NewReviewer(
		func() *converters.Registry { return registry },
		review.Hooks{
			ReviewDone: func(_ context.Context, r review.Result) { result = r },
			Panicked:   func(_ context.Context, r review.Panic) { offline.PrintPanic(p, r) },
		})
	answer, err := reviewer.Review(ctx, nil, body)
	if err != nil {
		return hintObject(err, body, "this is an object, not a review: webhookd convert FILE --to VERSION converts it")
	}
	if err := p.Print(string(answer)); err != nil || result.Message == "" {
		return err
	}
	return fmt.Errorf("review failed: %s", result.Message)
}

// post writes the answer of a running webhookd, and checks it as the API server does.
func post(ctx context.Context, p *voice.Program, endpoint *crdwire.Endpoint, body []byte) error {
	var sent struct {
		Request struct {
			UID     string            `json:"uid"`
			Desired string            `json:"desiredAPIVersion"`
			Objects []json.RawMessage `json:"objects"`
		} `json:"request"`
	}
	_ = json.Unmarshal(body, &sent) // the server reports what is wrong with it
	answer, err := endpoint.Post(ctx, body)
	if err != nil {
		return fmt.Errorf("%s: %w", endpoint.Target, connect.HintConnection(hintObject(err, body, "this is an object, not a review: webhookd compare -f FILE --to VERSION --server URL posts it")))
	}
	if err := p.Print(string(answer)); err != nil {
		return err
	}
	_, err = crdwire.CheckAnswer(answer, sent.Request.UID, sent.Request.Desired, len(sent.Request.Objects))
	return err
}

// hintObject adds a remedy to an error about a body if that is an object, not a review.
func hintObject(err error, body []byte, hint string) error {
	file, unread := manifest.ParseFile("", body)
	if unread != nil || len(file.Documents) == 0 {
		return err
	}
	if _, gvk, unread := manifest.ParseObject(file.Documents[0]); unread != nil || gvk.Kind == "ConversionReview" {
		return err
	}
	return voice.Hint(err, hint)
}
