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
	p := page{program: program, write: program == "webhookd", clone: filepath.Join(filepath.Dir(file), "..", "..")}
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
	clone    string // the folder of this repository, of a page in docs
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
		case kind == "sh" && p.write:
			p.begin(t, content)
		case kind == "yaml" && isFile && p.write:
			name, _, _ = strings.Cut(name, "\n")
			writeExample(t, name, content+"\n")
		}
		out.WriteString("\n```" + kind + "\n" + content + "\n```\n")
		text = after
	}
}

// begin runs what follows the lines with which a page begins in a clone. In place of those a test
// has the program in the PATH, and works in an empty folder. All other scripts need a cluster.
func (p *page) begin(t *testing.T, script string) {
	t.Helper()
	script, begins := strings.CutPrefix(script+"\n", "make build\nexport PATH=\"$PWD/bin:$PATH\"\ncd \"$(mktemp -d)\"\n")
	if !begins {
		return
	}
	cmd := exec.CommandContext(t.Context(), "bash", "-euc", script) //nolint:gosec // of our page
	cmd.Env = append(os.Environ(), "OLDPWD="+p.clone)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s\n%s", err, script, out)
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
			Run(t.Context(), "", exampleKinds(), strings.Fields("webhookd "+os.ExpandEnv(args)), nil, bytes.NewReader(in), &stdout, errs)
		} else {
			shell := exec.CommandContext(t.Context(), "sh", "-c", stage) //nolint:gosec // a command of our pages
			shell.Stdin, shell.Stdout, shell.Stderr = bytes.NewReader(in), &stdout, out
			_ = shell.Run() // grep and diff fail on purpose
		}
		in = stdout.Bytes()
	}
	out.Write(in)
}

// A test follows every page with commands, or says why it cannot.
func TestPagesAreFollowed(t *testing.T) {
	t.Parallel()
	const pages, controlplane = "internal/cli/examplepages_test.go TestPagesAreTrue", "test/controlplane/"
	followed := map[string]string{
		"README.md":                                 "internal/cli/pages_test.go TestReadmeShowsWhatIsPrinted",
		"deploy/helm/webhookd/README.md":            "test/chart/readme_test.go TestAnotherModeNamesExistingObjects",
		"examples/README.md":                        "internal/cli/examplepages_test.go TestExamplesShowWhatIsPrinted",
		"docs/tutorials/first-conversion.md":        pages,
		"docs/tutorials/crossplane.md":              pages,
		"docs/tutorials/in-a-cluster.md":            controlplane + "tutorial_test.go tutorial",
		"docs/how-to/back-up-and-export.md":         controlplane + "guardordinary_test.go exportPage",
		"docs/how-to/check-live-objects.md":         "internal/cli/live_test.go TestTheHowToOfLiveObjectsIsTrue",
		"docs/how-to/come-from-kubebuilder.md":      "contrib/controllerruntime/howto_test.go TestHowToIsTrue",
		"docs/how-to/compare-with-your-webhook.md":  "internal/cli/compare_test.go TestTheHowToOfCompareIsTrue",
		"docs/how-to/convert-manifests-in-git.md":   pages,
		"docs/how-to/debug-a-failing-conversion.md": controlplane + "howto_test.go TestHowTo",
		"docs/how-to/edit-rules.md":                 "test/playground/playground_test.go TestPage",
		"docs/how-to/protect-the-connection.md":     "", // a rotation takes hours; test/controlplane has it with another clock
		"docs/how-to/remove-an-old-version.md":      controlplane + "migratecommand_test.go migrateCommand",
		"docs/how-to/upgrade.md":                    "", // there is no release
		"docs/how-to/use-with-your-tools.md":        controlplane + "plugin_test.go plugin",
		"docs/how-to/wire-a-crd.md":                 pages,
		"docs/how-to/write-a-go-converter.md":       "examples/gateway/howto_test.go TestHowToBeginsWithWhatWorks",
		"docs/how-to/write-conversion-rules.md":     pages,
	}
	for name, by := range followed {
		if file, test, _ := strings.Cut(by, " "); by != "" && !strings.Contains(read(t, "../../"+file), " "+test+"(t *testing.T") {
			t.Errorf("%s: %s does not exist", name, by)
		}
	}
	for _, name := range doors(t) {
		if _, known := followed[name]; !known {
			t.Errorf("no test follows %s: follow it as the other pages are", name)
		}
		delete(followed, name)
	}
	for name := range followed {
		t.Errorf("%s has no commands", name)
	}
}

// The reference of rules compares them with those in Git.
//
//nolint:paralleltest // it works in a folder of its own
func TestRulesAreComparedWithThoseInGit(t *testing.T) {
	page, example := read(t, "../../docs/reference/rules.md"), "../../examples/quickstart/"
	rules, crd := read(t, example+"rules.yaml"), read(t, example+"crd.yaml")
	_, script, _ := strings.Cut(page, "```sh\n")
	script, _, _ = strings.Cut(script, "```")
	t.Chdir(t.TempDir())
	writeExample(t, "rules.yaml", rules)
	writeExample(t, "crd.yaml", crd)
	const commit = "git init -q -b main && git add . && git -c user.name=a -c user.email=a@example.com commit -q -m a\n"
	change := "sed -i 's/mailTo}/mailTo, drop: unused}/' rules.yaml\n"
	out, err := exec.CommandContext(t.Context(), "bash", "-euc", commit+script+change+script).CombinedOutput() //nolint:gosec // of our page
	if err != nil || !strings.HasPrefix(string(out), "webhookd: no findings in 1 file, and kept values return as before\n") || !strings.Contains(string(out), "(kept-dropped)") {
		t.Errorf("%v:\n%s", err, out)
	}
}

// Nothing is released, so the first command of webhookd on a page is one of a clone, or the text
// before it says how to build it there.
func TestPagesBeginInAClone(t *testing.T) {
	t.Parallel()
	program, built := regexp.MustCompile(`(?m)^(\$ )?( {4})?(kubectl )?webhookd `), regexp.MustCompile(`\bmake (build|image|run)\b`)
	messages := regexp.MustCompile("(?s)```text\n.*?\n```")
	for _, name := range doors(t) {
		text := messages.ReplaceAllString(read(t, "../../"+name), "")
		if first := program.FindStringIndex(text); len(first) > 0 && !built.MatchString(text[:first[0]]) {
			t.Errorf("%s does not say where webhookd comes from", name)
		}
	}
}

// doors returns the pages for users that have commands.
func doors(t *testing.T) []string {
	t.Helper()
	var names []string
	command := regexp.MustCompile("(?m)^ *```(sh|console)$|^ {4}(bin/)?webhookd ")
	files := []string{"../../README.md", "../../deploy/helm/webhookd/README.md", "../../examples/README.md"}
	for _, file := range append(files, append(pagesOf(t, "../../docs/tutorials"), pagesOf(t, "../../docs/how-to")...)...) {
		if command.MatchString(read(t, file)) {
			names = append(names, strings.TrimPrefix(filepath.ToSlash(file), "../../"))
		}
	}
	return names
}
