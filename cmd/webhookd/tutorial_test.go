package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The tutorial is followed as a reader does: its files are written, its commands run, and their output is what it shows. With
// -update the output is written again.
//
//nolint:paralleltest // it works in a folder of its own
func TestTutorialIsTrue(t *testing.T) {
	const page = "docs/tutorials/first-conversion.md"
	file, err := filepath.Abs(filepath.Join("../..", page))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	got := follow(t, string(text))
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(strings.Split(string(text), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s does not show what happens (-page +got), see -update:\n%s", page, diff)
	}
	if strings.Count(got, "\n$ webhookd ") < 7 {
		t.Error("the commands of the page were not found")
	}
}

// follow returns the page with what its commands print.
func follow(t *testing.T, page string) string {
	t.Helper()
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(page, "\n```")
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
			content = runAll(t, content)
		case kind == "yaml" && isFile:
			name, _, _ = strings.Cut(name, "\n")
			writeExample(t, name, content+"\n")
		}
		out.WriteString("\n```" + kind + "\n" + content + "\n```\n")
		page = after
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

// runAll runs the lines that begin with a dollar sign.
func runAll(t *testing.T, block string) string {
	t.Helper()
	var out bytes.Buffer
	for line := range strings.Lines(block + "\n") {
		command, found := strings.CutPrefix(line, "$ webhookd ")
		if !found {
			continue
		}
		out.WriteString(line)
		run(t.Context(), strings.Fields(command), nil, strings.NewReader(""), &out, &out)
	}
	return strings.TrimSuffix(out.String(), "\n")
}
