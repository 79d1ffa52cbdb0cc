package check

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	pages "github.com/crdconvert/webhookd/docs/reference"
	"github.com/crdconvert/webhookd/internal/cli/offline"
	"github.com/crdconvert/webhookd/internal/cli/voice"
	"github.com/crdconvert/webhookd/internal/converters/rules/check"
	"github.com/crdconvert/webhookd/internal/document/didyoumean"
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
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 && isCode(args[0]) {
				return explainCode(p, args[0])
			}
			o.ruled.Rules = append(o.ruled.Rules, args...)
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

func runExplain(ctx context.Context, p *voice.Program, o *explainOptions) error {
	set, err := o.ruled.LoadQuietly(ctx, p, o.ruled.Check(),
		voice.Problem(len(o.ruled.Rules) == 0, "nothing to explain: name a file or a folder of Conversions"),
		voice.CheckOutput(o.output, "table", "json"))
	if err != nil {
		return err
	}
	directions := []check.Direction{}
	var versions []string
	for _, k := range set.Bound.Kinds {
		for _, d := range check.Explain(k) {
			if versions = append(versions, d.From); o.version == "" || o.version == d.From || o.version == d.To {
				directions = append(directions, d)
			}
		}
	}
	units := unitsOf(set, o.version)
	switch {
	case len(directions) == 0 && o.version != "":
		slices.Sort(versions)
		return voice.Usage(fmt.Errorf("--version %s: no rules for this version", o.version), "there is "+strings.Join(slices.Compact(versions), ", "))
	case len(directions) == 0:
		return fmt.Errorf("%s: no Conversion in any file", offline.NamesOf(o.ruled.Rules))
	case o.output == "json":
		return p.PrintJSON(map[string]any{"directions": directions, "units": units})
	}
	texts := make([]string, len(directions))
	for i := range directions {
		texts[i] = textOf(&directions[i])
	}
	return p.Print(strings.Join(texts, "\n") + textOfUnits(units))
}

// textOf returns the table of a direction.
func textOf(d *check.Direction) string {
	by := func(rule, reason string) string {
		return strings.TrimSuffix(strings.TrimPrefix(rule+": "+reason, ": "), ": ")
	}
	counts := map[check.Class]int{}
	rows := make([][]string, 1, 1+len(d.Atoms))
	rows[0] = []string{"PLACE", "WHAT", "CLASS", "TO", "BY"}
	for _, a := range d.Atoms {
		counts[a.Class]++
		rows = append(rows, []string{a.Path, string(a.Kind), string(a.Class), a.To, by(a.Rule, a.Reason)})
	}
	var sums []string
	for _, class := range []check.Class{check.Copied, check.Mapped, check.Preserved, check.Dropped, check.Unmapped} {
		if n := counts[class]; n > 0 {
			sums = append(sums, fmt.Sprintf("%d %s", n, class))
		}
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%s %s -> %s: %s\n%s", d.CRD, d.From, d.To, strings.Join(sums, ", "), voice.Table(rows))
	for _, a := range d.Absent {
		fmt.Fprintf(&text, "%s may stay absent in %s: %s\n", cmp.Or(a.Path, "any required field"), d.To, by(a.Rule, a.Reason))
	}
	return text.String()
}

// unitsOf returns the units with more than one place, of all versions or of the conversions to and
// from one.
func unitsOf(set *ruleset.Set, version string) []check.Units {
	all := []check.Units{}
	for _, k := range set.Bound.Kinds {
		for _, u := range check.FindUnits(k) {
			if version == "" || version == u.Version || version == u.Hub {
				all = append(all, u)
			}
		}
	}
	return all
}

// textOfUnits returns a block for each version with units, after a blank line.
func textOfUnits(all []check.Units) string {
	var text strings.Builder
	for _, e := range all {
		if len(e.Units) == 0 {
			continue
		}
		fmt.Fprintf(&text, "\n%s %s <-> %s: %s of places that belong together\n", e.CRD, e.Version, e.Hub, voice.Count(len(e.Units), "unit"))
		for i, u := range e.Units {
			if i > 0 {
				text.WriteByte('\n')
			}
			var rows [][]string
			for _, version := range [2]string{e.Version, e.Hub} {
				if places := u.TextOf(version); places != "" {
					rows = append(rows, []string{"  " + version, places})
				}
				if reads := u.ReadsOf(version); reads != "" {
					rows = append(rows, []string{"  " + version + " reads", reads})
				}
			}
			for i, why := range u.Why {
				rows = append(rows, []string{"  " + []string{"because", ""}[min(i, 1)], why})
			}
			text.WriteString(voice.Table(rows))
		}
	}
	return text.String()
}

// A codeLine is what the page about findings says of some codes.
type codeLine struct {
	codes    []string
	severity string
	means    string // and why it matters
	fix      string
}

var (
	// linesOfCodes matches the lines of codes: their names, a severity, and a text.
	linesOfCodes = regexp.MustCompile("(?m)^- (`[a-z-]+`(?:, `[a-z-]+`)*):(?: \\((note|warning)\\))? ((?:.|\n  )+?)\\s+Fix: ((?:.|\n  )+)$")
	links        = regexp.MustCompile(`\[([^\]]+)\]\([^)]+\)`)
)

// codeLines reads the page about findings, which is the one table of codes.
func codeLines() []codeLine {
	plain := func(text string) string {
		return links.ReplaceAllString(strings.Join(strings.Fields(text), " "), "$1")
	}
	lines := linesOfCodes.FindAllStringSubmatch(pages.Findings, -1)
	all := make([]codeLine, 0, len(lines))
	for _, m := range lines {
		line := codeLine{codes: strings.Split(strings.ReplaceAll(m[1], "`", ""), ", "), severity: m[2], means: plain(m[3]), fix: plain(m[4])}
		if line.severity == "" {
			line.severity = "error"
		}
		all = append(all, line)
	}
	return all
}

// isCode reports whether an argument is a code, or is written as one and no file has that name.
func isCode(arg string) bool {
	if slices.ContainsFunc(codeLines(), func(l codeLine) bool { return slices.Contains(l.codes, arg) }) {
		return true
	}
	_, err := os.Stat(arg)
	return err != nil && regexp.MustCompile(`^[a-z]+(-[a-z]+)+$`).MatchString(arg)
}

// explainCode says what the code of a finding means, why, and how to fix it.
func explainCode(p *voice.Program, code string) error {
	var codes []string
	for _, line := range codeLines() {
		if slices.Contains(line.codes, code) {
			_, err := fmt.Fprintf(p.Stdout, "%s (%s)\n  %s\n  Fix: %s\n", code, line.severity, line.means, line.fix)
			return err
		}
		codes = append(codes, line.codes...)
	}
	return voice.Usage(fmt.Errorf("%s: no such code of a finding, file or object", code), didyoumean.Hint(code, codes, "webhookd check prints the codes"))
}
