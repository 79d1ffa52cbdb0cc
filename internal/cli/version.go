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
		RunE: func(*cobra.Command, []string) error {
			if output == "json" {
				return p.PrintJSON(p.Build)
			}
			if err := voice.CheckOutput(output, "text", "json"); err != nil {
				return err
			}
			_, err := fmt.Fprintln(p.Stdout, "webhookd version", p.Build)
			return err
		},
	}
	voice.AddOutput(cmd, &output, "text", "json")
	return cmd
}
