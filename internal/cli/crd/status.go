package crd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crdconvert/webhookd/internal/cli/connect"
	"github.com/crdconvert/webhookd/internal/cli/offline"
	"github.com/crdconvert/webhookd/internal/cli/voice"
	"github.com/crdconvert/webhookd/internal/cluster/crdwire"
	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

type statusOptions struct {
	connect.TargetFlags

	ruled  offline.Flags
	files  []string
	names  []string
	output string
	read   bool
}

func newStatus(p *voice.Program) *cobra.Command {
	var o statusOptions
	cmd := &cobra.Command{
		Use:   "status [FILE...] [--read] [--service NAMESPACE/NAME] [--address HOST:PORT] [--rules PATH --crds PATH]",
		Short: "Show which conversions of a cluster are broken",
		Long: `Show for each CRD with several versions or a conversion webhook, webhookd's or not, whether its objects can be converted, and
what is WRONG. The exit code is 1 if anything is. What has to be given for a check is said where it is not checked. For the
CRDs of --name, or of files, every check is shown, and otherwise what there is to do.

With --read the API server reads one object at each served version of each CRD, and its error is shown. The command also
connects to each Service through the API server, and verifies the certificate with caBundle. A pod of the cluster connects
by itself. With --service, CRDs with another webhook are left out, and that Service gets test reviews.

With --rules and --crds, give the files that webhookd has. The command lists where the schemas of each CRD differ from
webhookd's copy, and prints the digest of the files, which replicas have in their metric webhookd_rules_info.

RBAC: apiGroups [apiextensions.k8s.io], resources [customresourcedefinitions], verbs [list]; with --name: verbs [get] and
resourceNames [the CRDs]. In the namespaces of the webhooks: resources [services], verbs [get]; apiGroups [discovery.k8s.io],
resources [endpointslices], verbs [list]. --read: the kinds themselves, verbs [list]; resources [pods], verbs [list];
[pods/portforward], verbs [create]. ` + xrdRule("get") + `
What may not be read is not checked.`,
		Example: `  webhookd crd status --read
  webhookd crd status --name crontabs.example.com
  webhookd crd status --service webhookd/webhookd --address 127.0.0.1:9443
  kubectl get crds -o yaml | webhookd crd status - --service webhookd/webhookd
  webhookd crd status crd.yaml --rules rules.yaml --crds crd.yaml`,
		RunE: func(cmd *cobra.Command, _ []string) error { return runStatus(cmd.Context(), p, &o) },
	}
	flags := cmd.Flags()
	addFiles(cmd, &o.files)
	flags.BoolVar(&o.read, "read", false, "read an object at each version, and connect to each Service through the API server")
	o.AddService(flags, "the Service of webhookd; CRDs with another webhook are left out")
	o.AddAddress(flags)
	o.ruled.Add(flags)
	flags.Lookup("crds").Usage = "`path` of a file or folder of CRDs for --rules, to compare with as well; may be given more than once (default the folders of the rules)"
	flags.StringArrayVar(&o.names, "name", nil, "only this CRD, as `PLURAL.GROUP`; may be given more than once")
	voice.AddOutput(cmd, &o.output, "text", "json")
	o.Cluster.Add(flags)
	return cmd
}

func (o *statusOptions) check() (crdwire.StatusOptions, error) {
	s := crdwire.StatusOptions{Read: o.read, Address: o.Address, Ruled: len(o.ruled.Rules) > 0, Now: time.Now()}
	var serviceErr error
	s.Service, serviceErr = o.OptionalService()
	return s, errors.Join(serviceErr, voice.CheckOutput(o.output, "text", "json"),
		voice.Problem(o.read && len(o.files) > 0, "--read reads objects of a cluster: give CRDs with --name, and no files"),
		voice.Problem(o.Address != "" && o.Service == "" && len(o.names) == 0 && len(o.files) == 0,
			"--address is that of one webhook: give its --service, or the --name of its CRD"),
		voice.Problem(!s.Ruled && len(o.ruled.CRDs) > 0,
			"--crds has the schemas for --rules: to look at one CRD, give its --name, or its file with --filename"),
		o.ruled.Check(o.files...), connect.CheckCRDNames("name", o.names), connect.CheckAddress(o.Address))
}

