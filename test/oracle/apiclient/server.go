package apiclient

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"sync/atomic"
	"time"

	"k8s.io/apiserver/pkg/util/webhook"
	"k8s.io/client-go/rest"
)

// A Server is the conversion client of one API server with its connections. Its zero value has
// nothing to call. The fields must not change once a [Converter] was made; it is safe for
// concurrent use then.
type Server struct {
	// Endpoint resolves the Service, as the API server does for each request: to the ClusterIP, or
	// with --enable-aggregator-routing to an endpoint.
	Endpoint func() string
	// Redirect, where set, is kube-proxy: it sends a new connection to another address.
	Redirect func(addr string) string
	// Timeout replaces the 30 s that a conversion may take.
	Timeout time.Duration
	// Observe, where set, sees each exchange below the client's retries. The answer is nil where
	// there was none.
	Observe func(req *http.Request, resp *http.Response)

	dials atomic.Int64
}

var _ webhook.ServiceResolver = (*Server)(nil)

// Dials returns how many connections were begun.
func (s *Server) Dials() int64 { return s.dials.Load() }

// ResolveEndpoint implements webhook.ServiceResolver.
func (s *Server) ResolveEndpoint(namespace, name string, port int32) (*url.URL, error) {
	if namespace != serviceNamespace || name != serviceName || port != servicePort || s.Endpoint == nil {
		return nil, fmt.Errorf("service %q not found", name)
	}
	return &url.URL{Scheme: "https", Host: s.Endpoint()}, nil
}

// authentication is where kube-apiserver puts its tracing and its egress selector. What it changes
// here leaves the client's behaviour as it is, but for the timeout.
func (s *Server) authentication(next webhook.AuthenticationInfoResolver) webhook.AuthenticationInfoResolver {
	adapt := func(cfg *rest.Config, err error) (*rest.Config, error) {
		if err != nil {
			return nil, err
		}
		cfg.Dial = s.dial
		cfg.Proxy = func(*http.Request) (*url.URL, error) { return nil, nil } //nolint:nilnil // means none
		if s.Timeout > 0 {
			cfg.Timeout = s.Timeout
		}
		cfg.Wrap(func(rt http.RoundTripper) http.RoundTripper { return observed{s, rt} })
		return cfg, nil
	}
	return &webhook.AuthenticationInfoResolverDelegator{
		ClientConfigForFunc: func(hostPort string) (*rest.Config, error) {
			return adapt(next.ClientConfigFor(hostPort))
		},
		ClientConfigForServiceFunc: func(name, namespace string, port int) (*rest.Config, error) {
			return adapt(next.ClientConfigForService(name, namespace, port))
		},
	}
}

// dial does what client-go would, and never leaves this machine.
func (s *Server) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	if s.Redirect != nil {
		addr = s.Redirect(addr)
	}
	if to, err := netip.ParseAddrPort(addr); err != nil || !to.Addr().IsLoopback() {
		return nil, fmt.Errorf("not on loopback: %s", addr)
	}
	s.dials.Add(1)
	d := net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}
	return d.DialContext(ctx, network, addr)
}

type observed struct {
	*Server

	next http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (o observed) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := o.next.RoundTrip(req)
	if o.Observe != nil {
		o.Observe(req, resp)
	}
	return resp, err
}
