package cli

import "github.com/spf13/cobra"

// newHelpCommand is cobra's, but a command that there is not is a usageError.
func newHelpCommand() *cobra.Command {
	return &cobra.Command{
		Use:               "help [COMMAND]",
		Short:             "Print what a command does, and its flags",
		ValidArgsFunction: commandsBelow,
		RunE: func(cmd *cobra.Command, args []string) error {
			found, rest, err := cmd.Root().Find(args)
			if err != nil {
				return usage(err, "")
			}
			if len(rest) > 0 {
				return unknownCommand(found, rest)
			}
			return found.Help()
		},
	}
}
