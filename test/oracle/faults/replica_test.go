package faults_test

import (
	"testing"
	"time"

	"github.com/crdconvert/webhookd/internal/server"
	"github.com/crdconvert/webhookd/test/helpers/process"
	"github.com/crdconvert/webhookd/test/helpers/tlstest"
	"github.com/crdconvert/webhookd/test/helpers/wait"

	"github.com/crdconvert/webhookd/test/oracle/apiclient"
	"github.com/crdconvert/webhookd/test/oracle/faults/balancer"
)

// clusterIP is the address of the Service, where no one listens.
const clusterIP = "10.96.0.17:443"

// reviewFailed is in the log's line of a review that was answered Failed.
const reviewFailed = `"msg":"review failed"`

// run starts a process for the Service, by default of webhookd as it is shipped.
func run(t *testing.T, o process.Options) *process.Process {
	t.Helper()
	if o.Hosts = []string{apiclient.ServiceHost, "127.0.0.1"}; o.Binary == "" {
		o.Binary = binary(t, "webhookd")
	}
	return process.Launch(t, o)
}

// launch starts a webhookd as it is shipped.
func launch(t *testing.T, ca *tlstest.CA, flags ...string) *process.Process {
	t.Helper()
	return run(t, process.Options{CA: ca, Flags: flags})
}

// launchHostile starts one whose converters misbehave.
func launchHostile(t *testing.T, ca *tlstest.CA, tolerated []string, flags ...string) *process.Process {
	t.Helper()
	return run(t, process.Options{Binary: binary(t, hostile), CA: ca, Flags: flags, Tolerated: tolerated})
}

func hook(ca *tlstest.CA) apiclient.Hook {
	return apiclient.Hook{Path: server.DefaultPath, CABundle: ca.PEM, Reviews: []string{"v1"}}
}

// alone is an API server for which the Service has one endpoint.
func alone(p *process.Process) *apiclient.Server {
	return &apiclient.Server{Endpoint: func() string { return clusterIP }, Redirect: func(string) string { return p.Addr }}
}

// A service is what the API server calls: replicas behind a balancer.
type service struct {
	*balancer.Balancer

	t     *testing.T
	ca    *tlstest.CA
	flags []string
}

// newService has two replicas, both of them in use.
func newService(t *testing.T, lag time.Duration, flags ...string) (*service, []*process.Process) {
	t.Helper()
	s := &service{Balancer: balancer.New(t, lag), t: t, ca: tlstest.NewCA(t, "faults"), flags: flags}
	replicas := []*process.Process{s.replica(), s.replica()}
	for _, p := range replicas {
		s.used(p)
	}
	return s, replicas
}

// replica adds one.
func (s *service) replica() *process.Process {
	s.t.Helper()
	p := launch(s.t, s.ca, s.flags...)
	s.Add(p.Addr, p.Ready)
	return p
}

// used waits until new connections go to a replica, and unused until they do not.
func (s *service) used(p *process.Process) {
	s.t.Helper()
	wait.Until(s.t, "the balancer to use the replica", func() bool { return s.Used(p.Addr) })
}

func (s *service) unused(p *process.Process) {
	s.t.Helper()
	wait.Until(s.t, "the balancer to leave the replica", func() bool { return !s.Used(p.Addr) })
}

// client is an API server whose kube-proxy is the balancer.
func (s *service) client() *apiclient.Server {
	return &apiclient.Server{Endpoint: func() string { return clusterIP }, Redirect: func(string) string { return s.Pick() }}
}

// launchTolerant starts one whose log may have a line about each failed or rejected review.
func launchTolerant(t *testing.T, ca *tlstest.CA, flags ...string) *process.Process {
	t.Helper()
	return run(t, process.Options{
		CA: ca, Flags: flags, Tolerated: []string{reviewFailed, `"msg":"body rejected"`},
	})
}
