package cli

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/document/yamljson"
	"github.com/crdconvert/webhookd/internal/laws/diagnosis"
	"github.com/crdconvert/webhookd/internal/laws/hold"
	"github.com/crdconvert/webhookd/internal/serve"
)

// printViolation prints a violated law with its object and the command that reproduces it.
func (p *program) printViolation(o *fuzzOptions, kind *converters.Kind, c *diagnosis.Rules, v *hold.ViolationError) error {
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
	fmt.Fprintf(&out, "seed: %d\nagain: %s\n", v.Seed, again("fuzz", &o.ruled, kind.Name(), v.Seed, v.Index+1))
	_, err := p.stdout.Write(out.Bytes())
	return err
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

// again returns the command that reproduces what a verb has found.
func again(verb string, ruled *ruleFlags, kind string, seed, objects uint64, more ...string) string {
	words := append([]string{"webhookd", verb}, more...)
	for _, path := range ruled.rules {
		words = append(words, "--rules", path)
	}
	for _, path := range ruled.crds {
		words = append(words, "--crds", path)
	}
	words = append(words, "--kind", kind, "--seed", fmt.Sprint(seed), "--objects", fmt.Sprint(objects))
	for i, word := range words {
		words[i] = serve.ShellWord(word)
	}
	return strings.Join(words, " ")
}
