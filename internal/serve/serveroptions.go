package serve

import (
	"context"
	"fmt"
	"log"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/crdconvert/webhookd/internal/config"
	"github.com/crdconvert/webhookd/internal/server"
	"github.com/crdconvert/webhookd/internal/tlsreload"
)

// serverOptions translates what the configuration says about the server.
func serverOptions(c config.Config) server.Options {
	limits := server.DefaultLimits()
	limits.ReadHeaderTimeout = c.HeaderTimeout
	limits.ReadTimeout = c.BodyTimeout
	limits.MinBodyRate = int64(c.MinBodyRate)
	limits.WriteGrace = c.WriteGrace
	limits.IdleTimeout = c.IdleTimeout
	limits.MaxHeaderBytes = int(c.MaxHeader)
	limits.Timeout = c.RequestTimeout
	limits.MaxBodyBytes = int64(c.MaxBody)
	limits.InFlightBytes = int64(c.MaxInFlightBytes)
	limits.SmallBodyBytes = int64(c.SmallBody)
	limits.SmallBodyShare = c.SmallBodyShare
	limits.InFlightRequests = c.MaxInFlight
	limits.Connections = c.MaxConnections
	limits.QueueWait = c.QueueWait
	limits.ConnectionAge = c.ConnectionAge
	return server.Options{
		Path:            c.Path,
		Listen:          c.Listen,
		AdminListen:     c.AdminListen,
		Limits:          limits,
		DrainDelay:      c.DrainDelay,
		ShutdownTimeout: c.ShutdownTimeout,
		Pprof:           c.PProf,
	}
}

// checks are what readiness asks beside the server's own.
func checks(rules *ruleWatch, source *tlsreload.Source) []server.Check {
	return []server.Check{
		{Name: "registry", Check: func(context.Context) error { return rules.ready() }},
		{Name: "certificate-validity", Check: func(context.Context) error {
			served, now := source.Served(), time.Now()
			switch {
			case now.Before(served.NotBefore):
				return fmt.Errorf("the certificate is not valid before %s", served.NotBefore.UTC().Format(time.RFC3339))
			case now.After(served.NotAfter):
				return fmt.Errorf("the certificate expired at %s", served.NotAfter.UTC().Format(time.RFC3339))
			}
			return nil
		}},
	}
}

// errorLog is for what net/http has to say.
func errorLog(logger *zap.Logger) *log.Logger {
	l, err := zap.NewStdLogAt(logger, zapcore.WarnLevel)
	if err != nil {
		return nil // not with a level of zap's own
	}
	return l
}