func runStatus(ctx context.Context, p *voice.Program, o *statusOptions) error {
	s, problems := o.check()
	set, err := o.ruled.Load(ctx, p, problems)
	if err != nil {
		return err
	}
	registry, err := set.Registry()
	if err != nil {
		return err
	}
	s.Copy = func(name string) *crdschema.CRD {
		i := slices.IndexFunc(set.CRDs, func(crd *crdschema.CRD) bool { return crd.Name == name })
		if i < 0 {
			return nil
		}
		return set.CRDs[i]
	}
	s.Versions = func(gk schema.GroupKind) []string {
		if kind := registry.Lookup(gk); kind != nil {
			return kind.Versions
		}
		return nil
	}
	crds, api, err := readCRDs(ctx, p, &o.Cluster, o.files, o.names, func(crd *crdwire.CRD) bool {
		_, converted := crdwire.TargetOf(crd)
		return s.Copy(crd.Name) != nil || !converted && len(crd.Spec.Versions) > 1
	})
	if err != nil {
		return err
	}
	s.API = api
	all := len(crds)
	crds = slices.DeleteFunc(crds, func(crd *crdwire.CRD) bool {
		at, is := crdwire.TargetOf(crd)
		return o.Service != "" && is && !at.Same(s.Service) || len(o.names) == 0 && !crdwire.Concerns(crd)
	})
	report := &statusReport{CRDs: []crdwire.Status{}, LeftOut: all - len(crds)}
	connect.InParallel(crds, func(crd *crdwire.CRD) func() {
		status := crdwire.Inspect(ctx, crd, &s)
		return func() { report.CRDs = append(report.CRDs, status) }
	})
	if s.Ruled {
		report.RulesDigest = set.Ruled().Digest()
	}
	if o.output == "json" {
		err = p.PrintJSON(report)
	} else {
		err = p.Print(report.text(len(o.names) > 0 || len(o.files) > 0))
	}
	if err == nil && slices.ContainsFunc(report.CRDs, func(crd crdwire.Status) bool { return crd.State == crdwire.Wrong }) {
		err = voice.ErrReported
	}
	return err
}

type statusReport struct {
	CRDs []crdwire.Status `json:"crds"`
	// LeftOut counts CRDs with one version and no webhook, or with another one than that of
	// --service.
	LeftOut int `json:"leftOut"`
	// RulesDigest identifies the given rules and CRDs, as in the server's metric. It is empty
	// without rules.
	RulesDigest string `json:"rulesDigest,omitempty"`
}

// text prints the report for people: all results, or those that matter.
func (r *statusReport) text(details bool) string {
	rows := [][]string{{"CRD", "STATE", "CHECK", ""}}
	unchecked := 0
	for _, crd := range r.CRDs {
		if crd.State == crdwire.NotChecked {
			unchecked++
		}
		if !details && crd.State != crdwire.Wrong {
			rows = append(rows, []string{crd.Name, string(crd.State), "", ""})
		}
		for _, result := range crd.Results {
			if details || result.State == crdwire.Wrong || result.State == crdwire.Note {
				rows = append(rows, []string{crd.Name, string(result.State), result.Check, finding.Printable(result.Text)})
			}
		}
	}
	text := voice.Table(rows)
	if unchecked > 0 && !details {
		text += voice.Count(unchecked, "CRD") + " not checked: --read reads objects, and --name says what each check needs\n"
	}
	if r.LeftOut > 0 {
		text += voice.Count(r.LeftOut, "CRD") + " left out: one version and no webhook, or the webhook of another Service\n"
	}
	if r.RulesDigest != "" {
		text += fmt.Sprintf("rules and CRDs have the digest %s; replicas that serve them have it in webhookd_rules_info\n", r.RulesDigest)
	}
	return text
}
