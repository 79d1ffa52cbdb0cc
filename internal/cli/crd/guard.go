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

func newCRDGuardCommand(p *voice.Program) *cobra.Command {
	cmd := voice.NewGroup("guard", "Print admission policies for the kinds of CRDs",
		`Print admission policies for the kinds of CRDs. One keeps clients from changing the values that webhookd keeps in
annotations, another refuses objects that cannot be converted, and the third keeps spec.conversion of the CRDs. The API
server enforces them by itself. Each policy comes with its binding, as YAML for kubectl apply. Nothing in the cluster changes.
The chart has the same policies: keptValues and conversionGuard.

docs/explanation/security.md explains the purpose and the cost of each policy.`)
	cmd.AddCommand(newCRDGuardAnnotationsCommand(p), newCRDGuardConvertibleCommand(p), newCRDGuardConversionCommand(p))
	return cmd
}

// guardOptions are the flags of crd guard.
type guardOptions struct {
	connect.TargetFlags

	files      []string
	names      []string
	mode       string
	allowGroup string
}

func newCRDGuardAnnotationsCommand(p *voice.Program) *cobra.Command {
	var o guardOptions
	cmd := &cobra.Command{
		Use:   "annotations [FILE...] [--crd NAME...] [--service NAMESPACE/NAME] [--mode validate|restore] [--allow-group GROUP]",
		Short: "Print the policies that protect kept values",
		Long: `Print the policies that keep clients from changing the annotations and labels in which webhookd keeps values of other
versions: those whose keys begin with conversion.webhookd.io/VERSION. or with status.conversion.webhookd.io/VERSION. for a
version of the CRD. Without the policies, a client that may patch an object can set its status with such an annotation.

validate refuses a request that changes, adds or removes such an annotation, and names it (Kubernetes 1.30). restore puts
the annotations back, and lets the request pass (Kubernetes 1.36). When an object is created, only annotations of status
are checked, since its creator may set the spec at any version.

Print the policies again when the CRD gets another version, which is not protected until then. Any client may remove
annotations of a version that the CRD no longer has.

` + guardInput,
		Example: `  webhookd crd guard annotations -f crd.yaml | kubectl apply -f -
  webhookd crd guard annotations -f crds/ --mode restore --allow-group system:serviceaccounts:velero
  kubectl get crds -o yaml | webhookd crd guard annotations -f - --service webhookd/webhookd`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runGuard(cmd.Context(), p, &o, "%s has one version: there are no kept values to protect", crdguard.Annotations)
		},
	}
	o.add(cmd)
	o.addMode(cmd, "validate refuses a request that changes a kept value, restore puts the value back",
		"change kept values, such as that of a backup's ServiceAccount")
	o.Cluster.Add(cmd.Flags())
	return cmd
}

func newCRDGuardConvertibleCommand(p *voice.Program) *cobra.Command {
	var o guardOptions
	cmd := &cobra.Command{
		Use:   "convertible [FILE...] [--crd NAME...] [--service NAMESPACE/NAME]",
		Short: "Print the policies that refuse objects that cannot be converted",
		Long: `Print the policies that refuse to write an object that cannot be converted from the storage version to every other served
version. Without them, one such object makes every list of its kind at that version fail, in all namespaces. The policies'
expression is just "true": to evaluate it, the API server has to convert the object. That works with any converter, and
the user sees the converter's message.

The cost is one more conversion for each write and version. While webhookd is down, writes at the storage version are
refused as well. An object that already cannot be converted cannot be changed, not even to remove a finalizer. It can be
deleted at the storage version. docs/how-to/debug-a-failing-conversion.md explains how to recover.

A CRD that serves one version is skipped, with a message. Print the policies again when the versions or the storage version
of the CRD change.

` + guardInput,
		Example: `  webhookd crd guard convertible -f crd.yaml | kubectl apply -f -
  webhookd crd guard convertible --crd crontabs.example.com --context staging | kubectl --context staging apply -f -`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runGuard(cmd.Context(), p, &o, "%s serves one version: there is nothing to convert",
				func(crd *crdwire.CRD, _ crdguard.Options) ([]byte, error) { return crdguard.Convertible(crd) })
		},
	}
	o.add(cmd)
	o.Cluster.Add(cmd.Flags())
	return cmd
}

