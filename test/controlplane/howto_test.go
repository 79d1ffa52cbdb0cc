package controlplane_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/test/e2e/webhook"
)

// TestHowTo holds docs/how-to/debug-a-failing-conversion.md to the transcripts: it has the end of
// each message and what counts the failure, and no text that was never seen.
func TestHowTo(t *testing.T) {
	t.Parallel()
	page := readFile(t, filepath.Join(webhook.Root(t), "docs", "how-to", "debug-a-failing-conversion.md"))
	var classes []failure
	for _, l := range lanes() {
		classes = append(classes, l.classes...)
	}
	messages := make([]string, 0, len(classes))
	for _, f := range classes {
		message := messageOf(t, readFile(t, filepath.Join("testdata", "failures", f.name+".txt")))
		messages = append(messages, message)
		if len(f.metric) > 0 && !strings.Contains(page, f.metric[0]) {
			t.Errorf("the page does not name %s, which counts %s", f.metric[0], f.name)
		}
	}
	if files, err := filepath.Glob("testdata/failures/*.txt"); err != nil || len(files) != len(classes) {
		t.Errorf("%d transcripts of %d failures, %v", len(files), len(classes), err)
	}
	blocks := codeBlocks(page)
	for _, message := range messages {
		if !slices.ContainsFunc(blocks["text"], func(block string) bool { return strings.HasSuffix(message+"\n", block) }) {
			t.Errorf("the page has no block with the end of the message\n%s", message)
		}
	}
	for _, block := range blocks["text"] {
		if !slices.ContainsFunc(messages, func(message string) bool { return strings.HasSuffix(message+"\n", block) }) {
			t.Errorf("the page has a message that no transcript has:\n%s", block)
		}
	}
	seen := transcripts(t)
	for _, block := range blocks["console"] {
		if !strings.Contains(seen, block) {
			t.Errorf("the page has a console that no transcript has:\n%s", block)
		}
	}
	for _, rule := range []string{
		"**Never switch the CRD to `strategy: None`.**",
		"**Never delete with `ignoreStoreReadErrorWithClusterBreakingPotential`**",
	} {
		if !strings.Contains(page, rule) {
			t.Errorf("the page lacks the rule %s", rule)
		}
	}
	if len(blocks["console"]) < 2 {
		t.Errorf("the page has %d consoles", len(blocks["console"]))
	}
}

// messageOf returns the message that the API server got, which is what the first command of a
// transcript ends with.
func messageOf(t *testing.T, transcript string) string {
	t.Helper()
	lines := strings.Split(transcript, "\n")
	if len(lines) < 2 {
		t.Fatalf("not a transcript: %s", transcript)
	}
	_, message, found := strings.Cut(lines[1], " failed: ")
	if !found {
		t.Fatalf("the first command has not failed: %s", lines[1])
	}
	return message
}

// codeBlocks returns the fenced blocks of a page by their language.
func codeBlocks(page string) map[string][]string {
	blocks := map[string][]string{}
	language, block := "", ""
	for line := range strings.Lines(page) {
		fence, isFence := strings.CutPrefix(strings.TrimSpace(line), "```")
		switch {
		case isFence && language == "":
			language = fence
		case isFence:
			blocks[language] = append(blocks[language], block)
			language, block = "", ""
		case language != "":
			block += line
		}
	}
	return blocks
}

// transcripts returns all that was seen.
func transcripts(t *testing.T) string {
	t.Helper()
	files, err := filepath.Glob("testdata/*/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, file := range files {
		all.WriteString(readFile(t, file))
	}
	return all.String()
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
