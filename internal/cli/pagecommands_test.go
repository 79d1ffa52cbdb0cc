package cli

import (
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/crdconvert/webhookd/internal/cli/voice"
)

// Every command line of webhookd in the code of a page names a verb and flags that exist.
func TestCommandsOfPagesExist(t *testing.T) {
	t.Parallel()
	code := regexp.MustCompile("(?s)\n *```.*?\n *```|`[^`\n]+`|\n {4}[^\n]+")
	command := regexp.MustCompile("(?m)(?:^ *|[$|(`/] ?|kubectl )webhookd ([a-z][^|>#`\n]*)")
	continued := regexp.MustCompile(`\\\n\s*`)
	count := 0
	for _, page := range pagesOf(t, "../..") {
		for _, block := range code.FindAllString(read(t, page), -1) {
			if strings.HasPrefix(block, "\n```text\n") {
				continue // a message
			}
			for _, m := range command.FindAllStringSubmatch(continued.ReplaceAllString(block, " "), -1) {
				count++
				if problem := unknownIn(strings.Fields(m[1])); problem != "" {
					t.Errorf("%s: webhookd %s: %s", page, m[1], problem)
				}
			}
		}
	}
	if count < 100 {
		t.Errorf("only %d commands were found", count)
	}
}

// unknownIn returns what a command line has that the program does not know.
func unknownIn(words []string) string {
	root := newRootCommand(&voice.Program{})
	root.InitDefaultCompletionCmd()
	cmd, _, err := root.Find(words)
	if err != nil || cmd == root && words[0] != "help" {
		return "there is no such verb"
	}
	cmd.InitDefaultHelpFlag()
	for _, word := range words {
		name, isLong := strings.CutPrefix(word, "--")
		name, _, _ = strings.Cut(strings.TrimRight(name, ".,:;)]'\""), "=")
		switch {
		case isLong && name != "" && cmd.Flag(name) == nil:
			return "there is no flag --" + name
		case !isLong && len(word) == 2 && word[0] == '-' && shorthand(cmd, word[1:]) == nil:
			return "there is no flag " + word
		}
	}
	return ""
}

func shorthand(cmd *cobra.Command, letter string) any {
	if f := cmd.Flags().ShorthandLookup(letter); f != nil {
		return f
	}
	if f := cmd.InheritedFlags().ShorthandLookup(letter); f != nil {
		return f
	}
	return nil
}
