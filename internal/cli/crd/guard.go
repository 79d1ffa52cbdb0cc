package crd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/crdconvert/webhookd/internal/cli/connect"
	"github.com/crdconvert/webhookd/internal/cli/voice"
	"github.com/crdconvert/webhookd/internal/cluster/crdguard"
	"github.com/crdconvert/webhookd/internal/cluster/crdwire"
)

func newGuard(p *voice.Program) *cobra.Command {
	cmd := voice.NewGroup("guard", "Print admission policies for the kinds of CRDs",
		`Print admission policies for the kinds of CRDs. One keeps clients from changing the values that webhookd keeps in
annotations, another refuses objects that cannot be converted, and the third keeps spec.conversion of the CRDs. The API
server enforces them by itself. Each policy comes with its binding, as YAML for kubectl apply. Nothing in the cluster changes.
The chart has the same policies: keptValues and conversionGuard.

docs/explanation/security.md explains the purpose and the cost of each policy.`)
	cmd.AddCommand(newGuardAnnotations(p), newGuardConvertible(p), newGuardConversion(p))
	return cmd
}

func newGuardAnnotations(p *voice.Program) *cobra.Command {
	return newPolicy(p, &cobra.Command{
		Use:   "annotations [FILE...] [--crd NAME...] [--service NAMESPACE/NAME] [--mode validate|restore] [--allow-group GROUP]",
		Short: "Print the policies that protect kept values",
		Long: `Print the policies that keep clients from changing the annotations in which webhookd keeps values of other versions: those
whose keys begin with conversion.webhookd.io/ or status.conversion.webhookd.io/. Without the policies, a client that may
patch an object can set its status with such an annotation.

validate refuses a request that changes, adds or removes such an annotation, and names it (Kubernetes 1.30). restore puts
the annotations back, and lets the request pass (Kubernetes 1.36). When an object is created, only annotations of status
are checked.

` + guardInput,
		Example: `  webhookd crd guard annotations -f crd.yaml | kubectl apply -f -
  webhookd crd guard annotations -f crds/ --mode restore --allow-group system:serviceaccounts:velero
  kubectl get crds -o yaml | webhookd crd guard annotations -f - --service webhookd/webhookd`,
	}, policy{
		render: crdguard.Annotations, nothing: "%s has one version: there are no kept values to protect",
		modes: "validate refuses a request that changes a kept value, restore puts the value back",
		may:   "change kept values, such as that of a backup's ServiceAccount",
	})
}

func newGuardConvertible(p *voice.Program) *cobra.Command {
	return newPolicy(p, &cobra.Command{
		Use:   "convertible [FILE...] [--crd NAME...] [--service NAMESPACE/NAME]",
		Short: "Print the policies that refuse objects that cannot be converted",
		Long: `Print the policies that refuse to write an object that cannot be converted from the storage version to every other served
version. Without them, one such object makes every list of its kind at that version fail, in all namespaces. They work with
any converter, and the user sees the converter's message.

The cost is one more conversion for each write and version. While webhookd is down, writes at the storage version are
refused as well. An object that already cannot be converted can only be deleted, at the storage version.

A CRD that serves one version is skipped. Print the policies again when the versions of the CRD change.

` + guardInput,
		Example: `  webhookd crd guard convertible -f crd.yaml | kubectl apply -f -
  webhookd crd guard convertible --crd crontabs.example.com --context staging | kubectl --context staging apply -f -`,
	}, policy{
		render:  func(crd *crdwire.CRD, _ crdguard.Options) ([]byte, error) { return crdguard.Convertible(crd) },
		nothing: "%s serves one version: there is nothing to convert",
	})
}

func newGuardConversion(p *voice.Program) *cobra.Command {
	return newPolicy(p, &cobra.Command{
		Use:   "conversion [FILE...] [--crd NAME...] [--service NAMESPACE/NAME] [--mode validate|restore] [--allow-group GROUP]",
		Short: "Print the policies that protect spec.conversion",
		Long: `Print the policies that keep updates of a CRD from dropping spec.conversion, pointing it at another Service, port, path or
URL, or removing the CA from caBundle, while more than one version is served or stored. All other changes pass.

validate refuses the update and says what to do (Kubernetes 1.30). restore puts spec.conversion back, and lets the update
pass (Kubernetes 1.36). The policy of a CRD that Crossplane makes covers its XRD as well.

To move to another webhook, wire the CRD's file with crd wire, and print and apply its policy first. To remove the webhook,
delete the policy first.

` + guardInput,
		Example: `  webhookd crd guard conversion --service webhookd/webhookd | kubectl apply -f -
  webhookd crd guard conversion -f crds/ --mode restore --allow-group system:serviceaccounts:webhookd`,
	}, policy{ // each CRD has one
		render: crdguard.Conversion,
		modes:  "validate refuses an update that damages spec.conversion, restore puts spec.conversion back",
		may:    "change spec.conversion, such as that of a ServiceAccount",
	})
}

