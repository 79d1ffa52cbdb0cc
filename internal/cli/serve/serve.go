package serve

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/crdconvert/webhookd/internal/cli/voice"
	"github.com/crdconvert/webhookd/internal/serve"
	"github.com/crdconvert/webhookd/internal/serve/config"
	"github.com/crdconvert/webhookd/internal/serve/metrics"
)

// offerChoices registers the choices of all configuration keys.
func offerChoices(cmd *cobra.Command) {
	for _, key := range config.Keys() {
		if len(key.Choices) > 0 {
			voice.Offer(cmd, key.Name, key.Choices...)
		}
	}
}

// New returns the command serve.
func New(p *voice.Program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "serve {--tls-dir DIR | --self-signed}",
		Short: "Serve the webhook",
		Long: `Serve the webhook over HTTPS, and health and metrics over HTTP, until SIGTERM or SIGINT. Then readiness fails, the
server takes requests for the drain-delay, and ends. A second signal ends it at once. The server reloads rules, CRDs and
certificates when their files change.

Every flag is also a key of the --config file and an environment variable, in capitals, with underscores and the prefix
WEBHOOKD_: --tls-dir is tls-dir and WEBHOOKD_TLS_DIR. Flags override the environment, which overrides the file. A
duration has a unit, such as 15s or 2m. A size is in bytes, such as 65536 or 128Mi. webhookd config prints all
settings in effect.

With --self-signed the server makes a certificate in memory, for local use, and prints a curl command that posts a case next
to the rules. Unless they are set, the addresses are on loopback, and the drain-delay is 0.`,
		Example: `  webhookd serve --self-signed
  webhookd serve --tls-dir /etc/webhookd/tls --config /etc/webhookd/config.yaml`,
		RunE: func(cmd *cobra.Command, _ []string) error { return run(cmd.Context(), p, cmd) },
	}
	config.Flags(cmd.Flags())
	offerChoices(cmd)
	return cmd
}

// console reports whether the log is for people.
func console(p *voice.Program, format config.LogFormat) bool {
	return format == config.LogConsole || format == config.LogAuto && voice.IsTerminal(p.Stderr)
}

// serve loads the configuration and serves until a signal comes or ctx ends.
func run(ctx context.Context, p *voice.Program, cmd *cobra.Command) error {
	loaded, err := config.Load(cmd.Flags(), p.Environ, config.ReadFile)
	if err = errors.Join(err, loaded.ForServe()); err != nil {
		return voice.Usage(err, "")
	}
	signaled, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, drain := context.WithCancel(ctx)
	defer drain()
	context.AfterFunc(signaled, func() {
		stop() // a second signal ends the process, from the beginning of the drain on
		drain()
	})
	// Nothing has to be read again for SIGHUP, and the log may lose its reader.
	ignored := make(chan os.Signal, 1)
	signal.Notify(ignored, syscall.SIGHUP, syscall.SIGPIPE)
	defer signal.Stop(ignored)

	out := serve.NewLogWriter(p.Stderr)
	defer out.Close()
	err = serve.Run(ctx, serve.Options{
		Loaded: loaded, Environ: p.Environ, Compiled: p.Compiled, Log: out,
		Console: serve.Console{On: console(p, loaded.Config.LogFormat), Colors: p.Colored(p.Stderr)},
		Build:   metrics.Build{Version: p.Build.Version, Revision: p.Build.Revision, GoVersion: p.Build.GoVersion},
	})
	if err == nil || errors.Is(err, voice.ErrReported) {
		return err
	}
	// Writing to stderr itself could block for ever if it is a full pipe.
	voice.Say(out, err, p.Colored(p.Stderr))
	return errors.Join(voice.ErrReported, err)
}

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
