package author

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/crdconvert/webhookd/internal/cli/offline"
	"github.com/crdconvert/webhookd/internal/cli/voice"
	"github.com/crdconvert/webhookd/internal/converters/rules/suggest"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
	"github.com/crdconvert/webhookd/internal/schema/manifest"
	"github.com/crdconvert/webhookd/internal/schema/xrd"
	"github.com/crdconvert/webhookd/internal/serve/ruleset"
)

// NewSuggest returns the command suggest.
func NewSuggest(p *voice.Program) *cobra.Command {
	var o suggestOptions
	cmd := &cobra.Command{
		Use:   "suggest CRD... [--hub VERSION] [--name PLURAL.GROUP]",
		Short: "Write a first draft of a Conversion file",
		Long: `Compare the schemas of a CRD's versions, and write a first draft of a Conversion file. Fields that are the same in both
versions need no rule and are left out. A field that has moved, or changed its name or type, gets a rule with the reason for
it. Sure guesses are rules; read them. The others are rules in comments: remove the # if the guess is right. Below them is
what is still open: the fields that webhookd check reports.

From several CRDs it writes a document for each one with more than one version, or only for the one of --name.`,
		Example: `  webhookd suggest crd.yaml > rules.yaml
  webhookd suggest crds/ --name crontabs.example.com --hub v1
  kubectl get crd crontabs.example.com -o yaml | webhookd suggest -
  webhookd suggest crd.yaml | webhookd check - --crds crd.yaml`,
		RunE: func(cmd *cobra.Command, _ []string) error { return runSuggest(cmd.Context(), p, &o) },
	}
	flags := cmd.Flags()
	o.ruled.AddCRDs(flags, "")
	voice.FilesAfter(cmd, "crds")
	flags.StringVar(&o.hub, "hub", "", "the `version` that rules relate all others to (default the storage version)")
	flags.StringVar(&o.name, "name", "", "only this CRD, as `PLURAL.GROUP` (default all with more than one version)")
	return cmd
}

// suggestOptions are the flags of suggest.
type suggestOptions struct {
	ruled     offline.Flags
	hub, name string
}

func runSuggest(ctx context.Context, p *voice.Program, o *suggestOptions) error {
	_, crdFiles, err := o.ruled.Files(ctx, p, voice.Problem(len(o.ruled.CRDs) == 0, "no schemas to compare: name the file or folder of the CRD"))
	if err != nil {
		return err
	}
	var meant []string
	if o.name != "" {
		meant = []string{o.name}
	}
	set := ruleset.Set{CRDFiles: crdFiles}
	if set.CRDs, set.Findings = ruleset.ParseCRDs(ctx, crdFiles, meant...); len(set.Findings) > 0 {
		if err := set.Render(p.Stderr, p.TextFor(p.Stderr)); err != nil {
			return err
		}
		return fmt.Errorf("CRDs cannot be used: %s above", voice.Count(len(set.Findings), "finding"))
	}
	crds, err := o.choose(set.CRDs)
	if err != nil {
		return err
	}
	texts := make([]string, 0, len(crds))
	for _, crd := range crds {
		text, err := suggest.Conversion(ctx, crd, o.hub)
		if err != nil {
			return voice.Usage(fmt.Errorf("--hub: %w", err), "")
		}
		texts = append(texts, string(text))
	}
	return p.Print(strings.Join(texts, "---\n"))
}

// choose returns the CRDs to write Conversions for.
func (o *suggestOptions) choose(crds []*crdschema.CRD) ([]*crdschema.CRD, error) {
	if len(crds) == 0 {
		hint := "give the file whose kind is " + manifest.KindCRD + " or " + xrd.Kind + " with --crds"
		return nil, voice.Usage(fmt.Errorf("%s: no CRD in any file", offline.NamesOf(o.ruled.CRDs)), hint)
	}
	if o.name != "" {
		return voice.Choose(crds, func(crd *crdschema.CRD) string { return crd.Name }, "name", o.name, "CRD")
	}
	var chosen []*crdschema.CRD
	names := make([]string, len(crds))
	for i, crd := range crds {
		if names[i] = crd.Name; len(crd.Versions) > 1 {
			chosen = append(chosen, crd)
		}
	}
	return chosen, voice.Problem(len(chosen) == 0, "%s: nothing to convert, these have one version only", strings.Join(names, ", "))
}
