package crdwire

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// requestTimeout is kube-apiserver's own.
	requestTimeout = 30 * time.Second
	dialTimeout    = 10 * time.Second
	maxAnswer      = 64 << 20
)

// An Endpoint is a webhook as kube-apiserver sees it. Safe for concurrent use.
type Endpoint struct {
	Target Target
	// Bundle must verify it; empty means the CAs of the system.
	Bundle Bundle
	// Address is HOST:PORT to connect to instead of the target's. The name to verify stays the
	// same.
	Address string
}

// dial connects to Address, or to address without one.
func (e *Endpoint) dial(ctx context.Context, network, address string) (net.Conn, error) {
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

// Post posts a review over a new connection and returns the body of an answer with HTTP 200.
func (e *Endpoint) Post(ctx context.Context, review []byte) ([]byte, error) {
	transport := &http.Transport{DialContext: e.dial, TLSClientConfig: e.tlsConfig(), DisableKeepAlives: true, TLSHandshakeTimeout: dialTimeout}
	client := &http.Client{
		Timeout: requestTimeout, Transport: transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	target := e.Target.requestURL() + "?timeout=" + requestTimeout.String()
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, target, bytes.NewReader(review))
	if err != nil {
		return nil, err
	}
	q.Header.Set("Accept", "application/json, */*")
	q.Header.Set("Content-Type", "application/json")
	q.Header.Set("User-Agent", "webhookd-probe")
	w, err := client.Do(q)
	if err != nil {
		return nil, e.explain(err)
	}
	defer w.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(w.Body, maxAnswer))
	if err != nil {
		return nil, fmt.Errorf("answer that ends early: %w", err)
	}
	if w.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("answer is HTTP %d, not 200: %s", w.StatusCode, messageOf(answer))
	}
	return answer, nil
}

// messageOf returns the message of a metav1.Status, or the beginning of a proxy's text.
func messageOf(answer []byte) string {
	var status metav1.Status
	if json.Unmarshal(answer, &status) == nil && status.Kind == "Status" {
		return status.Message
	}
	text := strings.Join(strings.Fields(string(answer)), " ")
	return text[:min(len(text), 300)]
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
