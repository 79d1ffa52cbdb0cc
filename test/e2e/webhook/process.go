package webhook

import (
	"testing"

	"github.com/crdconvert/webhookd/test/helpers/process"
	"github.com/crdconvert/webhookd/test/helpers/tlstest"
)

// Options say how to start a webhookd. The zero value listens on any port of 127.0.0.1, with a
// certificate of a new CA for that address.
type Options struct {
	// Program is the path of webhookd. Default: Build.
	Program string
	// Listen is the host:port of the webhook. Default 127.0.0.1:0.
	Listen string
	// CA issues the certificate. Default: a new one.
	CA *tlstest.CA
	// Hosts are the names and addresses of the certificate. Default 127.0.0.1 and localhost.
	Hosts []string
	// Flags are further flags of `webhookd serve`; they win over those of Start, whose drain-delay
	// is none.
	Flags []string
	// Env is the whole environment.
	Env []string
	// Dir keeps the certificate: a later webhookd with the same Dir and CA serves the same one.
	// Default: a folder of the test's.
	Dir string
}

// A Process is a running webhookd. It implements scenario.Target and scenario.Scraped.
type Process struct {
	*process.Process

	ca *tlstest.CA
}

// Start runs `webhookd serve` as a process of its own until the test ends, which is when it has to
// end in order. The test fails if its log has a warning or an error that was not tolerated.
func Start(t *testing.T, o Options) *Process {
	t.Helper()
	if o.Program == "" {
		o.Program = Build(t)
	}
	if o.CA == nil {
		o.CA = tlstest.NewCA(t, "webhookd end-to-end tests")
	}
	return &Process{process.Launch(t, process.Options{
		Binary: o.Program, Listen: o.Listen, CA: o.CA, Hosts: o.Hosts, Secret: o.Dir, Env: o.Env, Reviews: true, Orderly: true,
		Flags: append([]string{"--drain-delay", "0s"}, o.Flags...),
	}), o.CA}
}

// Addr returns the host:port of the webhook.
func (p *Process) Addr() string { return p.Process.Addr }

// CA returns who issued the certificate.
func (p *Process) CA() *tlstest.CA { return p.ca }

// Metrics scrapes the admin listener.
func (p *Process) Metrics(t *testing.T) process.Metrics {
	t.Helper()
	return p.Scrape()
}
