package hostile_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/crdconvert/webhookd/test/helpers/process"
	"github.com/crdconvert/webhookd/test/helpers/tlstest"
	"github.com/crdconvert/webhookd/test/helpers/wait"
	"github.com/crdconvert/webhookd/test/hostile"
)

// patience only ends a test that hangs.
const patience = 2 * time.Minute

// A webhookd is a running `webhookd serve`, and ends with its test.
type webhookd struct {
	*process.Process

	t  *testing.T
	ca *tlstest.CA
}

// start runs webhookd with the kind that is converted by rules, the limits that the cases are for
// and further flags.
func start(t *testing.T, flags ...string) *webhookd {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "crd.yaml"), hostile.RuledCRD)
	write(t, filepath.Join(dir, "rules.yaml"), hostile.RuledConversion)
	p := &webhookd{t: t, ca: tlstest.NewCA(t, "hostile")}
	t.Cleanup(func() { p.noSecrets("the log", strings.Join(p.log(0), "\n")) }) // when it has ended
	p.Process = process.Launch(t, process.Options{
		Binary: binary(t), CA: p.ca, Orderly: true, Reviews: true, Tolerated: []string{""}, // the cases say which lines there are
		Flags: append([]string{
			"--drain-delay", "0s", "--log-level", "debug", "--log-reviews", "all", "--max-body", "32Mi", "--max-in-flight-bytes", "1Gi",
			"--rules", filepath.Join(dir, "rules.yaml"), "--crds", filepath.Join(dir, "crd.yaml"),
		}, flags...),
	})
	return p
}

// log returns the lines of the log from the first one on, but for the summaries that come each
// minute.
func (p *webhookd) log(first int) []string {
	return slices.DeleteFunc(p.Log(""), func(line string) bool { return strings.Contains(line, `"msg":"review summary"`) })[first:]
}

// await waits until so many lines of the log, from the first one on, are wanted, and returns all of
// them.
func (p *webhookd) await(first, n int, wanted func(line string) bool) (lines []string) {
	p.t.Helper()
	wait.Until(p.t, "lines of the log", func() bool {
		lines = p.log(first)
		return len(lines)-len(slices.DeleteFunc(slices.Clone(lines), wanted)) >= n
	})
	return lines
}

// noSecrets fails the test if a text has the canary.
func (p *webhookd) noSecrets(what, text string) {
	p.t.Helper()
	if at := strings.Index(text, hostile.Canary); at >= 0 {
		p.t.Errorf("%s quotes a secret: %.200q", what, text[max(0, at-100):])
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
