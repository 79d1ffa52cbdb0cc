package crdwire

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/crdconvert/webhookd/internal/review/reviewclient"
)

const (
	dialTimeout = 10 * time.Second
	maxIdle     = 25 // connections, as kube-apiserver keeps
)

// An Endpoint is a webhook as kube-apiserver sees it. Safe for concurrent use.
type Endpoint struct {
	Target Target
	// Bundle must verify it; empty means the CAs of the system.
	Bundle Bundle
	// Address is HOST:PORT to connect to instead of the target's. The name to verify stays the
	// same.
	Address string
	// Dial, if set, connects instead, such as through the API server.
	Dial func(ctx context.Context) (net.Conn, error)
}

// dial connects to Address, or to address without one.
func (e *Endpoint) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if e.Dial != nil {
		return e.Dial(ctx)
	}
	if e.Address != "" {
		address = e.Address
	}
	dialer := &net.Dialer{Timeout: dialTimeout}
	return dialer.DialContext(ctx, network, address)
}

// tlsConfig is like kube-apiserver's: HTTP/1.1 only, at least TLS 1.2, and no client certificate.
func (e *Endpoint) tlsConfig() *tls.Config {
	config := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: e.Target.ServerName(), NextProtos: []string{"http/1.1"}}
	if len(e.Bundle) > 0 {
		config.RootCAs = e.Bundle.Pool()
	}
	return config
}

// Served connects without verification and returns the served chain, the leaf first.
func (e *Endpoint) Served(ctx context.Context) ([]*x509.Certificate, error) {
	u, err := url.Parse(e.Target.requestURL())
	if err != nil {
		return nil, err
	}
	address := u.Host
	if u.Port() == "" {
		address = net.JoinHostPort(u.Hostname(), "443")
	}
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	raw, err := e.dial(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	defer raw.Close()
	config := e.tlsConfig()
	config.InsecureSkipVerify = true // nothing is sent, and the caller verifies
	conn := tls.Client(raw, config)
	if err := conn.HandshakeContext(ctx); err != nil {
		return nil, err
	}
	return conn.ConnectionState().PeerCertificates, nil
}

// Client returns a client that connects to the endpoint as kube-apiserver does. Without keepAlive
// each request has a connection of its own.
func (e *Endpoint) Client(keepAlive bool) *http.Client {
	return &http.Client{
		Timeout: reviewclient.Timeout, CheckRedirect: reviewclient.NoRedirect,
		Transport: &http.Transport{
			DialContext: e.dial, TLSClientConfig: e.tlsConfig(), DisableKeepAlives: !keepAlive,
			MaxIdleConnsPerHost: maxIdle, TLSHandshakeTimeout: dialTimeout,
		},
	}
}

// Post posts a review over a new connection and returns the body of an answer with HTTP 200.
func (e *Endpoint) Post(ctx context.Context, review []byte) ([]byte, error) {
	return e.PostBy(ctx, e.Client(false), review)
}

// PostBy is Post over the connections of a Client of the endpoint.
func (e *Endpoint) PostBy(ctx context.Context, client *http.Client, review []byte) ([]byte, error) {
	answer, err := reviewclient.Post(ctx, client, e.Target.requestURL(), review)
	return answer, e.explain(err)
}

// explain adds what a failed connection means.
func (e *Endpoint) explain(err error) error {
	if failed, ok := errors.AsType[*url.Error](err); ok {
		err = failed.Err
	}
	if failed, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		err = failed.Err
	}
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return fmt.Errorf("served certificate is not from a CA of the bundle: %w", err)
	}
	if _, ok := errors.AsType[x509.HostnameError](err); ok {
		return fmt.Errorf("served certificate is not for the name that the API server asks for: %w", err)
	}
	return err
}