func newCRDGuardConversionCommand(p *voice.Program) *cobra.Command {
	var o guardOptions
	cmd := &cobra.Command{
		Use:   "conversion [-f FILE] [--crd NAME...] [--service NAMESPACE/NAME] [--mode validate|restore] [--allow-group GROUP]",
		Short: "Print the policies that protect spec.conversion",
		Long: `Print the policies that keep updates of a CRD from dropping spec.conversion, pointing it at another Service, port, path or
URL, or removing the CA from caBundle, while more than one version is served or stored. Without conversion, the API server
changes only apiVersion, and the next write loses fields. kubectl replace and operator lifecycle managers do that with a
manifest that has no spec.conversion. All other changes pass, also of a CRD that never had a webhook.

validate refuses the update and says what to do (Kubernetes 1.30). restore puts spec.conversion back, and lets the update
pass (Kubernetes 1.36). The policy of a CRD that Crossplane makes covers its XRD as well.

An update may point spec.conversion at the webhook that the CRD has here. So to move to another webhook, wire the CRD's file
with crd wire, and print and apply its policy first. To remove the webhook, delete the policy first.

` + guardInput,
		Example: `  webhookd crd guard conversion --service webhookd/webhookd | kubectl apply -f -
  webhookd crd guard conversion -f crds/ --mode restore --allow-group system:serviceaccounts:webhookd`,
		Args: voice.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runGuard(cmd.Context(), p, &o, "", crdguard.Conversion) // each CRD has a policy
		},
	}
	o.add(cmd)
	o.addMode(cmd, "validate refuses an update that damages spec.conversion, restore puts spec.conversion back",
		"change spec.conversion, such as that of a ServiceAccount")
	o.Cluster.Add(cmd.Flags())
	return cmd
}

// guardInput is the part of the help that says where the CRDs come from.
const guardInput = `The CRDs come from files. Without -f they come from a cluster, and --crd or --service must select them.

RBAC, without -f: apiGroups [apiextensions.k8s.io], resources [customresourcedefinitions], verbs [get] with --crd, and
resourceNames [the CRDs]; verbs [list] without --crd.`

// add adds the flags that select CRDs.
func (o *guardOptions) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringArrayVarP(&o.files, "filename", "f", nil, "`path` of a file or folder with CRDs, - for stdin; may be given more than once;\nsame as an argument (default those of the API server)")
	voice.FilesAfter(cmd, "filename")
	flags.StringArrayVar(&o.names, "crd", nil, "only this CRD, as `PLURAL.GROUP`; may be given more than once")
	o.AddService(flags, "only CRDs that point at this Service")
}

// addMode adds the flags of the policies that look at what a request changes. The usage says what
// the modes do, and what the group may do.
func (o *guardOptions) addMode(cmd *cobra.Command, modes, may string) {
	flags := cmd.Flags()
	flags.StringVar(&o.mode, "mode", string(crdguard.Validate), "`mode`: "+modes)
	voice.Offer(cmd, "mode", string(crdguard.Validate), string(crdguard.Restore))
	flags.StringVar(&o.allowGroup, "allow-group", "", "`group` of users who may "+may+" (default none)")
}

// check reports everything that is wrong with the flags, and returns the Service.
func (o *guardOptions) check() (crdwire.Target, error) {
	var whichErr, modeErr error
	service, serviceErr := o.OptionalService()
	if len(o.files) == 0 && len(o.names) == 0 && o.Service == "" {
		whichErr = errors.New("no CRDs: name files, or select CRDs of a cluster with --crd or --service")
	}
	if mode := crdguard.Mode(o.mode); mode != "" && mode != crdguard.Validate && mode != crdguard.Restore {
		modeErr = fmt.Errorf("--mode %q: must be validate or restore", o.mode)
	}
	return service, errors.Join(whichErr, connect.CheckCRDNames("crd", o.names), serviceErr, modeErr)
}

// crdGuard prints the policies that render returns for each CRD. For a CRD without any it prints
// the message nothing.
func runGuard(ctx context.Context, p *voice.Program, o *guardOptions, nothing string, render func(*crdwire.CRD, crdguard.Options) ([]byte, error)) error {
	service, err := o.check()
	if err != nil {
		return voice.Usage(err, "")
	}
	crds, err := guardedCRDs(ctx, p, o, service)
	if err != nil {
		return err
	}
	var policies [][]byte
	var without []string
	problems := make([]error, 0, len(crds))
	for _, crd := range crds {
		guard := crdguard.Options{Mode: crdguard.Mode(o.mode), AllowGroup: o.allowGroup}
		if target, is := crdwire.TargetOf(crd); is {
			guard.Webhook = target.Address()
		}
		text, err := render(crd, guard)
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
	if _, err := p.Stdout.Write(bytes.Join(policies, []byte("---\n"))); err != nil {
		return fmt.Errorf("cannot write the policies: %w", err)
	}
	for _, name := range without {
		p.Note(nothing, name)
	}
	return nil
}

// guardedCRDs returns the CRDs that the flags select, from files or from the API server.
func guardedCRDs(ctx context.Context, p *voice.Program, o *guardOptions, service crdwire.Target) ([]*crdwire.CRD, error) {
	crds, _, err := readCRDs(ctx, p, &o.Cluster, o.files, o.names, nil)
	if err != nil || o.Service == "" {
		return crds, err
	}
	crds = slices.DeleteFunc(crds, func(crd *crdwire.CRD) bool {
		target, is := crdwire.TargetOf(crd)
		return !is || !target.Same(service)
	})
	if len(crds) == 0 {
		return nil, fmt.Errorf("%s: no CRD here points at this Service", o.Service)
	}
	return crds, nil
}
