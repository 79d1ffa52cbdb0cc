package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/crdconvert/webhookd/internal/crdwire"
)

type releaseOptions struct {
	targetFlags

	api   apiFlags
	names []string
}

func newCRDReleaseCommand(p *program) *cobra.Command {
	var o releaseOptions
	cmd := &cobra.Command{
		Use:   "release [--crd NAME...] [--service NAMESPACE/NAME]",
		Short: "Refuse to let webhookd go while CRDs need it",
		Long: `Exit with 1 while a CRD sends conversions to a Service: without webhookd its objects could be neither read nor written nor
deleted, and namespaces with such objects could not be deleted either. That is so for CRDs with more than one version
that is served, or that objects are stored in. With another version that is in spec.versions alone, objects whose
managedFields name it could not be applied. It changes nothing: strategy None would lose fields at the next write.

Without --crd it looks at all CRDs, and needs --service; without --service any webhook counts.

RBAC: ` + crdRule("get") + ` Without --crd: verbs [list], and no resourceNames.`,
		Example: `  webhookd crd release --crd crontabs.example.com --service webhookd/webhookd
  webhookd crd release --service webhookd/webhookd --api-server http://127.0.0.1:8001`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.crdRelease(cmd.Context(), &o) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringArrayVar(&o.names, "crd", nil, "CRD to look at, as `PLURAL.GROUP`; may be given more than once (default all)")
	o.addService(flags, "Service that is to go")
	o.api.add(flags)
	return cmd
}

func (p *program) crdRelease(ctx context.Context, o *releaseOptions) error {
	var target crdwire.Target
	var err error
	switch {
	case o.service != "":
		if target, err = crdwire.ParseService(o.service); err != nil {
			err = fmt.Errorf("--service: %w", err)
		}
	case len(o.names) == 0:
		err = errors.New("nothing to look for: give the Service with --service, or CRDs with --crd")
	}
	if err := errors.Join(err, crdNames("crd", o.names)); err != nil {
		return usage(err, "")
	}
	api, _, err := o.api.client(p, "")
	if err != nil {
		return err
	}
	defer api.Close()
	crds, missing, err := crdwire.ReadAll(ctx, api, o.names)
	if err != nil {
		return err
	}
	if len(missing) > 0 {
		p.tell("there is no such CRD, and nothing to convert: %s", strings.Join(missing, ", "))
	}
	var inUse []string
	for _, crd := range crds {
		need := crdwire.NeedOf(crd, target)
		if !need.Any() {
			continue
		}
		inUse = append(inUse, crd.Name)
		at, _ := crdwire.TargetOf(crd)
		if need.All {
			p.tell("%s is converted by %s: without it, its objects could be neither read nor written nor deleted", crd.Name, at)
		} else {
			p.tell("%s is converted by %s: without it, its objects whose managedFields name a version of spec.versions that is neither served nor stored could not be applied: %s",
				crd.Name, at, strings.Join(need.Idle, ", "))
		}
	}
	if len(inUse) > 0 {
		p.tellHowToRelease(inUse[0])
		return errReported
	}
	p.tell("no CRD needs it")
	return nil
}

func (p *program) tellHowToRelease(name string) {
	p.tell("nothing was changed; for each of these CRDs, do one of the following, and try again:")
	p.tell("  another webhookd takes over: webhookd crd apply --force --crd %s --service NAMESPACE/NAME --ca-file FILE", name)
	p.tell("  neither the CRD nor its objects are needed: kubectl delete crd %s", name)
	p.tell("  one version is enough: serve no other, write all objects anew, so that they are stored in it and their managedFields")
	p.tell("    name no other, remove the others from status.storedVersions and spec.versions, and only then set spec.conversion")
	p.tell("    to strategy: None")
	p.tell("strategy: None before that loses fields for good; docs/how-to/wire-a-crd.md has the commands")
}
