package cli

import "github.com/spf13/cobra"

// newGroup returns a command that only holds subcommands.
func newGroup(name, short, long string) *cobra.Command {
	cmd := &cobra.Command{Use: name, Short: short, Long: long}
	makeGroup(cmd)
	return cmd
}

// makeGroup makes cmd alone print its help, and every argument that is not a subcommand a
// usageError.
func makeGroup(cmd *cobra.Command) {
	cmd.Args = unknownCommand
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
}

// addVerbs adds verbs below a title of the help.
func addVerbs(root *cobra.Command, title string, verbs ...*cobra.Command) {
	root.AddGroup(&cobra.Group{ID: title, Title: title})
	for _, verb := range verbs {
		verb.GroupID = title
	}
	root.AddCommand(verbs...)
}

// addCompletion adds cobra's completion command, and makes an unknown shell an error.
func addCompletion(root *cobra.Command, title string) {
	root.SetCompletionCommandGroupID(title)
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
