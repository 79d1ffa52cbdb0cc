package cli

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/crdconvert/webhookd/internal/serve"
	"github.com/crdconvert/webhookd/internal/serve/config"
	"github.com/crdconvert/webhookd/internal/serve/metrics"
)

func newServeCommand(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "serve {--tls-dir DIR | --self-signed}",
		Short: "Serve the webhook",
		Long: `Serve the webhook over HTTPS, and health and metrics over HTTP, until SIGTERM or SIGINT. Then readiness fails, the
server takes requests for the drain-delay, and ends. A second signal ends it at once. The server reloads rules, CRDs and
certificates when their files change. SIGHUP reloads them at once, and one log line says what was loaded.

Every flag is also a key of the --config file and an environment variable, in capitals, with underscores and the prefix
WEBHOOKD_: --tls-dir is tls-dir and WEBHOOKD_TLS_DIR. Flags override the environment, which overrides the file. A
duration has a unit, such as 15s or 2m. A size is in bytes, such as 65536 or 128Mi. webhookd config prints all
settings in effect.

With --self-signed the server makes a certificate in memory, for local use. It prints a curl command that posts a case next
to the rules, a file NAME.VERSION.yaml, and the answer. Unless they are set, the addresses are on loopback, and the
drain-delay is 0.`,
		Example: `  webhookd serve --self-signed
  webhookd serve --tls-dir /etc/webhookd/tls --config /etc/webhookd/config.yaml`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.serve(cmd.Context(), cmd) },
	}
	cmd.Flags().SortFlags = false
	config.Flags(cmd.Flags())
	offerChoices(cmd)
	return cmd
}

// console reports whether the log is for people.
func (p *program) console(format config.LogFormat) bool {
	return format == config.LogConsole || format == config.LogAuto && isTerminal(p.stderr)
}

// serve loads the configuration and serves until a signal comes or ctx ends.
func (p *program) serve(ctx context.Context, cmd *cobra.Command) error {
	loaded, text, err := p.load(cmd)
	if err != nil {
		return err
	}
	signaled, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, drain := context.WithCancel(ctx)
	defer drain()
	context.AfterFunc(signaled, func() {
		stop() // a second signal ends the process, from the beginning of the drain on
		drain()
	})
	// When the reader of the log goes away, SIGPIPE must not end the server.
	broken := make(chan os.Signal, 1)
	signal.Notify(broken, syscall.SIGPIPE)
	defer signal.Stop(broken)
	again := make(chan os.Signal, 1)
	signal.Notify(again, syscall.SIGHUP)
	defer signal.Stop(again)

	out := serve.NewLogWriter(p.stderr)
	defer out.Close()
	err = serve.Run(ctx, serve.Options{
		Loaded: loaded, Text: text, Environ: p.environ, Compiled: p.compiled, Log: out, Again: again,
		Console: serve.Console{On: p.console(loaded.Config.LogFormat), Colors: p.colored(p.stderr)},
		Build:   metrics.Build{Version: p.build.Version, Revision: p.build.Revision, GoVersion: p.build.GoVersion},
	})
	if err == nil || errors.Is(err, errReported) {
		return err
	}
	// Writing to stderr itself could block for ever if it is a full pipe.
	say(out, err, p.colored(p.stderr))
	return errors.Join(errReported, err)
}
