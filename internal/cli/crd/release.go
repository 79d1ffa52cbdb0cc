package crd

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/crdconvert/webhookd/internal/cli/connect"
	"github.com/crdconvert/webhookd/internal/cli/voice"
	"github.com/crdconvert/webhookd/internal/cluster/crdwire"
)

type releaseOptions struct {
	connect.TargetFlags

	names []string
}

func newRelease(p *voice.Program) *cobra.Command {
	var o releaseOptions
	cmd := &cobra.Command{
		Use:    "release [--crd NAME...] [--service NAMESPACE/NAME]",
		Short:  "Refuse to let webhookd go while CRDs need it",
		Hidden: true, // the chart's Job calls it
		Long: `Exit with 1 while a CRD sends conversions to a Service. Without webhookd, objects of such a CRD could not be read, written
or deleted, nor could their namespaces. This applies to CRDs that serve more than one version, or store objects in more
than one. If another version is only in spec.versions, objects whose managedFields name it could not be applied. The
command changes nothing: with strategy None, the next write would lose fields.

Without --crd it checks all CRDs, and needs --service. Without --service any webhook counts.

RBAC: ` + crdRule("get") + ` Without --crd: verbs [list], and no resourceNames.`,
		Example: `  webhookd crd release --crd crontabs.example.com --service webhookd/webhookd
  webhookd crd release --service webhookd/webhookd --context staging`,
		RunE: func(cmd *cobra.Command, _ []string) error { return runRelease(cmd.Context(), p, &o) },
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&o.names, "crd", nil, "CRD to check, as `PLURAL.GROUP`; may be given more than once (default all)")
	o.AddService(flags, "Service to be removed")
	o.Cluster.Add(flags)
	return cmd
}

func runRelease(ctx context.Context, p *voice.Program, o *releaseOptions) error {
	target, serviceErr := o.OptionalService()
	api, err := o.Cluster.Client(p, "", serviceErr, voice.Problem(o.Service == "" && len(o.names) == 0, "nothing to look for: give the Service with --service, or CRDs with --crd"),
		connect.CheckCRDNames("crd", o.names))
	if err != nil {
		return err
	}
	crds, missing, err := crdwire.ReadAll(ctx, api, o.names, nil)
	if err != nil {
		return err
	}
	if len(missing) > 0 {
		p.Note("there is no such CRD, and nothing to convert: %s", strings.Join(missing, ", "))
	}
	needed := false
	for _, crd := range crds {
		need := crdwire.NeedOf(crd, target)
		if !need.Any() {
			continue
		}
		needed = true
		at, _ := crdwire.TargetOf(crd)
		if need.All {
			p.Note("%s is converted by %s: without it, its objects could be neither read nor written nor deleted", crd.Name, at)
		} else {
			p.Note("%s is converted by %s: without it, its objects whose managedFields name a version of spec.versions that is neither served nor stored could not be applied: %s",
				crd.Name, at, strings.Join(need.Idle, ", "))
		}
	}
	if needed {
		p.Note("nothing was changed: docs/how-to/wire-a-crd.md has the ways out; strategy: None is none of them, since it loses fields for good")
		return voice.ErrReported
	}
	p.Note("no CRD needs it")
	return nil
}
