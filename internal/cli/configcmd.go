package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/crdconvert/webhookd/internal/serve/config"
)

func newConfigCommand(p *program) *cobra.Command {
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
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.printConfig(cmd, output) },
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().StringVarP(&output, "output", "o", "text", "`format`: text or yaml")
	offer(cmd, "output", "text", "yaml")
	config.Flags(cmd.Flags())
	offerChoices(cmd)
	return cmd
}

func (p *program) printConfig(cmd *cobra.Command, output string) error {
	loaded, err := config.Load(cmd.Flags(), p.environ, config.ReadFile)
	for _, w := range loaded.Warnings {
		fmt.Fprintf(p.stderr, "webhookd: %s\n", w)
	}
	if err != nil {
		return usageError{err}
	}
	switch output {
	case "text":
		return loaded.Effective().WriteText(p.stdout)
	case "yaml":
		return loaded.Effective().WriteYAML(p.stdout)
	}
	return badOutput(output, "text", "yaml")
}

// load returns the configuration for serve, and the text of its file.
func (p *program) load(cmd *cobra.Command) (loaded config.Loaded, text []byte, err error) {
	loaded, err = config.Load(cmd.Flags(), p.environ, func(name string) ([]byte, error) {
		var err error
		text, err = config.ReadFile(name)
		return text, err
	})
	if err = errors.Join(err, loaded.ForServe()); err != nil {
		err = usageError{err}
	}
	return loaded, text, err
}
