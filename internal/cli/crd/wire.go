package crd

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/crdconvert/webhookd/internal/cli/connect"
	"github.com/crdconvert/webhookd/internal/cli/offline"
	"github.com/crdconvert/webhookd/internal/cli/voice"
	"github.com/crdconvert/webhookd/internal/cluster/crdwire"
	"github.com/crdconvert/webhookd/internal/serve/ruleset"
)

type wireOptions struct {
	connect.TargetFlags

	file, url      string
	reviewVersions []string
	names          []string
	force          bool
}

func newWire(p *voice.Program) *cobra.Command {
	var o wireOptions
	cmd := &cobra.Command{
		Use:   "wire FILE (--service NAMESPACE/NAME | --url URL) [--ca-file FILE]",
		Short: "Set spec.conversion in the file of a CRD or XRD",
		Long: `Print the CRDs and XRDs of a file with spec.conversion set, so that the API server sends their conversions to webhookd. No other
byte changes: comments, the order of keys and other documents stay as they are.

Without --ca-file an existing caBundle for the same Service stays. If there is none, something else has to fill it in,
such as cert-manager's injector. A CRD that Crossplane made is refused: wire its XRD. If a CRD points at another webhook,
nothing is printed and the exit code is 1, unless --force is given.`,
		Example: `  webhookd crd wire crd.yaml --service webhookd/webhookd --ca-file ca.crt > wired.yaml
  kubectl get crd crontabs.example.com -o yaml | webhookd crd wire - --service webhookd/webhookd | kubectl apply -f -
  webhookd crd wire crd.yaml --url https://webhookd.example.com/crdconvert --ca-file ca.crt`,
		Args: voice.OneFile,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd, p) },
	}
	flags := cmd.Flags()
	flags.StringVarP(&o.file, "filename", "f", "", "`file` with CRDs, - for stdin; same as an argument")
	o.AddService(flags, "Service of webhookd")
	o.AddPort(flags)
	flags.StringVar(&o.url, "url", "", "`URL` of a webhookd outside the cluster, instead of --service")
	flags.StringVar(&o.CAFile, "ca-file", "", connect.CAFileUsage)
	addReviewVersions(cmd, &o.reviewVersions)
	flags.StringArrayVar(&o.names, "crd", nil, "only this CRD, as `PLURAL.GROUP`; may be given more than once")
	flags.BoolVar(&o.force, "force", false, "also wire CRDs that point at another webhook")
	o.Cluster.Add(flags)
	return cmd
}

// wire reads the flags, and reports everything that is wrong with them.
func (o *wireOptions) wire(flags *pflag.FlagSet) (crdwire.WireOptions, error) {
	w := crdwire.WireOptions{ReviewVersions: o.reviewVersions, Names: o.names, Force: o.force}
	var targetErr, bundleErr error
	switch {
	case o.url != "" && o.Service != "":
		targetErr = errors.New("--service and --url: both name the webhook, give one")
	case o.url != "":
		if w.Target, targetErr = crdwire.ParseURL(o.url); targetErr != nil {
			targetErr = fmt.Errorf("--url: %w", targetErr)
		}
		targetErr = errors.Join(targetErr, voice.NoUse(flags, "with --url, which has it", "port", "path"))
	default:
		w.Target, targetErr = o.Target()
	}
	w.Bundle, bundleErr = o.Bundle()
	return w, errors.Join(voice.Problem(o.file == "", "nothing to wire: name the file of a CRD, or - for stdin"), targetErr, bundleErr, checkReviewVersions(o.reviewVersions), connect.CheckCRDNames("crd", o.names))
}

func (o *wireOptions) run(cmd *cobra.Command, p *voice.Program) error {
	w, err := o.wire(cmd.Flags())
	if err != nil {
		return voice.Usage(err, "")
	}
	text, err := offline.ReadFile(p, ruleset.Origin{What: "CRDs", Remedy: "give their file with --filename"}, o.file)
	if err != nil {
		return err
	}
	result, wired, err := crdwire.Wire(text, w)
	if err != nil {
		return fmt.Errorf("%s: %w", offline.NamesOf([]string{o.file}), err)
	}
	if err := p.Print(string(result)); err != nil {
		return err
	}
	if why := w.Target.Unreachable(); why != "" {
		p.Note("%s: %s", o.url, why)
	}
	for _, crd := range wired {
		if crd.Versions < 2 {
			p.Note("%s has one version: there is nothing to convert until it has another", crd.Name)
		}
		switch {
		case crd.HasBundle || o.url != "":
		case crd.IsXRD:
			p.Note("%s has no caBundle: give it with --ca-file; no injector fills in that of an XRD", crd.Name)
		default:
			p.Note("%s has no caBundle: give it with --ca-file, or let something fill it in, such as cert-manager's injector", crd.Name)
		}
	}
	return nil
}
