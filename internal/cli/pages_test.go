package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The test follows the tutorials like a reader: it writes the files, runs the commands, and
// compares their output. With -update it rewrites the output.
//
//nolint:paralleltest // it works in folders of its own
func TestTutorialsAreTrue(t *testing.T) {
	folder, err := filepath.Abs("../../docs/tutorials")
	if err != nil {
		t.Fatal(err)
	}
	for name, least := range map[string]int{"first-conversion.md": 7, "crossplane.md": 3} {
		t.Chdir(t.TempDir())
		if commands := follow(t, filepath.Join(folder, name), page{program: "webhookd", slow: true, write: true}); commands < least {
			t.Errorf("%d commands, %s is not read as it is written", commands, name)
		}
	}
}

// The README shows what its commands print, fuzz among them.
//
//nolint:paralleltest // it works in the repository's folder
func TestReadmeShowsWhatIsPrinted(t *testing.T) {
	t.Chdir("../..")
	if commands := follow(t, "README.md", page{program: "bin/webhookd", slow: true}); commands < 3 {
		t.Errorf("%d commands, the page is not read as it is written", commands)
	}
}

// The READMEs of the examples show the output of their commands, which -update rewrites. Pipes are
// not run, nor is fuzz, which takes long; the tests of the rules check the laws on the examples.
//
//nolint:paralleltest // it works in the repository's folder
func TestExamplesShowWhatIsPrinted(t *testing.T) {
	t.Chdir("../..")
	files, err := filepath.Glob("examples/*/README.md")
	if err != nil {
		t.Fatal(err)
	}
	commands := 0
	for _, file := range files {
		commands += follow(t, file, page{program: "bin/webhookd"})
	}
	if commands < 40 {
		t.Errorf("%d commands, the pages are not read as they are written", commands)
	}
}

// follow returns how many commands the page has.
func follow(t *testing.T, file string, p page) int {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	// On a slow machine a command says now and then how far it is.
	progress := regexp.MustCompile(`(?m)^webhookd: \S+: \d+ of \d+ \w+, .*s\n`)
	got := progress.ReplaceAllString(p.runBlocks(t, string(text)), "")
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
	slow     bool   // also run fuzz
	write    bool   // write the files of the page
	commands int
}

// runBlocks returns the text with the output of its commands.
func (p *page) runBlocks(t *testing.T, text string) string {
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

// runAll runs the lines that begin with a dollar sign. It keeps the old output of commands that it
// skips.
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
		args, isOurs := strings.CutPrefix(command, p.program+" ")
		if keep = !isOurs || strings.Contains(args, "|") || !p.slow && strings.HasPrefix(args, "fuzz "); keep {
			continue
		}
		p.commands++
		Run(t.Context(), "", exampleKinds(), strings.Fields("webhookd "+args), nil, strings.NewReader(""), &out, &out)
	}
	return strings.TrimSuffix(out.String(), "\n")
}
