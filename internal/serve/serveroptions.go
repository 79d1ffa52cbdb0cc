package serve

import (
	"context"

	"github.com/crdconvert/webhookd/internal/serve/config"
	"github.com/crdconvert/webhookd/internal/server"
	"github.com/crdconvert/webhookd/internal/tlsreload"
)

// serverOptions returns the server's options from the configuration.
func serverOptions(c config.Config) server.Options {
	limits := server.DefaultLimits()
	limits.Timeout = c.RequestTimeout
	limits.MaxBodyBytes = int64(c.MaxBody)
	limits.InFlightBytes = int64(c.MaxInFlightBytes)
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

// checks returns the readiness checks in addition to the server's own.
func checks(rules *ruleWatch, source *tlsreload.Source) []server.Check {
	return []server.Check{
		{Name: "registry", Check: func(context.Context) error { return rules.ready() }},
		{Name: "certificate", Check: func(context.Context) error { return source.Ready() }},
	}
}
