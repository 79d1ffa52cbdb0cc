package cli

import (
	"errors"

	"github.com/spf13/cobra"
)

// newGroup returns a command that has only commands below it.
func newGroup(name, short, long string) *cobra.Command {
	cmd := &cobra.Command{Use: name, Short: short, Long: long}
	makeGroup(cmd)
	return cmd
}

// makeGroup makes what is given to a command, other than one below it, a usageError.
func makeGroup(cmd *cobra.Command) {
	cmd.Args = unknownCommand
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return usage(errors.New("no command given"), cmd.CommandPath()+" --help lists the commands")
	}
}

// addCompletion adds cobra's command for completion, which would take any shell for a good one.
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
