package cli

import (
	"github.com/spf13/cobra"

	"github.com/crdconvert/webhookd/internal/cli/voice"
)

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
		voice.MakeGroup(cmd)
		for _, shell := range cmd.Commands() {
			shell.Args = voice.NoArguments
		}
	}
}
