package serve

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/crdconvert/webhookd/internal/cli/voice"
	"github.com/crdconvert/webhookd/internal/serve/config"
)

// NewConfig returns the command config.
func NewConfig(p *voice.Program) *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "config [-o text|yaml]",
		Short: "Print the configuration, and where each value comes from",
		Long: `Print the configuration that serve would use with the same flags, environment and file, and where each value comes
from. With -o yaml the output is a file for --config.

All problems are reported at once, and the exit code is 2. Files and folders that the configuration names are not read,
and a certificate is not required.`,
		Example: `  webhookd config --config config.yaml
  WEBHOOKD_LOG_LEVEL=debug webhookd config -o yaml`,
		RunE: func(cmd *cobra.Command, _ []string) error { return printConfig(p, cmd, output) },
	}
	voice.AddOutput(cmd, &output, "text", "yaml")
	config.Flags(cmd.Flags())
	offerChoices(cmd)
	return cmd
}

func printConfig(p *voice.Program, cmd *cobra.Command, output string) error {
	loaded, err := config.Load(cmd.Flags(), p.Environ, config.ReadFile)
	for _, w := range loaded.Warnings {
		p.Note("%s", w)
	}
	if err != nil {
		return voice.Usage(err, "")
	}
	if output == "yaml" {
		return loaded.Effective().WriteYAML(p.Stdout)
	}
	if err := voice.CheckOutput(output, "text", "yaml"); err != nil {
		return err
	}
	return loaded.Effective().WriteText(p.Stdout)
}

// load returns the configuration for serve, and the text of its file.
func load(p *voice.Program, cmd *cobra.Command) (loaded config.Loaded, text []byte, err error) {
	loaded, err = config.Load(cmd.Flags(), p.Environ, func(name string) ([]byte, error) {
		var err error
		text, err = config.ReadFile(name)
		return text, err
	})
	return loaded, text, voice.Usage(errors.Join(err, loaded.ForServe()), "")
}
