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
	if v.Path == "" {
		fmt.Fprintf(&out, "problem: %s\n", v.Problem)
	} else {
		fmt.Fprintf(&out, "differs: %s\n", v.Path)
		fmt.Fprintf(&out, "  should be: %s\n  is:        %s\n", cmp.Or(v.Was, "absent"), cmp.Or(v.Is, "absent"))
		if _, steps, ok := strings.Cut(v.Problem, " differs: "); ok {
			fmt.Fprintf(&out, "steps: %s\n", steps)
		}
	}
	why, remedy := c.explain(v)
	if why != "" {
		fmt.Fprintf(&out, "cause: %s\n", why)
	}
	if remedy != "" {
		fmt.Fprintf(&out, "remedy: %s\n", remedy)
	}
	if v.Walk != nil {
		out.WriteString("walk:\n")
		for _, line := range v.Walk.Lines() {
			fmt.Fprintf(&out, "  %s\n", line)
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
	fmt.Fprintf(&out, "seed: %d\nagain: %s\n", v.Seed, o.again(kind, v))
	_, err = p.stdout.Write(out.Bytes())
	return err
}

// again returns the command that reproduces the violation.
func (o *fuzzOptions) again(kind *converters.Kind, v *roundtrip.ViolationError) string {
	words := []string{"webhookd", "fuzz"}
	if o.live.on {
		words = append(words, o.live.words()...)
	}
	for _, path := range o.ruled.rules {
		words = append(words, "--rules", serve.ShellWord(path))
	}
	for _, path := range o.ruled.crds {
		words = append(words, "--crd", serve.ShellWord(path))
	}
	words = append(words, "--kind", kind.Name(), "--seed", fmt.Sprint(v.Seed))
	if !o.live.on {
		words = append(words, "-n", fmt.Sprint(v.Index+1))
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

// isTerminal reports whether lines of out can be overwritten in place.
func isTerminal(out io.Writer) bool {
	file, ok := out.(*os.File)
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

// clear removes the line, so that the result replaces it.
func (p *progress) clear() {
	if p.shown {
		fmt.Fprint(p.out, "\r\x1b[K")
	}
}
