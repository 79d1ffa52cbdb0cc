package crd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crdconvert/webhookd/internal/cli/connect"
	"github.com/crdconvert/webhookd/internal/cli/offline"
	"github.com/crdconvert/webhookd/internal/cli/voice"
	"github.com/crdconvert/webhookd/internal/cluster/crdwire"
	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
	"github.com/crdconvert/webhookd/internal/schema/apiserver"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
	"github.com/crdconvert/webhookd/internal/schema/manifest"
	"github.com/crdconvert/webhookd/internal/serve/ruleset"
)

type statusOptions struct {
	connect.TargetFlags

	ruled  offline.Flags
	files  []string
	names  []string
	output string
	all    bool
	usage  bool
}

func newStatus(p *voice.Program) *cobra.Command {
	var o statusOptions
	cmd := &cobra.Command{
		Use:   "status [FILE...] [--service NAMESPACE/NAME] [--address HOST:PORT] [--rules PATH --crds PATH]",
		Short: "Show what CRDs point at, and what is wrong",
		Long: `Show for each CRD what converts it, which CAs its caBundle trusts and until when, and whether every version has a
converter, served or not, since objects may be stored in any. CRDs with one version and no webhook are left out. With
--service, CRDs that point elsewhere are shown but not judged. The exit code is 1 if anything is wrong.

With -f it works offline. Otherwise it reads the CRDs of a cluster, and the XRDs of those that Crossplane makes. In a pod of
it, or with --address, it also connects, verifies the certificate with caBundle, and posts test reviews.

With --rules and --crds, give the files that webhookd has. The command lists where the schemas of each CRD differ from
webhookd's copy, and prints the digest of the files, which replicas have in their metric webhookd_rules_info. --usage shows
which field managers wrote objects at each version, and when they last did.

RBAC: apiGroups [apiextensions.k8s.io], resources [customresourcedefinitions], verbs [list]; with --name: verbs [get] and
resourceNames [the CRDs]. --usage: the kinds themselves, verbs [list]. ` + xrdRule("get"),
		Example: `  kubectl get crds -o yaml | webhookd crd status - --service webhookd/webhookd
  webhookd crd status crd.yaml --rules rules.yaml --crds crd.yaml
  webhookd crd status --service webhookd/webhookd --context staging
  webhookd crd status --service webhookd/webhookd --address 127.0.0.1:9443
  webhookd crd status --name crontabs.example.com --usage`,
		RunE: func(cmd *cobra.Command, _ []string) error { return runStatus(cmd.Context(), p, &o) },
	}
	flags := cmd.Flags()
	addFiles(cmd, &o.files)
	o.AddService(flags, "judge only CRDs that point at this Service")
	o.AddAddress(flags)
	o.ruled.Add(flags)
	flags.Lookup("crds").Usage = "`path` of a file or folder of CRDs for --rules, to compare with as well; may be given more than once (default the folders of the rules)"
	flags.StringArrayVar(&o.names, "name", nil, "only this CRD, as `PLURAL.GROUP`; may be given more than once")
	flags.BoolVar(&o.all, "all", false, "also show CRDs with one version and no webhook")
	flags.BoolVar(&o.usage, "usage", false, "show who uses each version of the CRDs of --name")
	voice.AddOutput(cmd, &o.output, "text", "json")
	o.Cluster.Add(flags)
	return cmd
}

