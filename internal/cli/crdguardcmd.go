package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/crdconvert/webhookd/internal/crdguard"
	"github.com/crdconvert/webhookd/internal/crdwire"
)

func newCRDGuardCommand(p *program) *cobra.Command {
	cmd := newGroup("guard", "Print admission policies for the kinds of CRDs",
		`Print admission policies that the API server enforces by itself, for the kinds of CRDs: one keeps clients from changing
what webhookd keeps in annotations, the other one refuses objects that cannot be converted. Each policy comes with its
binding, as YAML for kubectl apply. Nothing in a cluster is changed. The chart has the same policies: keptValues.

docs/explanation/security.md says what each policy is for, and what it costs.`)
	cmd.AddCommand(newCRDGuardAnnotationsCommand(p), newCRDGuardConvertibleCommand(p))
	return cmd
}

// guardOptions are the flags of crd guard.
type guardOptions struct {
	targetFlags

	api        apiFlags
	files      []string
	names      []string
	mode       string
	allowGroup string
}

func newCRDGuardAnnotationsCommand(p *program) *cobra.Command {
	var o guardOptions
	cmd := &cobra.Command{
		Use:   "annotations [-f FILE] [--crd NAME...] [--service NAMESPACE/NAME] [--mode validate|restore] [--allow-group GROUP]",
		Short: "Print the guard of what webhookd keeps in annotations",
		Long: `Print the policies that keep clients from changing the annotations and labels in which webhookd keeps what another version
says: those whose keys begin with conversion.webhookd.io/VERSION. or with status.conversion.webhookd.io/VERSION. for a
version of the CRD. Without them, whoever may patch an object can set its status by such an annotation.

validate refuses a request that changes, adds or leaves out such an annotation, and says which one (Kubernetes 1.30).
restore puts the annotations back as the object has them, and lets the request pass (Kubernetes 1.36). When an object is
made, only annotations of status count: whoever makes it may set its spec at any version.

Print the policies anew when the CRD gets another version: the new version has no guard before. Annotations of a version
that the CRD does not have any more may be removed by anybody.

` + guardInput,
		Example: `  webhookd crd guard annotations -f crd.yaml | kubectl apply -f -
  webhookd crd guard annotations -f crds/ --mode restore --allow-group system:serviceaccounts:velero
  kubectl get crds -o yaml | webhookd crd guard annotations -f - --service webhookd/webhookd`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.crdGuardAnnotations(cmd.Context(), &o) },
	}
	o.add(cmd)
	flags := cmd.Flags()
	flags.StringVar(&o.mode, "mode", string(crdguard.Validate), "`mode`: validate refuses a request that changes a kept value, restore puts the value back")
	offer(cmd, "mode", string(crdguard.Validate), string(crdguard.Restore))
	flags.StringVar(&o.allowGroup, "allow-group", "", "`group` of users who may change kept values, such as that of a backup's ServiceAccount (default nobody)")
	o.api.add(flags)
	return cmd
}

func newCRDGuardConvertibleCommand(p *program) *cobra.Command {
	var o guardOptions
	cmd := &cobra.Command{
		Use:   "convertible [-f FILE] [--crd NAME...] [--service NAMESPACE/NAME]",
		Short: "Print the gate that refuses objects that cannot be converted",
		Long: `Print the policies that refuse an object when it is written, if it cannot be converted to a version that is served and that
it is not stored in. Without them, one such object makes lists of its kind at that version fail in all namespaces. The
policies say no more than "true": to ask them, the API server has to convert the object. That holds for any converter, and
the message of the converter is what the user reads.

What it costs: one more conversion for each write and version. While webhookd is down, writes at the stored version are
refused as well. An object that could not be converted before cannot be changed, not even to lose a finalizer; it can be
deleted at the stored version. docs/how-to/shrink-an-object.md has the way out.

A CRD that serves one version is left out, and that is said. Print the policies anew when the versions or the storage
version of the CRD change.

` + guardInput,
		Example: `  webhookd crd guard convertible -f crd.yaml | kubectl apply -f -
  webhookd crd guard convertible --crd crontabs.example.com --api-server http://127.0.0.1:8001`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.crdGuardConvertible(cmd.Context(), &o) },
	}
	o.add(cmd)
	o.api.add(cmd.Flags())
	return cmd
}

// guardInput says where the CRDs come from.
const guardInput = `CRDs come from files, or without -f from the API server of the cluster that this runs in, or from that of --api-server.
There --crd or --service has to say which ones.

RBAC, without -f: apiGroups [apiextensions.k8s.io], resources [customresourcedefinitions], verbs [get] with --crd, and
resourceNames [the CRDs]; verbs [list] without --crd.`

