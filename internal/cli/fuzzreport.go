package cli

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/roundtrip"
	"github.com/crdconvert/webhookd/internal/serve"
	"github.com/crdconvert/webhookd/internal/yamljson"
)

// printViolation prints a violated law with its object and the command that reproduces it.
func (p *program) printViolation(o *fuzzOptions, kind *converters.Kind, c *cause, v *roundtrip.ViolationError) error {
	var out bytes.Buffer
	fmt.Fprintf(&out, "%s: law %s does not hold, %s -> %s\n", kind.Name(), v.Law, v.From, v.To)
	writeProblem(&out, v)
	why, remedy := c.explain(v)
	if why != "" {
		fmt.Fprintf(&out, "cause: %s\n", why)
	}
	if remedy != "" {
		fmt.Fprintf(&out, "remedy: %s\n", remedy)
	}
	writeObject(&out, v)
	fmt.Fprintf(&out, "seed: %d\nagain: %s\n", v.Seed, o.again(kind.Name(), v.Seed, v.Index+1))
	_, err := p.stdout.Write(out.Bytes())
	return err
}

// writeProblem says what is wrong, and where.
func writeProblem(out *bytes.Buffer, v *roundtrip.ViolationError) {
	if v.Path == "" {
		fmt.Fprintf(out, "problem: %s\n", v.Problem)
		return
	}
	fmt.Fprintf(out, "differs: %s\n", v.Path)
	fmt.Fprintf(out, "  should be: %s\n  is:        %s\n", cmp.Or(v.Was, "absent"), cmp.Or(v.Is, "absent"))
	if _, steps, ok := strings.Cut(v.Problem, " differs: "); ok {
		fmt.Fprintf(out, "steps: %s\n", steps)
	}
}

// writeObject writes the object and what happens to it.
func writeObject(out *bytes.Buffer, v *roundtrip.ViolationError) {
	if v.Walk != nil {
		out.WriteString("walk:\n")
		for _, line := range v.Walk.Lines() {
			fmt.Fprintf(out, "  %s\n", line)
		}
	}
	text, err := yamljson.FromJSON(v.Object)
	if err != nil {
		text = append(bytes.Clone(v.Object), '\n')
	}
	out.WriteString("object:\n")
	for line := range strings.Lines(string(text)) {
		out.WriteString("  " + line)
	}
}

// again returns the command that reproduces what was found.
func (o *fuzzOptions) again(kind string, seed, objects uint64) string {
	words := []string{"webhookd", "fuzz"}
	if o.webhook.server != "" {
		words = append(words, "--server", serve.ShellWord(o.webhook.server))
	}
	if o.webhook.caFile != "" {
		words = append(words, "--ca-file", serve.ShellWord(o.webhook.caFile))
	}
	for _, path := range o.drops {
		words = append(words, "--drop", serve.ShellWord(path))
	}
	if o.live.on {
		words = append(words, o.live.words()...)
	}
	for _, path := range o.ruled.rules {
		words = append(words, "--rules", serve.ShellWord(path))
	}
	for _, path := range o.ruled.crds {
		words = append(words, "--crd", serve.ShellWord(path))
	}
	words = append(words, "--kind", kind, "--seed", fmt.Sprint(seed))
	if !o.live.on {
		words = append(words, "-n", fmt.Sprint(objects))
	}
	return strings.Join(words, " ")
}

// progressPause is the minimum time between two updates of the line.
const progressPause = 100 * time.Millisecond

// A progress is a status line that is overwritten in place. It appears only on a terminal.
type progress struct {
	out   io.Writer // nil if not a terminal
	name  string
	begin time.Time
	last  time.Time
	shown bool
}

func newProgress(out io.Writer, name string) *progress {
	p := &progress{name: name, begin: time.Now()}
	if isTerminal(out) {
		p.out = out
	}
	return p
}

// isTerminal reports whether a stream is one: a user reads it, lines can be overwritten in place.
func isTerminal(stream any) bool {
	file, ok := stream.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

func (p *progress) show(s roundtrip.Stats) {
	now := time.Now()
	if p.out == nil || now.Sub(p.last) < progressPause {
		return
	}
	p.last, p.shown = now, true
	fmt.Fprintf(p.out, "\r%s: %s, %s, %s, %s, %s\x1b[K", p.name, count(s.Objects, "object"), count(s.Fragments, "fragment"),
		count(s.Edits, "edit"), count(s.Walks, "walk"), now.Sub(p.begin).Round(time.Second))
}

// say shows what is done now.
func (p *progress) say(what string) {
	if p.out != nil {
		p.shown = true
		fmt.Fprintf(p.out, "\r%s: %s, %s\x1b[K", p.name, what, time.Since(p.begin).Round(time.Second))
	}
}

// clear removes the line, so that the result replaces it.
func (p *progress) clear() {
	if p.shown {
		fmt.Fprint(p.out, "\r\x1b[K")
	}
}
