package cli

import (
	"bytes"
	"cmp"
	"fmt"
	"text/tabwriter"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/laws/compare"
)

// printComparison prints the table of what differs, by field, and with --show-values an object for
// each. It reports whether there is a difference.
func (p *program) printComparison(o *compareOptions, kind *converters.Kind, theirs string, c *compare.Comparison) (bool, error) {
	var out bytes.Buffer
	found, differ, objects := c.Disagreements()
	ours := cmp.Or(o.with, namesOf(o.ruled.rules), "the compiled-in converter")
	verb := "convert the same, "
	if differ > 0 {
		verb = fmt.Sprintf("differ on %d of ", differ)
	}
	fmt.Fprintf(&out, "%s: %s%s (seed %d)\ntheirs: %s\nours: %s\n", kind.Name(), verb, count(objects, "object"), o.seed, theirs, ours)
	if len(found) > 0 {
		table := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(table, "WHAT\tCONVERSION\tFIELD\tOBJECTS\tFIRST")
		for _, d := range found {
			fmt.Fprintf(table, "%s\t%s -> %s\t%s\t%d\t%s\n", d.Verdict, d.From, d.To, fieldOf(&d), d.Objects, d.Name)
		}
		if err := table.Flush(); err != nil {
			return false, err
		}
	}
	if o.live.showValues {
		for _, d := range found {
			writeDisagreement(&out, &d)
		}
	} else if len(found) > 0 {
		out.WriteString("--show-values prints the values, and a small object for each\n")
	}
	_, err := p.stdout.Write(out.Bytes())
	return differ > 0, err
}

func fieldOf(d *compare.Disagreement) string {
	if d.Path == "" {
		return "-"
	}
	return d.At + " " + d.Path
}

// writeDisagreement writes the values of a difference, and its object.
func writeDisagreement(out *bytes.Buffer, d *compare.Disagreement) {
	fmt.Fprintf(out, "\n%s, %s -> %s, %s\n", d.Verdict, d.From, d.To, fieldOf(d))
	if d.Path == "" {
		fmt.Fprintf(out, "  %s\n", cmp.Or(d.Theirs, d.Ours))
	} else {
		if d.Verdict != compare.Differs {
			fmt.Fprintf(out, "  source: %s\n", cmp.Or(d.Source, "absent"))
		}
		fmt.Fprintf(out, "  theirs: %s\n  ours:   %s\n", cmp.Or(d.Theirs, "absent"), cmp.Or(d.Ours, "absent"))
	}
	writeYAML(out, d.Object)
}
