package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/spf13/cobra"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/crdconvert/webhookd/internal/config"
	"github.com/crdconvert/webhookd/internal/metrics"
	"github.com/crdconvert/webhookd/internal/review"
	"github.com/crdconvert/webhookd/internal/server"
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

	out := newLogWriter(p.stderr)
	defer out.close()
	err = p.serveWith(ctx, loaded, text, out, again)
	if err == nil || errors.Is(err, errReported) {
		return err
	}
	// Not to stderr itself: where nobody reads it, the process would never end.
	say(out, err)
	return errors.Join(errReported, err)
}

// serveWith serves until ctx ends. The text is that of the configuration file. A value of again has files read at once.
func (p *program) serveWith(ctx context.Context, loaded config.Loaded, text []byte, out *logWriter, again <-chan os.Signal) error {
	s, err := p.newService(ctx, loaded, out)
	switch {
	case err != nil && ctx.Err() != nil && errors.Is(err, ctx.Err()): // before there is anything to drain
		newLogger(out, zap.NewAtomicLevelAt(zapLevel(loaded.Config.LogLevel))).Info("stopped")
		return nil
	case err != nil:
		return err
	}
	defer s.source.discard()
	s.watch.text, s.again = text, again
	return s.run(ctx)
}

// A service is everything that serves, wired.
type service struct {
	loaded   config.Loaded
	build    build
	memory   int64 // limit of the runtime, or 0
	logger   *zap.Logger
	reviews  *reviewQueue        // before the logger
	messages zapcore.WriteSyncer // to a person
	rules    *ruleWatch
	source   *certificateSource
	server   *server.Server
	watch    *configWatch
	again    <-chan os.Signal // has files read at once
}

func (p *program) newService(ctx context.Context, loaded config.Loaded, out *logWriter) (*service, error) {
	c := loaded.Config
	level := zap.NewAtomicLevelAt(zapLevel(c.LogLevel))
	logger := newLogger(out, level)
	for _, w := range loaded.Warnings {
		logger.Warn("configuration: " + w)
	}
	setGCPercent(p.environ)
	memory := setMemoryLimit(memoryLimit(c.MemoryLimit, p.environ, os.DirFS("/")))

	m := metrics.New(metrics.Build{Version: p.build.Version, Revision: p.build.Revision, GoVersion: p.build.GoVersion})
	m.WatchLog(out.Dropped)
	rules, err := openRules(ctx, c, logger, m)
	if err != nil {
		return nil, err
	}
	source, err := openSource(ctx, c, tlsHooks(m, logger))
	if err != nil {
		return nil, err
	}
	reviews := newReviewQueue(newReviewLog(logger, c.LogReviews), out)
	hooks := reviewHooks(m, reviews)
	hooks.UnknownFields = rules.unknownFields
	m.WatchCRDs(rules.outdated)
	reviewer := review.NewReviewer(rules.registry, hooks)
	opts := serverOptions(c)
	opts.Webhook = review.NewHandler(reviewer)
	opts.TLS = source.TLSConfig(uint16(c.TLSMinVersion))
	opts.ExpectedCertificate = source.Expected
	opts.Checks = checks(rules, source.Source)
	opts.Metrics = m.Handler()
	opts.Hooks = serverHooks(m, logger)
	opts.ErrorLog = errorLog(logger)
	srv, err := server.New(opts)
	if err != nil {
		source.discard()
		return nil, err
	}
	m.WatchServer(srv.Stats)
	return &service{
		loaded: loaded, build: p.build, memory: memory, logger: logger, reviews: reviews, messages: out,
		rules: rules, source: source, server: srv,
		watch: &configWatch{loaded: loaded, level: level, want: reviews.log.want, logger: logger, reloaded: m.ConfigReloaded},
	}, nil
}

// run serves until ctx ends. The certificate, the rules and the configuration are followed to the end of the
// drain.
func (s *service) run(ctx context.Context) error {
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := s.source.Run(background); err != nil {
			s.logger.Error("certificate is not followed", zap.String("error", err.Error()))
		}
	})
	wg.Go(func() { s.watch.run(background) })
	wg.Go(func() { s.rules.run(background) })
	wg.Go(func() { s.reviews.log.run(background) })
	wg.Go(func() { s.reloadOnSignal(background) })
	wg.Go(func() {
		select {
		case <-s.server.Listening():
			s.announce()
		case <-background.Done():
		}
	})
	err := s.server.Run(ctx)
	stop()
	wg.Wait()
	if err == nil {
		s.reviews.drain() // so that the last line is the last
		s.reviews.log.summarize()
		s.logger.Info("stopped")
	}
	return err
}
