// Package serve wires the server: configuration, log, metrics, certificates, rules and the
// listeners. It follows the files that it was started with, and applies changes while it serves.
// Settings are in config, files of rules in ruleset, what is counted in metrics. It never talks to
// an API server. Read service.go first, then rulewatch.go.
package serve

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/crdconvert/webhookd/internal/review"
	"github.com/crdconvert/webhookd/internal/serve/config"
	"github.com/crdconvert/webhookd/internal/serve/metrics"
	"github.com/crdconvert/webhookd/internal/serve/ruleset"
	"github.com/crdconvert/webhookd/internal/server"
)

// Options say what to serve.
type Options struct {
	Loaded   config.Loaded
	Environ  []string
	Build    metrics.Build
	Compiled ruleset.Compiled
	Log      *LogWriter
	Console  Console
}

// Run wires the server and serves until ctx ends. It returns the error that ended it, and does not
// log it.
func Run(ctx context.Context, o Options) error {
	s, err := newService(ctx, o)
	switch {
	case err != nil && ctx.Err() != nil && errors.Is(err, ctx.Err()): // nothing to drain yet
		newLogger(o.Log, zapLevel(o.Loaded.Config.LogLevel), o.Console).Info("stopped")
		return nil
	case err != nil:
		return err
	}
	defer s.source.discard()
	return s.run(ctx)
}

// A service holds the wired parts of the server.
type service struct {
	Options

	memory  int64 // the runtime's memory limit in bytes, or 0
	logger  *zap.Logger
	reviews *reviewLog // in front of the logger
	rules   *ruleWatch
	source  *certificateSource
	server  *server.Server
	sample  string // with a self-signed certificate: a review to try
}

func newService(ctx context.Context, o Options) (*service, error) {
	c := o.Loaded.Config
	logger := newLogger(o.Log, zapLevel(c.LogLevel), o.Console)
	for _, w := range o.Loaded.Warnings {
		logger.Warn("configuration: " + w)
	}
	setGCPercent(o.Environ, gcLoading)
	memory := setMemoryLimit(memoryLimit(c.MemoryLimit, o.Environ, os.DirFS("/")))

	m := metrics.New(o.Build)
	m.WatchLog(o.Log.Dropped)
	rules, err := openRules(ctx, c, o.Compiled, logger, m, o.Console.printer(o.Log))
	if err != nil {
		return nil, err
	}
	source, err := openSource(ctx, c, tlsHooks(m, logger))
	if err != nil {
		return nil, err
	}
	if inPod := slices.ContainsFunc(o.Environ, func(v string) bool { return strings.HasPrefix(v, "KUBERNETES_SERVICE_HOST=") }); inPod &&
		!c.SelfSigned && source.Served().Generation == "" {
		logger.Warn("tls-dir is not the mount of a whole Secret; a subPath mount never gets a renewed certificate", zap.String("tlsDir", c.TLSDir))
	}
	reviews := newReviewLog(logger, c.LogReviews)
	hooks := reviewHooks(m, reviews)
	hooks.UnknownFields = rules.unknownFields
	m.WatchCRDs(rules.outdated)
	opts := serverOptions(c)
	opts.Webhook = review.NewHandler(review.NewReviewer(rules.registry, hooks))
	opts.TLS = source.TLSConfig()
	opts.Checks = checks(rules, source.Source)
	opts.Metrics = m.Handler()
	opts.Hooks = serverHooks(m, logger)
	opts.SocketMemory = socketMemory(os.DirFS("/"))
	srv := server.New(opts)
	setGCPercent(o.Environ, gcServing)
	if err := checkMemory(memory, liveHeap()); err != nil {
		source.discard()
		return nil, err
	}
	m.WatchServer(srv.Stats)
	s := &service{
		Options: o, memory: memory, logger: logger, reviews: reviews, rules: rules, source: source, server: srv,
	}
	if c.SelfSigned {
		s.sample = sampleReview(rules.registry(), rules.read[0])
	}
	return s, nil
}

// run serves until ctx ends. It follows the certificate and the rules until the drain is done.
func (s *service) run(ctx context.Context) error {
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	var wg sync.WaitGroup
	wg.Go(func() { s.source.Run(background) })
	wg.Go(func() { s.rules.run(background) })
	wg.Go(func() { every(background, summaryInterval, s.reviews.summarize) })
	wg.Go(func() {
		select {
		case <-s.server.Listening():
			s.announce(background)
		case <-background.Done():
		}
	})
	err := s.server.Run(ctx)
	stop()
	wg.Wait()
	if err == nil {
		s.reviews.summarize()
		s.logger.Info("stopped")
	}
	return err
}

// every calls f at each interval until ctx ends.
func every(ctx context.Context, interval time.Duration, f func()) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			f()
		}
	}
}
