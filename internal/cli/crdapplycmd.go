package cli

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/crdconvert/webhookd/internal/crdwire"
)

type applyOptions struct {
	targetFlags

	api            apiFlags
	names          []string
	reviewVersions []string
	timeout        time.Duration
	force          bool
}

func newCRDApplyCommand(p *program) *cobra.Command {
	var o applyOptions
	cmd := &cobra.Command{
		Use:   "apply --crd NAME... --service NAMESPACE/NAME --ca-file FILE",
		Short: "Set spec.conversion of CRDs in a cluster, once webhookd answers for them",
		Long: `Wait until webhookd answers, and then point CRDs at it. It is asked as the API server would ask: over the Service, with the
CAs of --ca-file, under the name NAME.NAMESPACE.svc, over HTTP/1.1, with a review of an object for each pair of versions
of each CRD, and ten times in a row over new connections, since its replicas change one after the other. A CA file that is
not there yet is waited for as well. No CRD is pointed at it unless all these reviews succeed within --timeout; so one whose
kind webhookd does not know never is. CRDs that point at it already get the CAs, whatever is wrong with another one.

Then spec.conversion, and nothing else, is set by server-side apply with the field manager "webhookd", and read back. If
another manager owns a field with another value, that is said, and nothing is done without --force. No force is needed
for strategy None, which the API server fills in, unless somebody applied it.

A caBundle that is there for the same Service keeps its older CAs, since replicas may still serve what they have issued:
until they expire, or until a run finds that the new ones have been there for a day, and ten new connections in a row
are served from them. So run this again a day or more after a change of the CA, or leave it to the next upgrade.

RBAC: ` + crdRule("get, patch"),
		Example: `  webhookd crd apply --crd crontabs.example.com --service webhookd/webhookd --ca-file /certs/ca.crt
  kubectl proxy & kubectl -n webhookd port-forward service/webhookd 9443:443 &
  webhookd crd apply --crd crontabs.example.com --service webhookd/webhookd --ca-file ca.crt \
    --api-server http://127.0.0.1:8001 --address 127.0.0.1:9443`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.crdApply(cmd.Context(), &o) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringArrayVar(&o.names, "crd", nil, "CRD to point at webhookd, as `PLURAL.GROUP`; may be given more than once")
	o.addService(flags, "Service of webhookd")
	o.addPort(flags)
	flags.StringVar(&o.caFile, "ca-file", "", caFileUsage)
	flags.StringSliceVar(&o.reviewVersions, "review-versions", []string{"v1"}, "conversionReviewVersions of the CRD, in order of preference: `v1,v1beta1`")
	offer(cmd, "review-versions", "v1", "v1beta1")
	flags.DurationVar(&o.timeout, "timeout", 2*time.Minute, "how long to wait for good answers")
	flags.BoolVar(&o.force, "force", false, "take fields that another manager owns, and CRDs that point at another webhook")
	o.addAddress(flags)
	o.api.add(flags)
	return cmd
}

// crdRule is the RBAC rule for named CRDs.
func crdRule(verbs string) string {
	return `apiGroups [apiextensions.k8s.io], resources [customresourcedefinitions], verbs [` + verbs + `],
resourceNames [the CRDs].`
}

func (p *program) crdApply(ctx context.Context, o *applyOptions) error {
	target, targetErr := o.target()
	var bundleErr error
	if o.caFile == "" {
		bundleErr = errors.New("no CA: give the file with --ca-file; a Service's certificate is not from a CA of the system")
	}
	var namesErr, timeoutErr error
	if len(o.names) == 0 {
		namesErr = errors.New("no CRD: name it with --crd, such as crontabs.example.com")
	}
	if o.timeout <= 0 {
		timeoutErr = errors.New("no time to wait: write --timeout 2m")
	}
	if err := errors.Join(namesErr, crdNames("crd", o.names), targetErr, bundleErr, checkReviewVersions(o.reviewVersions), checkAddress(o.address), timeoutErr); err != nil {
		return usage(err, "")
	}
	api, _, err := o.api.client(p, "")
	if err != nil {
		return err
	}
	defer api.Close()
	begun := time.Now()
	bundle, err := p.awaitBundle(ctx, o)
	if err != nil {
		return err
	}
	return crdwire.Apply(ctx, api, o.names, crdwire.ApplyOptions{
		Target: target, Bundle: bundle, ReviewVersions: o.reviewVersions, Address: o.address,
		Timeout: max(o.timeout-time.Since(begun), time.Millisecond).Round(time.Millisecond), Force: o.force, Now: time.Now, Log: p.tell,
	})
}

// awaitBundle waits for the CA file: a mounted Secret may be filled only now.
func (p *program) awaitBundle(ctx context.Context, o *applyOptions) (crdwire.Bundle, error) {
	ctx, cancel := context.WithTimeout(ctx, o.timeout)
	defer cancel()
	for said := false; ; said = true {
		bundle, err := o.bundle()
		if err == nil {
			return bundle, nil
		}
		if !said {
			p.tell("waiting: %v", err)
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(time.Second):
		}
	}
}
