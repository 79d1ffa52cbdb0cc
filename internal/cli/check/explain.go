package check

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/crdconvert/webhookd/internal/cli/offline"
	"github.com/crdconvert/webhookd/internal/cli/voice"
	"github.com/crdconvert/webhookd/internal/converters/rules/check"
	"github.com/crdconvert/webhookd/internal/serve/ruleset"
)

// NewExplain returns the command explain.
func NewExplain(p *voice.Program) *cobra.Command {
	var o explainOptions
	cmd := &cobra.Command{
		Use:   "explain {RULES... | CODE} [--crds PATH] [--version VERSION] [-o table|json]",
		Short: "Print what rules do with fields, or what a finding means",
		Long: `Print what happens to every field, for each version and direction: whether it is copied, mapped by a rule, preserved in
an annotation, or dropped. A list, a map or an optional object has two or more lines: whether it exists (presence), and
what it contains.

The units with more than one place follow the tables: which places of both versions belong together, and why. An edit of
one place makes the kept values of its whole unit out of date. has(PLACE) means whether the place has a value, whatever
the value.

Rules need not be complete: a field that no rule covers is unmapped.

With CODE it says what a finding of check means, why it matters and how to fix it. webhookd kept prints what an object keeps.`,
		Example: `  webhookd explain rules.yaml --crds crd.yaml
  webhookd explain unmapped-field
  webhookd explain conversions/ --version v1beta1 -o json | jq '.directions[].atoms[] | select(.class == "preserved")'`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 && isCode(args[0]) {
				return explainCode(p, args[0])
			}
			o.ruled.Rules = append(o.ruled.Rules, args...)
			if err := o.check(); err != nil {
				return voice.Usage(err, "")
			}
			return runExplain(cmd.Context(), p, &o)
		},
	}
	flags := cmd.Flags()
	o.ruled.Add(flags)
	flags.StringVar(&o.version, "version", "", "only the directions to and from this `version` (default all)")
	voice.AddOutput(cmd, &o.output, "table", "json")
	return cmd
}

// explainOptions are the flags of explain.
type explainOptions struct {
	ruled           offline.Flags
	version, output string
}

func (o *explainOptions) check() error {
	problems := []error{o.ruled.Check()}
	if len(o.ruled.Rules) == 0 {
		problems = append(problems, errors.New("nothing to explain: name a file or a folder of Conversions"))
	}
	return errors.Join(append(problems, voice.CheckOutput(o.output, "table", "json"))...)
}

func runExplain(ctx context.Context, p *voice.Program, o *explainOptions) error {
	set, err := o.ruled.LoadQuietly(ctx, p)
	if err != nil {
		return err
	}
	directions := explainAll(set, o.version)
	if len(directions) == 0 {
		if o.version != "" {
			return voice.Usage(fmt.Errorf("--version %s: no rules for this version", o.version), "there is "+strings.Join(versionsOf(set), ", "))
		}
		return fmt.Errorf("%s: no Conversion in any file", offline.NamesOf(o.ruled.Rules))
	}
	units := explainUnits(set, o.version)
	if o.output == "json" {
		return p.PrintJSON(map[string]any{"directions": directions, "units": units})
	}
	if err := writeTables(p.Stdout, directions); err != nil {
		return err
	}
	return writeUnits(p.Stdout, units, true)
}

// versionsOf returns the versions that rules name, sorted and without duplicates.
func versionsOf(set *ruleset.Set) []string {
	var names []string
	for _, c := range set.Conversions {
		names = append(names, c.Hub)
		for _, v := range c.Versions {
			names = append(names, v.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// explainAll explains all directions, or those to and from one version.
func explainAll(set *ruleset.Set, version string) []check.Direction {
	all := []check.Direction{}
	for _, k := range set.Bound.Kinds {
		for _, d := range check.Explain(k) {
			if version == "" || version == d.From || version == d.To {
				all = append(all, d)
			}
		}
	}
	return all
}

func writeTables(w io.Writer, directions []check.Direction) error {
	for i, d := range directions {
		if i > 0 {
			if _, err := fmt.Fprintln(w); err != nil {
				return err
			}
		}
		if _, err := fmt.Fprintf(w, "%s %s -> %s: %s\n", d.CRD, d.From, d.To, summary(&d)); err != nil {
			return err
		}
		var text strings.Builder
		table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
		fmt.Fprintln(table, "PLACE\tWHAT\tCLASS\tTO\tBY")
		for _, a := range d.Atoms {
			by := strings.TrimPrefix(a.Rule+": "+a.Reason, ": ")
			fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", a.Path, a.Kind, a.Class, a.To, strings.TrimSuffix(by, ": "))
		}
		if err := table.Flush(); err != nil {
			return err
		}
		for _, a := range d.Absent {
			fmt.Fprintf(&text, "%s may stay absent in %s: %s\n", cmp.Or(a.Path, "any required field"), d.To,
				strings.TrimPrefix(a.Rule+": "+a.Reason, ": "))
		}
		for line := range strings.Lines(text.String()) {
			if _, err := fmt.Fprintln(w, strings.TrimRight(line, " \n")); err != nil {
				return err
			}
		}
	}
	return nil
}

// summary returns the number of atoms in each class.
func summary(d *check.Direction) string {
	counts := make(map[check.Class]int)
	for _, a := range d.Atoms {
		counts[a.Class]++
	}
	var parts []string
	for _, class := range []check.Class{check.Copied, check.Mapped, check.Preserved, check.Dropped, check.Unmapped} {
		if n := counts[class]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, class))
		}
	}
	return strings.Join(parts, ", ")
}
