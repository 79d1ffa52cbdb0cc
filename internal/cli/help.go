package cli

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/crdconvert/webhookd/internal/cli/voice"
)

// newHelpCommand is cobra's help command, except that an unknown command is a usageError.
func newHelpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Print what a command does, and its flags",
		Args:  cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			found, rest, err := cmd.Root().Find(args)
			if err != nil {
				return voice.Usage(err, "")
			}
			if len(rest) > 0 {
				return voice.UnknownCommand(found, rest)
			}
			return found.Help()
		},
	}
}

// printHelp is the help function of all commands. Sections are those of cobra's template.
func printHelp(cmd *cobra.Command, _ []string) {
	var b strings.Builder
	b.WriteString(reflow(cmp.Or(strings.TrimSpace(cmd.Long), cmd.Short+".")) + "\n\nUsage:\n")
	if cmd.Runnable() && !cmd.HasAvailableSubCommands() {
		b.WriteString(fold("  ", "      ", words(cmd.UseLine()), ""))
	} else {
		b.WriteString("  " + cmd.CommandPath() + " COMMAND\n")
	}
	if cmd.Example != "" {
		b.WriteString("\nExamples:\n")
		for line := range strings.Lines(cmd.Example) {
			b.WriteString(fold("  ", "      ", words(line), " \\"))
		}
	}
	if len(cmd.Groups()) == 0 && cmd.HasAvailableSubCommands() {
		writeCommands(&b, cmd, &cobra.Group{Title: "Commands"})
	}
	for _, group := range cmd.Groups() {
		writeCommands(&b, cmd, group)
	}
	writeFlags(&b, "Flags", cmd.LocalFlags())
	writeFlags(&b, "Global flags", cmd.InheritedFlags())
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "\n\"%s COMMAND --help\" says more about a command.\n", cmd.CommandPath())
	}
	cmd.Print(b.String())
}

func writeCommands(b *strings.Builder, cmd *cobra.Command, group *cobra.Group) {
	b.WriteString("\n" + group.Title + ":\n")
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() && sub.GroupID == group.ID {
			first := fmt.Sprintf("  %-*s ", sub.NamePadding(), sub.Name())
			b.WriteString(fold(first, strings.Repeat(" ", len(first)), strings.Fields(sub.Short), ""))
		}
	}
}

func writeFlags(b *strings.Builder, title string, flags *pflag.FlagSet) {
	if !flags.HasAvailableFlags() {
		return
	}
	flags.VisitAll(func(f *pflag.Flag) { f.Usage = strings.ReplaceAll(f.Usage, "\n", " ") })
	b.WriteString("\n" + title + ":\n")
	for line := range strings.Lines(flags.FlagUsagesWrapped(voice.HelpWidth)) {
		b.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
}

// reflow wraps paragraphs and list items. Lines with an indent, such as commands, stay as they are.
func reflow(text string) string {
	var b strings.Builder
	var first string
	var open []string
	closeParagraph := func() {
		if len(open) > 0 {
			b.WriteString(fold(first, strings.Repeat(" ", len(first)), open, ""))
		}
		first, open = "", nil
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		item, isItem := strings.CutPrefix(line, "- ")
		inItem := first != "" && strings.HasPrefix(line, "  ")
		switch {
		case line == "" || !inItem && strings.TrimLeft(line, " \t") != line:
			closeParagraph()
			b.WriteString(line + "\n")
		case isItem:
			closeParagraph()
			first, open = "- ", strings.Fields(item)
		default:
			open = append(open, strings.Fields(line)...)
		}
	}
	closeParagraph()
	return strings.TrimSuffix(b.String(), "\n")
}

// words splits a command line at spaces outside of quotes and brackets.
func words(line string) []string {
	return regexp.MustCompile(`(?:'[^']*'|"[^"]*"|\[[^\]]*\]|\{[^}]*\}|[^\s'"\[{]+)+`).FindAllString(line, -1)
}

// fold writes words in lines of helpWidth columns at most, with the text more at the end of every
// line but the last.
func fold(first, indent string, words []string, more string) string {
	var b strings.Builder
	line := first
	empty := true
	for i, word := range words {
		room := voice.HelpWidth
		if i < len(words)-1 {
			room -= len(more)
		}
		if !empty && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > room {
			b.WriteString(line + more + "\n")
			line, empty = indent, true
		}
		if !empty {
			line += " "
		}
		line, empty = line+word, false
	}
	return b.String() + line + "\n"
}