func (o *statusOptions) check() (crdwire.StatusOptions, error) {
	s := crdwire.StatusOptions{Address: o.Address, Dial: o.Address != "", Now: time.Now()}
	var serviceErr error
	s.Service, serviceErr = o.OptionalService()
	return s, errors.Join(serviceErr, voice.CheckOutput(o.output, "text", "json"),
		voice.Problem(o.usage && (len(o.names) == 0 || len(o.files) > 0), "--usage lists objects of a cluster: give the CRDs with --name, and no files"),
		voice.Problem(len(o.ruled.Rules) == 0 && len(o.ruled.CRDs) > 0,
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
	s.Compare = func(crd *crdwire.CRD) (string, []string) { return compareWithCopy(set, crd) }
	s.Versions = func(gk schema.GroupKind) []string {
		if kind := registry.Lookup(gk); kind != nil {
			return kind.Versions
		}
		return nil
	}
	crds, api, err := readCRDs(ctx, p, &o.Cluster, o.files, o.names, func(name string) bool { return copyOf(set, name) != nil })
	if err != nil {
		return err
	}
	if api != nil {
		s.Dial = s.Dial || api.InCluster
		s.Definition = func(crd *crdwire.CRD) (*crdwire.CRD, error) {
			made, _, err := crdwire.ReadDefinition(ctx, api, crd)
			return made, err
		}
	}
	report := &statusReport{CRDs: []crdStatus{}}
	if len(o.ruled.Rules) > 0 {
		report.RulesDigest = set.Ruled().Digest()
	}
	for _, crd := range crds {
		if !o.all && !crdwire.Concerns(crd) {
			report.LeftOut++
			continue
		}
		status := crdStatus{Status: crdwire.Inspect(ctx, crd, s)}
		report.Findings += len(status.Findings)
		if o.usage {
			if status.Usage, err = usageOf(ctx, p, api, crd); err != nil {
				return err
			}
		}
		report.CRDs = append(report.CRDs, status)
	}
	if err := writeStatus(p, report, o.output); err != nil {
		return err
	}
	if report.Findings > 0 {
		return voice.ErrReported
	}
	return nil
}

type statusReport struct {
	CRDs     []crdStatus `json:"crds"`
	LeftOut  int         `json:"leftOut"` // with one version and no webhook
	Findings int         `json:"findings"`
	// RulesDigest identifies the given rules and CRDs, as in the server's metric. It is empty
	// without rules.
	RulesDigest string `json:"rulesDigest,omitempty"`
}

func writeStatus(p *voice.Program, r *statusReport, output string) error {
	if output == "json" {
		return p.PrintJSON(r)
	}
	var out strings.Builder
	for i := range r.CRDs {
		r.CRDs[i].write(&out)
	}
	if r.LeftOut > 0 {
		fmt.Fprintf(&out, "%s with one version and no webhook\n", voice.Count(r.LeftOut, "CRD"))
	}
	if r.RulesDigest != "" {
		fmt.Fprintf(&out, "rules and CRDs have the digest %s; replicas that serve them have it in webhookd_rules_info\n", r.RulesDigest)
	}
	return p.Print(out.String())
}

// copyOf returns the CRD that the rules are compiled with, or nil.
func copyOf(s *ruleset.Set, name string) *crdschema.CRD {
	for _, crd := range s.CRDs {
		if crd.Name == name {
			return crd
		}
	}
	return nil
}

// compareWithCopy returns the differences between a CRD and the copy that the rules are compiled
// with, if any.
func compareWithCopy(s *ruleset.Set, crd *crdwire.CRD) (file string, findings []string) {
	mine := copyOf(s, crd.Name)
	if mine == nil {
		return "", nil
	}
	theirs, err := schemasOf(crd)
	if err != nil {
		return mine.File, []string{fmt.Sprintf("schemas that cannot be compared with the copy in %s: %s", mine.File, strings.ReplaceAll(err.Error(), "\n", "; "))}
	}
	find := func(places []string, what string) {
		const most = 20
		if len(places) > 0 {
			findings = append(findings, fmt.Sprintf("the copy in %s %s, update it: %s", mine.File, what, finding.Few(places, most)))
		}
	}
	for _, v := range theirs.Versions {
		if own := mine.Version(v.Name); own != nil {
			d := crdschema.Compare(v.Root, own.Root)
			find(d.First, "lacks fields of "+v.Name)
			find(d.Second, "has fields of "+v.Name+" that the CRD lacks")
			find(d.Other, "has another type or default for fields of "+v.Name)
		}
	}
	var gone []string // versions that the copy lacks have no converter, which is another finding
	for _, v := range mine.Versions {
		if theirs.Version(v.Name) == nil {
			gone = append(gone, v.Name)
		}
	}
	find(gone, "has versions that the CRD lacks")
	return mine.File, findings
}

// schemasOf returns the schemas of a CRD as the rule engine reads them.
func schemasOf(crd *crdwire.CRD) (*crdschema.CRD, error) {
	whole := *crd
	whole.TypeMeta = metav1.TypeMeta{APIVersion: "apiextensions.k8s.io/v1", Kind: manifest.KindCRD} // items of lists lack it
	text, err := json.Marshal(&whole)
	if err != nil {
		return nil, err
	}
	crds, err := apiserver.Parse(crd.Name, text)
	if err != nil {
		return nil, err
	}
	return crds[0], nil
}
