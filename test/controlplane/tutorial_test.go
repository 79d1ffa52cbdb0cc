package controlplane_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/test/e2e/webhook"

	"github.com/crdconvert/webhookd/test/controlplane/plane"
)

// tutorial follows docs/tutorials/in-a-cluster.md like a reader whose cluster this is: it writes
// the files, runs the commands, and compares what they print, which UPDATE_TRANSCRIPTS=1 rewrites.
// Only the block that makes a cluster with kind is left out.
func tutorial(t *testing.T, p *plane.Plane) {
	t.Helper()
	p.StartControllers(t)
	const namespace = "tutorial" // the namespace webhookd has the Service of other tests
	p.StartNode(t, namespace, webhook.Build(t))
	client := p.Helm(t)
	root := webhook.Root(t)
	client.Shell(t, "ln -s "+filepath.Join(root, "deploy"))
	shell := func(script string) string {
		return client.Shell(t, strings.ReplaceAll(script, "--namespace webhookd", "--namespace "+namespace))
	}
	path := filepath.Join(root, "docs", "tutorials", "in-a-cluster.md")
	page := readFile(t, path)
	ran := 0
	got := regexp.MustCompile("(?s)```(\\w+)\n(.*?)```").ReplaceAllStringFunc(page, func(block string) string {
		kind, text, _ := strings.Cut(strings.Trim(block, "`"), "\n")
		switch {
		case kind == "yaml":
			name, _, _ := strings.Cut(strings.TrimPrefix(text, "# "), "\n")
			client.Write(t, name, text)
		case kind == "sh" && !strings.Contains(text, "kind create cluster"):
			shell(text)
			ran++
		case kind == "console":
			var out strings.Builder
			for line := range strings.Lines(text) {
				if command, isCommand := strings.CutPrefix(line, "$ "); isCommand {
					out.WriteString(line + withNewline(shell(command)))
					ran++
				}
			}
			return "```console\n" + out.String() + "```"
		}
		return block
	})
	if ran < 7 {
		t.Errorf("%d commands, the page is not read as it is written", ran)
	}
	compare(t, path, got)
}
