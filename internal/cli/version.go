package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/crdconvert/webhookd/internal/cli/voice"
)

func newVersion(p *voice.Program) *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "version [-o text|json]",
		Short: "Print the version",
		Args:  voice.NoArguments,
		RunE: func(*cobra.Command, []string) error {
			switch output {
			case "text":
				_, err := fmt.Fprintln(p.Stdout, "webhookd version", p.Build)
				return err
			case "json":
				return p.PrintJSON(p.Build)
			}
			return voice.BadOutput(output, "text", "json")
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "text", "`format`: text or json")
	voice.Offer(cmd, "output", "text", "json")
	return cmd
}
