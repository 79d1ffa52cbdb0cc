package cli

import (
	"errors"

	"github.com/spf13/cobra"
)

// newGroup returns a command that only holds subcommands.
func newGroup(name, short, long string) *cobra.Command {
	cmd := &cobra.Command{Use: name, Short: short, Long: long}
	makeGroup(cmd)
	return cmd
}

// makeGroup makes every argument of cmd that is not a subcommand a usageError.
func makeGroup(cmd *cobra.Command) {
	cmd.Args = unknownCommand
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return usage(errors.New("no command given"), cmd.CommandPath()+" --help lists the commands")
	}
}

// addCompletion adds cobra's completion command, and makes an unknown shell an error.
func addCompletion(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		if cmd.Name() != "completion" {
			continue
		}
		makeGroup(cmd)
		for _, shell := range cmd.Commands() {
			shell.Args = noArguments
		}
	}
}
