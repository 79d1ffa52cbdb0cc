package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/crdconvert/webhookd/internal/cluster/crdwire"
	"github.com/crdconvert/webhookd/internal/serve/ruleset"
)

type wireOptions struct {
	targetFlags

	file, url      string
	reviewVersions []string
	names          []string
	force          bool
}

func newCRDWireCommand(p *program) *cobra.Command {
	var o wireOptions
	cmd := &cobra.Command{
		Use:   "wire FILE (--service NAMESPACE/NAME | --url URL) [--ca-file FILE]",
		Short: "Set spec.conversion in the file of a CRD or XRD",
		Long: `Print the CRDs and XRDs of a file with spec.conversion set, so that the API server sends their conversions to webhookd. No other
byte changes: comments, the order of keys and other documents stay as they are. In an existing spec.conversion, only what
differs is replaced.

Without --ca-file an existing caBundle for the same Service stays. If there is none, something else has to fill it in,
such as cert-manager's injector.

Crossplane writes spec.conversion of an XRD (CompositeResourceDefinition) to the CRDs that it makes. A CRD that Crossplane
made is refused, since Crossplane would revert the change.

If a CRD points at another webhook, nothing is printed and the exit code is 1, unless --force is given.`,
		Example: `  webhookd crd wire crd.yaml --service webhookd/webhookd --ca-file ca.crt > wired.yaml
  kubectl get crd crontabs.example.com -o yaml | webhookd crd wire - --service webhookd/webhookd | kubectl apply -f -
  webhookd crd wire crd.yaml --url https://webhookd.example.com/crdconvert --ca-file ca.crt`,
		Args: oneFile,
		RunE: func(cmd *cobra.Command, _ []string) error {
			w, err := o.wire(cmd.Flags())
			if err != nil {
				return usage(err, "")
			}
			return p.crdWire(&o, w)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVarP(&o.file, "filename", "f", "", "`file` with CRDs, - for stdin; same as an argument")
	o.addService(flags, "Service of webhookd")
	o.addPort(flags)
	flags.StringVar(&o.url, "url", "", "`URL` of a webhookd outside the cluster, instead of --service")
	flags.StringVar(&o.caFile, "ca-file", "", caFileUsage)
	flags.StringSliceVar(&o.reviewVersions, "review-versions", []string{"v1"}, "conversionReviewVersions of the CRD, in order of preference: `v1,v1beta1`")
	offer(cmd, "review-versions", "v1", "v1beta1")
	flags.StringArrayVar(&o.names, "crd", nil, "only this CRD, as `PLURAL.GROUP`; may be given more than once")
	flags.BoolVar(&o.force, "force", false, "also wire CRDs that point at another webhook")
	o.cluster.add(flags)
	return cmd
}

// wire reads the flags, and reports everything that is wrong with them.
func (o *wireOptions) wire(flags *pflag.FlagSet) (crdwire.WireOptions, error) {
	w := crdwire.WireOptions{ReviewVersions: o.reviewVersions, Names: o.names, Force: o.force}
	var fileErr, targetErr, bundleErr error
	if o.file == "" {
		fileErr = errors.New("nothing to wire: name the file of a CRD, or - for stdin")
	}
	switch {
	case o.url != "" && o.service != "":
		targetErr = errors.New("both a Service and a URL: give --service or --url")
	case o.url != "":
		if w.Target, targetErr = crdwire.ParseURL(o.url); targetErr != nil {
			targetErr = fmt.Errorf("--url: %w", targetErr)
		}
		targetErr = errors.Join(targetErr, noUse(flags, "with --url, which has it", "port", "path"))
	default:
		w.Target, targetErr = o.target()
	}
	w.Bundle, bundleErr = o.bundle()
	return w, errors.Join(fileErr, targetErr, bundleErr, checkReviewVersions(o.reviewVersions), crdNames("crd", o.names))
}

func checkReviewVersions(versions []string) error {
	if len(versions) == 0 {
		return errors.New("no version of ConversionReview: write --review-versions v1")
	}
	for i, v := range versions {
		if v != "v1" && v != "v1beta1" || slices.Contains(versions[:i], v) {
			return fmt.Errorf("--review-versions %q: not a version of ConversionReview, write v1 or v1beta1, each once", v)
		}
	}
	return nil
}

func (p *program) crdWire(o *wireOptions, w crdwire.WireOptions) error {
	var err error
	name, text := o.file, []byte(nil)
	if name == "-" {
		name = "stdin"
		text, err = io.ReadAll(p.stdin)
	} else {
		text, err = os.ReadFile(name) //nolint:gosec // the user's own file
	}
	if err != nil {
		return usage(ruleset.Origin{What: "CRDs", Remedy: "give their file with --filename"}.Unread(name, err), "")
	}
	result, wired, err := crdwire.Wire(text, w)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if _, err := p.stdout.Write(result); err != nil {
		return fmt.Errorf("cannot write the CRDs: %w", err)
	}
	if why := w.Target.Unreachable(); why != "" {
		p.note("%s: %s", o.url, why)
	}
	for _, crd := range wired {
		if crd.Versions < 2 {
			p.note("%s has one version: there is nothing to convert until it has another", crd.Name)
		}
		switch {
		case crd.HasBundle || o.url != "":
		case crd.IsXRD:
			p.note("%s has no caBundle: give it with --ca-file; no injector fills in that of an XRD", crd.Name)
		default:
			p.note("%s has no caBundle: give it with --ca-file, or let something fill it in, such as cert-manager's injector", crd.Name)
		}
	}
	return nil
}