// add adds the flags that say which CRDs.
func (o *guardOptions) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringArrayVarP(&o.files, "filename", "f", nil, "`path` of a file or folder with CRDs, - for stdin; may be given more than once\n(default what the API server says)")
	flags.StringArrayVar(&o.names, "crd", nil, "this CRD only, as `PLURAL.GROUP`; may be given more than once")
	o.addService(flags, "only CRDs that point at this Service")
}

// check reports all that is wrong with the flags, and returns the Service.
func (o *guardOptions) check() (crdwire.Target, error) {
	var service crdwire.Target
	var serviceErr, whichErr, modeErr error
	if o.service != "" {
		if service, serviceErr = crdwire.ParseService(o.service); serviceErr != nil {
			serviceErr = fmt.Errorf("--service: %w", serviceErr)
		}
	}
	if len(o.files) == 0 && len(o.names) == 0 && o.service == "" {
		whichErr = errors.New("no CRDs: give their files with --filename, or, of those of a cluster, the names with --crd or the Service with --service")
	}
	if mode := crdguard.Mode(o.mode); mode != "" && mode != crdguard.Validate && mode != crdguard.Restore {
		modeErr = fmt.Errorf("not a mode, write validate or restore: --mode %q", o.mode)
	}
	return service, errors.Join(whichErr, crdNames("crd", o.names), serviceErr, modeErr)
}

func (p *program) crdGuardAnnotations(ctx context.Context, o *guardOptions) error {
	guard := crdguard.Options{Mode: crdguard.Mode(o.mode), AllowGroup: o.allowGroup}
	return p.crdGuard(ctx, o, "%s has one version: nothing is kept of another one", func(crd *crdwire.CRD) ([]byte, error) {
		return crdguard.Annotations(crd, guard)
	})
}

func (p *program) crdGuardConvertible(ctx context.Context, o *guardOptions) error {
	return p.crdGuard(ctx, o, "%s serves one version: there is no other one to convert to", crdguard.Convertible)
}

// crdGuard prints what is rendered of each CRD, and says of which CRD there is nothing.
func (p *program) crdGuard(ctx context.Context, o *guardOptions, nothing string, render func(*crdwire.CRD) ([]byte, error)) error {
	service, err := o.check()
	if err != nil {
		return usage(err, "")
	}
	crds, err := p.guardedCRDs(ctx, o, service)
	if err != nil {
		return err
	}
	var policies [][]byte
	var without []string
	problems := make([]error, 0, len(crds))
	for _, crd := range crds {
		text, err := render(crd)
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
	if _, err := p.stdout.Write(joinDocuments(policies)); err != nil {
		return fmt.Errorf("cannot write the policies: %w", err)
	}
	for _, name := range without {
		p.tell(nothing, name)
	}
	return nil
}

// joinDocuments makes one stream of YAML.
func joinDocuments(texts [][]byte) []byte {
	var all []byte
	for i, text := range texts {
		if i > 0 {
			all = append(all, "---\n"...)
		}
		all = append(all, text...)
	}
	return all
}

// guardedCRDs returns the CRDs that the flags name: of the files, or of the API server.
func (p *program) guardedCRDs(ctx context.Context, o *guardOptions, service crdwire.Target) ([]*crdwire.CRD, error) {
	crds, missing, err := p.namedCRDs(ctx, o)
	if err != nil {
		return nil, err
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("there is no such CRD: %s", strings.Join(missing, ", "))
	}
	if o.service == "" {
		return crds, nil
	}
	crds = slices.DeleteFunc(crds, func(crd *crdwire.CRD) bool {
		target, is := crdwire.TargetOf(crd)
		return !is || !target.Same(service)
	})
	if len(crds) == 0 {
		return nil, fmt.Errorf("no CRD here points at this Service: %s", o.service)
	}
	return crds, nil
}

// namedCRDs returns the CRDs of --crd, or all that there are, and which of --crd are missing.
func (p *program) namedCRDs(ctx context.Context, o *guardOptions) (crds []*crdwire.CRD, missing []string, err error) {
	if len(o.files) == 0 {
		api, _, err := o.api.client(p, "give files of CRDs with --filename, or ")
		if err != nil {
			return nil, nil, err
		}
		defer api.Close()
		return crdwire.ReadAll(ctx, api, o.names)
	}
	crds, err = p.fileCRDs(ctx, o.files)
	if err != nil || len(o.names) == 0 {
		return crds, nil, err
	}
	crds = slices.DeleteFunc(crds, func(crd *crdwire.CRD) bool { return !slices.Contains(o.names, crd.Name) })
	for _, name := range o.names {
		if !slices.ContainsFunc(crds, func(crd *crdwire.CRD) bool { return crd.Name == name }) {
			missing = append(missing, name)
		}
	}
	return crds, missing, nil
}
