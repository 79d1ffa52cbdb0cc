package main

import (
	"crypto/tls"
	"net/http"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/review"
	"github.com/crdconvert/webhookd/internal/server"
	"github.com/crdconvert/webhookd/test/helpers/exampletest"
	"github.com/crdconvert/webhookd/test/hostile"
)

// newWebhookd returns webhookd's handler as `webhookd serve` has it, with the limits that the cases
// are for.
func newWebhookd() (http.Handler, error) {
	registry, err := converters.NewRegistry(exampletest.Kinds()...)
	if err != nil {
		return nil, err
	}
	reviewer := review.NewReviewer(func() *converters.Registry { return registry }, review.Hooks{
		Reserve: server.Reserve,
		Heavy:   server.Heavy,
		Settle:  server.Settle,
		Yield:   server.Yield,
	})
	limits := server.DefaultLimits()
	limits.MaxBodyBytes, limits.InFlightBytes = hostile.MaxBody, 1<<30
	s := server.New(server.Options{
		Webhook: review.NewHandler(reviewer), Listen: "127.0.0.1:0", TLS: &tls.Config{MinVersion: tls.VersionTLS13}, Limits: limits,
	})
	return s.Handler(), nil
}
