package cli

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The README shows what its commands print, fuzz among them.
//
//nolint:paralleltest // it works in the repository's folder
func TestReadmeShowsWhatIsPrinted(t *testing.T) {
	t.Chdir("../..")
	if commands := followFile(t, "README.md", "bin/webhookd"); commands < 3 {
		t.Errorf("%d commands, the page is not read as it is written", commands)
	}
}

// followFile returns how many commands the page has.
func followFile(t *testing.T, file, program string) int {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	p := page{program: program, write: program == "webhookd"}
	// On a slow machine a command says now and then how far it is.
	progress := regexp.MustCompile(`(?m)^webhookd: \S+: \d+ of \d+ \w+, .*s\n`)
	got := progress.ReplaceAllString(p.follow(t, string(text)), "")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if diff := cmp.Diff(strings.Split(string(text), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s does not show what happens, see -update (-page +got):\n%s", file, diff)
	}
	return p.commands
}

// A page is Markdown with files and commands.
type page struct {
	program  string // name of webhookd on the page
	write    bool   // write the files that the page shows
	commands int
}

// follow returns the text with the output of its commands.
func (p *page) follow(t *testing.T, text string) string {
	t.Helper()
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(text, "\n```")
		out.WriteString(before)
		if !found {
			return out.String()
		}
		block, after, closed := strings.Cut(rest, "\n```\n")
		if !closed {
			t.Fatalf("a block without an end:\n%s", rest)
		}
		kind, content, _ := strings.Cut(block, "\n")
		switch name, isFile := strings.CutPrefix(content, "# "); {
		case kind == "console":
			content = p.runAll(t, content)
		case kind == "yaml" && isFile && p.write:
			name, _, _ = strings.Cut(name, "\n")
			writeExample(t, name, content+"\n")
		}
		out.WriteString("\n```" + kind + "\n" + content + "\n```\n")
		text = after
	}
}

func writeExample(t *testing.T, name, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// runAll runs the lines that begin with a dollar sign and name the program. It keeps the old output
// of other commands.
func (p *page) runAll(t *testing.T, block string) string {
	t.Helper()
	var out bytes.Buffer
	keep := true
	for line := range strings.Lines(block + "\n") {
		command, isCommand := strings.CutPrefix(line, "$ ")
		if !isCommand {
			if keep {
				out.WriteString(line)
			}
			continue
		}
		out.WriteString(line)
		if keep = !strings.Contains(command, p.program+" "); !keep {
			p.commands++
			p.runPipe(t, strings.TrimSpace(command), &out)
		}
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// runPipe runs a command line: webhookd in this process, what it is piped from or into in a shell.
func (p *page) runPipe(t *testing.T, command string, out *bytes.Buffer) {
	t.Helper()
	var in []byte
	stages := strings.Split(command, " | ")
	for i, stage := range stages {
		var stdout bytes.Buffer
		if args, isOurs := strings.CutPrefix(stage, p.program+" "); isOurs {
			errs := out
			if i == len(stages)-1 {
				errs = &stdout // in the order of a terminal
			}
			Run(t.Context(), "", exampleKinds(), strings.Fields("webhookd "+args), nil, bytes.NewReader(in), &stdout, errs)
		} else {
			shell := exec.CommandContext(t.Context(), "sh", "-c", stage) //nolint:gosec // a command of our pages
			shell.Stdin, shell.Stdout, shell.Stderr = bytes.NewReader(in), &stdout, out
			_ = shell.Run() // grep and diff fail on purpose
		}
		in = stdout.Bytes()
	}
	out.Write(in)
}

// Every page with a console is run, or compared with what was seen, by a test.
func TestConsolesAreRun(t *testing.T) {
	t.Parallel()
	run := map[string]string{ // the test of each page
		"docs/tutorials/first-conversion.md":        "internal/cli/examplepages_test.go TestTutorialsAreTrue",
		"docs/tutorials/crossplane.md":              "internal/cli/examplepages_test.go TestTutorialsAreTrue",
		"docs/tutorials/in-a-cluster.md":            "test/controlplane/tutorial_test.go tutorial",
		"examples/README.md":                        "internal/cli/examplepages_test.go TestExamplesShowWhatIsPrinted",
		"docs/how-to/convert-manifests-in-git.md":   "internal/cli/rewrite_test.go TestTheHowToOfManifestsIsTrue",
		"docs/how-to/check-live-objects.md":         "internal/cli/live_test.go TestTheHowToOfLiveObjectsIsTrue",
		"docs/how-to/debug-a-failing-conversion.md": "test/controlplane/howto_test.go TestHowTo",
		"docs/how-to/back-up-and-export.md":         "test/controlplane/guardordinary_test.go exportPage",
	}
	used := map[string]bool{}
	for _, root := range []string{"docs", "examples"} {
		for _, file := range pagesOf(t, "../../"+root) {
			if !strings.Contains(read(t, file), "```console\n") {
				continue
			}
			name := filepath.ToSlash(strings.TrimPrefix(filepath.ToSlash(file), "../../"))
			if used[name] = true; run[name] == "" {
				t.Errorf("no test runs the consoles of %s: run them as the others are, or show no console", name)
			}
		}
	}
	for page, by := range run {
		file, test, _ := strings.Cut(by, " ")
		if !strings.Contains(read(t, "../../"+file), " "+test+"(t *testing.T") || !used[page] {
			t.Errorf("%s has no console, or %s does not exist", page, by)
		}
	}
}
