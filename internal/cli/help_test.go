package cli

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/crdconvert/webhookd/internal/cli/voice"
)

// Help fits a terminal of 80 columns, and has no markup.
func TestHelpFitsATerminal(t *testing.T) {
	t.Parallel()
	var check func(cmd *cobra.Command)
	check = func(cmd *cobra.Command) {
		var out bytes.Buffer
		cmd.SetOut(&out)
		if err := cmd.Help(); err != nil {
			t.Error(err)
		}
		for line := range strings.Lines(out.String()) {
			line = strings.TrimSuffix(line, "\n")
			if utf8.RuneCountInString(line) > voice.HelpWidth && cmd.Parent().Name() != "completion" {
				t.Errorf("%s: wider than %d columns: %s", cmd.CommandPath(), voice.HelpWidth, line)
			}
			if strings.Contains(line, "`") || strings.HasSuffix(line, " ") {
				t.Errorf("%s: backquote, or space at the end: %q", cmd.CommandPath(), line)
			}
		}
		for _, below := range cmd.Commands() {
			check(below)
		}
	}
	root := newRootCommand(&voice.Program{})
	root.SetOut(&bytes.Buffer{})
	check(root)
}

func TestReflow(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("word ", 20)
	for name, tt := range map[string][2]string{
		"a paragraph":      {"a\nb", "a b"},
		"two paragraphs":   {"a\nb\n\nc", "a b\n\nc"},
		"a long line":      {long, strings.TrimSpace(strings.Repeat("word ", 16)) + "\n" + strings.TrimSpace(strings.Repeat("word ", 4))},
		"items":            {"- a\n  b\n- c", "- a b\n- c"},
		"an indented line": {"a:\n\n\tsource <(x)\n\nb", "a:\n\n\tsource <(x)\n\nb"},
	} {
		if got := reflow(tt[0]); got != tt[1] {
			t.Errorf("%s: %q, want %q", name, got, tt[1])
		}
	}
}

// A folded command can be pasted into a shell.
func TestFoldedCommands(t *testing.T) {
	t.Parallel()
	command := "webhookd explain -o json | jq '.directions[] | select(.class == \"preserved\")' | " + strings.Repeat("x ", 20)
	want := "  webhookd explain -o json | jq \\\n      '.directions[] | select(.class == \"preserved\")' | " +
		strings.Repeat("x ", 11) + "\\\n      " + strings.TrimSpace(strings.Repeat("x ", 9)) + "\n"
	if got := fold("  ", "      ", words(command), " \\"); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
