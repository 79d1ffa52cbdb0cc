package serve

import (
	"context"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/crdconvert/webhookd/internal/review"
	"github.com/crdconvert/webhookd/internal/serve/metrics"
	"github.com/crdconvert/webhookd/internal/server"
	"github.com/crdconvert/webhookd/internal/server/listen"
	"github.com/crdconvert/webhookd/internal/tlsreload"
)

// reviewHooks returns hooks that count and log each review.
func reviewHooks(m *metrics.Metrics, logged *reviewLog) review.Hooks {
	counted := m.Review()
	return review.Hooks{
		ReviewDone: func(ctx context.Context, r review.Result) {
			counted.ReviewDone(ctx, r)
			logged.reviewDone(ctx, r)
		},
		ObjectsDone: func(o review.Objects) {
			counted.ObjectsDone(o)
			if o.CostLimited > 0 {
				logged.costLimited(o.Pair, o.CostLimited)
			}
		},
		GuardRefused: counted.GuardRefused,
		Panicked: func(ctx context.Context, p review.Panic) {
			counted.Panicked(ctx, p)
			logged.panicked(ctx, p)
		},
		Stuck: func(kind string, more int) {
			counted.Stuck(kind, more)
			logged.stuck(kind, more)
		},
		Reserve: server.Reserve,
		Heavy:   server.Heavy,
		Settle:  server.Settle,
		Yield:   server.Yield,
		Hold:    server.Hold,
	}
}

// tlsHooks returns hooks that count and log changes of the certificate.
func tlsHooks(m *metrics.Metrics, logger *zap.Logger) tlsreload.Hooks {
	counted := m.TLS()
	return tlsreload.Hooks{
		Reloaded: func(e tlsreload.Event) {
			counted.Reloaded(e)
			logger.Info("certificate loaded", certificate(e)...)
		},
		ClientCAReloaded: func(certificates int) {
			counted.ClientCAReloaded(certificates)
			logger.Info("client CA loaded", zap.Int("certificates", certificates))
		},
		Waiting: func(e tlsreload.Event) {
			logger.Warn("certificate on disk is not valid yet, it is served from its notBefore on", certificate(e)...)
		},
		Failed: func(err error) {
			counted.Failed(err)
			logger.Error("certificate on disk cannot be used, the last good one is kept", zap.String("error", err.Error()))
		},
		Recovered: func() {
			counted.Recovered()
			logger.Info("certificate on disk can be used again")
		},
	}
}

func certificate(e tlsreload.Event) []zap.Field {
	fields := []zap.Field{
		zap.Time("notBefore", e.NotBefore),
		zap.Time("notAfter", e.NotAfter),
		zap.String("fingerprint", e.Fingerprint),
	}
	if e.Generation != "" {
		fields = append(fields, zap.String("generation", e.Generation))
	}
	return fields
}

// serverHooks returns hooks that count and log what the listeners do. A client can cause any number
// of refused requests and failed handshakes. So they are logged at the debug level, or of a kind at
// most one a minute, and other lines of net/http at most one a second.
func serverHooks(m *metrics.Metrics, logger *zap.Logger) server.Hooks {
	counted := m.Server()
	handshakes, others := sampled(logger, time.Minute), sampled(logger, time.Second)
	return server.Hooks{
		Shed: func(reason string) {
			counted.Shed(reason)
			logger.Debug("request shed", zap.String("reason", reason))
		},
		Rejected: func(code int) {
			counted.Rejected(code)
			logger.Debug("request rejected", zap.Int("code", code))
		},
		CutOff: counted.CutOff,
		Panicked: func(valueType string, stack []byte) {
			counted.Panicked(valueType, stack)
			logger.Error("handler panicked", zap.String("panic", valueType), zap.ByteString("stack", stack))
		},
		HandshakeFailed: func(reason, text string) {
			counted.HandshakeFailed(reason, text)
			message, failed := "TLS handshake error: "+reason, zap.String("error", text)
			if reason == listen.HandshakeClosed {
				logger.Debug(message, failed)
			} else {
				handshakes.Warn(message, failed)
			}
		},
		HTTPFailed: func(text string) { others.Warn("HTTP server", zap.String("error", text)) },
		Draining: func() {
			counted.Draining()
			logger.Info("draining")
		},
	}
}

// sampled returns a logger that logs each message once an interval.
func sampled(logger *zap.Logger, interval time.Duration) *zap.Logger {
	return logger.WithOptions(zap.WrapCore(func(c zapcore.Core) zapcore.Core {
		return zapcore.NewSamplerWithOptions(c, interval, 1, 0)
	}))
}