// guardInput is the part of the help that says where the CRDs come from.
const guardInput = `The CRDs come from files. Without -f they come from a cluster, and --crd or --service must select them.

RBAC, without -f: apiGroups [apiextensions.k8s.io], resources [customresourcedefinitions], verbs [get] with --crd, and
resourceNames [the CRDs]; verbs [list] without --crd.`

// A policy is what crd guard prints for a CRD.
type policy struct {
	render func(*crdwire.CRD, crdguard.Options) ([]byte, error)
	// nothing is the message about a CRD for which nothing is rendered.
	nothing string
	// modes and may say in the help what the modes do, and what the group may do. They are empty
	// for a policy that does not look at what a request changes.
	modes, may string
}

// guardOptions are the flags of crd guard.
type guardOptions struct {
	connect.TargetFlags

	files, names     []string
	mode, allowGroup string
}

// newPolicy makes cmd the command that prints a policy.
func newPolicy(p *voice.Program, cmd *cobra.Command, what policy) *cobra.Command {
	var o guardOptions
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context(), p, what) }
	flags := cmd.Flags()
	addFiles(cmd, &o.files)
	flags.StringArrayVar(&o.names, "crd", nil, "only this CRD, as `PLURAL.GROUP`; may be given more than once")
	o.AddService(flags, "only CRDs that point at this Service")
	if what.modes != "" {
		flags.StringVar(&o.mode, "mode", string(crdguard.Validate), "`mode`: "+what.modes)
		voice.Offer(cmd, "mode", string(crdguard.Validate), string(crdguard.Restore))
		flags.StringVar(&o.allowGroup, "allow-group", "", "`group` of users who may "+what.may+" (default none)")
	}
	o.Cluster.Add(flags)
	return cmd
}

// check reports everything that is wrong with the flags, and returns the Service.
func (o *guardOptions) check() (crdwire.Target, error) {
	service, serviceErr := o.OptionalService()
	mode := crdguard.Mode(o.mode)
	return service, errors.Join(
		voice.Problem(len(o.files) == 0 && len(o.names) == 0 && o.Service == "", "no CRDs: name files, or select CRDs of a cluster with --crd or --service"),
		connect.CheckCRDNames("crd", o.names), serviceErr,
		voice.Problem(mode != "" && mode != crdguard.Validate && mode != crdguard.Restore, "--mode %q: must be validate or restore", o.mode))
}

// run prints the policies of the CRDs.
func (o *guardOptions) run(ctx context.Context, p *voice.Program, what policy) error {
	service, err := o.check()
	if err != nil {
		return voice.Usage(err, "")
	}
	crds, _, err := readCRDs(ctx, p, &o.Cluster, o.files, o.names, nil)
	if err != nil {
		return err
	}
	if o.Service != "" {
		crds = slices.DeleteFunc(crds, func(crd *crdwire.CRD) bool {
			target, is := crdwire.TargetOf(crd)
			return !is || !target.Same(service)
		})
		if len(crds) == 0 {
			return fmt.Errorf("%s: no CRD here points at this Service", o.Service)
		}
	}
	var policies [][]byte
	var without []string
	problems := make([]error, 0, len(crds))
	for _, crd := range crds {
		guard := crdguard.Options{Mode: crdguard.Mode(o.mode), AllowGroup: o.allowGroup}
		if target, is := crdwire.TargetOf(crd); is {
			guard.Webhook = target.Address()
		}
		text, err := what.render(crd, guard)
		problems = append(problems, err)
		switch {
		case len(text) > 0:
			policies = append(policies, text)
		case err == nil:
			without = append(without, crd.Name)
		}
	}
	if err := errors.Join(problems...); err != nil {
		return err
	}
	if err := p.Print(string(bytes.Join(policies, []byte("---\n")))); err != nil {
		return err
	}
	for _, name := range without {
		p.Note(what.nothing, name)
	}
	return nil
}
