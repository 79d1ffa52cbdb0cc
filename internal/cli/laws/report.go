package laws

import (
	"bytes"
	"cmp"
	"fmt"

	"github.com/crdconvert/webhookd/internal/cli/offline"
	"github.com/crdconvert/webhookd/internal/cli/voice"
	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/document/yamljson"
	"github.com/crdconvert/webhookd/internal/laws/compare"
	"github.com/crdconvert/webhookd/internal/laws/diagnosis"
	"github.com/crdconvert/webhookd/internal/laws/hold"
)

// printViolation prints a violated law with its object and the command that reproduces it.
func printViolation(p *voice.Program, o *fuzzOptions, kind *converters.Kind, c *diagnosis.Rules, v *hold.ViolationError) error {
	var out bytes.Buffer
	fmt.Fprintf(&out, "%s: law %s does not hold, %s -> %s\n", kind.Name(), v.Law, v.From, v.To)
	writeProblem(&out, v)
	why, remedy := c.Explain(v)
	if why != "" {
		fmt.Fprintf(&out, "cause: %s\n", why)
	}
	if remedy != "" {
		fmt.Fprintf(&out, "remedy: %s\n", remedy)
	}
	writeObject(&out, v)
	fmt.Fprintf(&out, "seed: %d\nagain: %s\n", v.Seed, o.again("fuzz", kind.Name(), v.Seed, v.Index+1))
	return p.Print(out.String())
}

// writeProblem says what is wrong, and where.
func writeProblem(out *bytes.Buffer, v *hold.ViolationError) {
	if v.Path == "" {
		fmt.Fprintf(out, "problem: %s\n", v.Problem)
		return
	}
	fmt.Fprintf(out, "differs: %s\n", v.Path)
	fmt.Fprintf(out, "  should be: %s\n  is:        %s\n", cmp.Or(v.Was, "absent"), cmp.Or(v.Is, "absent"))
	if steps := v.Steps(); steps != "" {
		fmt.Fprintf(out, "steps: %s\n", steps)
	}
}

// writeObject writes the object and what happens to it.
func writeObject(out *bytes.Buffer, v *hold.ViolationError) {
	if v.Walk != nil {
		out.WriteString("walk:\n")
		for _, line := range v.Walk.Lines() {
			fmt.Fprintf(out, "  %s\n", line)
		}
	}
	writeYAML(out, v.Object)
}

// writeYAML writes an object as YAML, or as it is if it cannot be.
func writeYAML(out *bytes.Buffer, object []byte) {
	text, err := yamljson.FromJSON(object)
	if err != nil {
		text = append(bytes.Clone(object), '\n')
	}
	out.WriteString("object:\n")
	for line := range bytes.Lines(text) {
		out.WriteString("  " + string(line))
	}
}

// printComparison prints the table of what differs, by field, and with --show-values an object for
// each. It reports whether there is a difference.
func printComparison(p *voice.Program, o *compareOptions, kind *converters.Kind, theirs string, c *compare.Comparison) (bool, error) {
	var out bytes.Buffer
	found, differ, objects := c.Disagreements()
	ours := cmp.Or(o.with.URL, offline.NamesOf(o.ruled.Rules), "the compiled-in converter")
	verb := "convert the same, "
	if differ > 0 {
		verb = fmt.Sprintf("differ on %d of ", differ)
	}
	fmt.Fprintf(&out, "%s: %s%s (seed %d)\ntheirs: %s\nours: %s\n", kind.Name(), verb, voice.Count(objects, "object"), o.seed, theirs, ours)
	if len(found) > 0 {
		rows := make([][]string, 1, 1+len(found))
		rows[0] = []string{"WHAT", "CONVERSION", "FIELD", "OBJECTS", "FIRST"}
		for _, d := range found {
			rows = append(rows, []string{string(d.Verdict), d.From + " -> " + d.To, fieldOf(&d), fmt.Sprint(d.Objects), d.Name})
		}
		out.WriteString(voice.Table(rows))
	}
	if o.live.ShowValues {
		for _, d := range found {
			writeDisagreement(&out, &d)
		}
	} else if len(found) > 0 {
		out.WriteString("--show-values prints the values, and a small object for each\n")
	}
	return differ > 0, p.Print(out.String())
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
