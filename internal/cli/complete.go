package cli

import (
	"github.com/spf13/cobra"

	"github.com/crdconvert/webhookd/internal/serve/config"
)

// offer registers the values that the shell completes for a flag.
func offer(cmd *cobra.Command, flag string, values ...string) {
	err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	if err != nil {
		panic(err) // there is no such flag
	}
}

// offerChoices registers the choices of all configuration keys.
func offerChoices(cmd *cobra.Command) {
	for _, key := range config.Keys() {
		if len(key.Choices) > 0 {
			offer(cmd, key.Name, key.Choices...)
		}
	}
}

// commandsBelow completes args with the subcommands that may follow.
func commandsBelow(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	found, rest, err := cmd.Root().Find(args)
	if err != nil || len(rest) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []cobra.Completion
	for _, c := range found.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, cobra.CompletionWithDesc(c.Name(), c.Short))
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
