package cli

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/crdconvert/webhookd/internal/config"
	"github.com/crdconvert/webhookd/internal/metrics"
	"github.com/crdconvert/webhookd/internal/serve"
)

func newServeCommand(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "serve {--tls-dir DIR | --self-signed}",
		Short: "Serve the webhook",
		Long: `Serve the webhook over HTTPS, and health and metrics over HTTP, until SIGTERM or SIGINT. Then readiness fails,
requests are taken for the drain-delay, and the server ends; a second signal ends it at once. Rules, CRDs and
certificates are followed while it serves; SIGHUP has them read at once, and one line of the log says what was loaded.

Every flag is also a key of the file that --config names and, in capitals, with underscores and the prefix
WEBHOOKD_, an environment variable: --tls-dir is tls-dir and WEBHOOKD_TLS_DIR. A flag wins over the
environment, which wins over the file. A duration has a unit, such as 15s or 2m; a size is one of bytes, such as 65536
or 128Mi.

With --self-signed the certificate is made in memory, for local use: a curl line to try is printed, and
without a drain-delay that was set there is none.`,
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

// serve loads the configuration and serves until a signal comes or ctx ends.
func (p *program) serve(ctx context.Context, cmd *cobra.Command) error {
	loaded, text, err := p.load(cmd)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // so that a second signal ends the process
	// Whoever read the log may go away; that must not end the server, as SIGPIPE would.
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
		Build: metrics.Build{Version: p.build.Version, Revision: p.build.Revision, GoVersion: p.build.GoVersion},
	})
	if err == nil || errors.Is(err, errReported) {
		return err
	}
	// Not to stderr itself: if it is a pipe that is full, the process would never end.
	say(out, err)
	return errors.Join(errReported, err)
}
