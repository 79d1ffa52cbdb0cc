package crd

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/crdconvert/webhookd/internal/cli/connect"
	"github.com/crdconvert/webhookd/internal/cli/voice"
	"github.com/crdconvert/webhookd/internal/cluster/crdwire"
)

type applyOptions struct {
	connect.TargetFlags

	names          []string
	reviewVersions []string
	timeout        time.Duration
	force          bool
}

func newApply(p *voice.Program) *cobra.Command {
	var o applyOptions
	cmd := &cobra.Command{
		Use:   "apply --crd NAME... --service NAMESPACE/NAME --ca-file FILE",
		Short: "Set spec.conversion of CRDs in a cluster once webhookd answers",
		Long: `Wait until webhookd answers, then point CRDs at it. The command asks as the API server would: over the Service, with the
CAs of --ca-file, under the name NAME.NAMESPACE.svc. It sends a review with an object for each pair of versions of each CRD,
ten times in a row over new connections. It points no CRD at webhookd unless all reviews succeed within --timeout.

The command sets spec.conversion, and nothing else, by server-side apply with the field manager "webhookd". If another manager
owns a field with another value, it changes nothing without --force. Of a CRD that Crossplane makes, it changes the XRD.

A caBundle for the same Service keeps its older CAs until they expire, or until a run finds that the new CAs have been there
for a day and verify ten new connections in a row. So run the command again a day or more after a change of the CA.

RBAC: ` + crdRule("get, patch") + " " + xrdRule("get, patch"),
		Example: `  webhookd crd apply --crd crontabs.example.com --service webhookd/webhookd --ca-file /certs/ca.crt
  kubectl -n webhookd port-forward service/webhookd 9443:443 &
  webhookd crd apply --crd crontabs.example.com --service webhookd -n webhookd --ca-file ca.crt --address 127.0.0.1:9443`,
		RunE: func(cmd *cobra.Command, _ []string) error { return runApply(cmd.Context(), p, &o) },
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&o.names, "crd", nil, "CRD to point at webhookd, as `PLURAL.GROUP`; may be given more than once")
	o.AddService(flags, "Service of webhookd")
	o.AddPort(flags)
	flags.StringVar(&o.CAFile, "ca-file", "", connect.CAFileUsage)
	addReviewVersions(cmd, &o.reviewVersions)
	flags.DurationVar(&o.timeout, "timeout", 2*time.Minute, "how long to wait until all reviews succeed")
	flags.BoolVar(&o.force, "force", false, "take over fields of other managers, and CRDs that point at another webhook")
	o.AddAddress(flags)
	o.Cluster.Add(flags)
	return cmd
}

func runApply(ctx context.Context, p *voice.Program, o *applyOptions) error {
	target, targetErr := o.Target()
	api, err := o.Cluster.Client(p, "", voice.Problem(len(o.names) == 0, "no CRD: name it with --crd, such as crontabs.example.com"), connect.CheckCRDNames("crd", o.names), targetErr,
		voice.Problem(o.CAFile == "", "no CA: give the file with --ca-file; a Service's certificate is not from a CA of the system"),
		checkReviewVersions(o.reviewVersions), connect.CheckAddress(o.Address),
		voice.Problem(o.timeout <= 0, "--timeout %s: no time to wait, write a duration such as 2m", o.timeout))
	if err != nil {
		return err
	}
	begun := time.Now()
	bundle, err := awaitBundle(ctx, p, o)
	if err != nil {
		return err
	}
	return crdwire.Apply(ctx, api, o.names, crdwire.ApplyOptions{
		Target: target, Bundle: bundle, ReviewVersions: o.reviewVersions, Address: o.Address,
		Timeout: max(o.timeout-time.Since(begun), time.Millisecond).Round(time.Millisecond), Force: o.force, Now: time.Now, Log: p.Note,
	})
}

// awaitBundle waits for the CA file, since a mounted Secret may still be empty.
func awaitBundle(ctx context.Context, p *voice.Program, o *applyOptions) (crdwire.Bundle, error) {
	ctx, cancel := context.WithTimeout(ctx, o.timeout)
	defer cancel()
	for said := false; ; said = true {
		bundle, err := o.Bundle()
		if err == nil {
			return bundle, nil
		}
		if !said {
			p.Note("waiting: %v", err)
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(time.Second):
		}
	}
}
