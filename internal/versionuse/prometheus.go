package versionuse

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/prometheus/client_golang/api"
	promv1 "github.com/prometheus/client_golang/api/prometheus/v1"
	"github.com/prometheus/common/model"
)

// Options name a Prometheus, or a server with its HTTP API such as Thanos and Mimir.
type Options struct {
	// URL is the one above /api/v1. A user and a password in it are for basic authentication.
	URL string
	// Token is a bearer token; it may be empty.
	Token string
	// CAs verify the certificate; nil means those of the system.
	CAs *x509.CertPool
	// Matchers select the cluster, as in PromQL, if Prometheus has several; it may be empty.
	Matchers string
	// Timeout is that of one query.
	Timeout time.Duration
}

// A Prometheus answers queries. Safe for concurrent use.
type Prometheus struct {
	api      promv1.API
	matchers string
	timeout  time.Duration
	host     string // for messages, without a password
}

// New returns a Prometheus. It connects to nothing yet.
func New(o Options) (*Prometheus, error) {
	at, err := url.Parse(o.URL)
	if err != nil || at.Host == "" || at.Scheme != "http" && at.Scheme != "https" || at.RawQuery != "" {
		return nil, errors.New("not the URL of a Prometheus, write one such as http://127.0.0.1:9090") // it may have a password
	}
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, TLSClientConfig: &tls.Config{RootCAs: o.CAs, MinVersion: tls.VersionTLS12}}
	client, err := api.NewClient(api.Config{Address: o.URL, RoundTripper: &authorized{transport, o.Token}})
	if err != nil {
		return nil, err
	}
	return &Prometheus{promv1.NewAPI(client), o.Matchers, o.Timeout, at.Redacted()}, nil
}

// An authorized sends a bearer token with each request.
type authorized struct {
	*http.Transport

	token string
}

// RoundTrip implements http.RoundTripper.
func (a *authorized) RoundTrip(r *http.Request) (*http.Response, error) {
	if a.token != "" {
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", "Bearer "+a.token)
	}
	return a.Transport.RoundTrip(r)
}

func (p *Prometheus) query(ctx context.Context, query string, now time.Time) (model.Vector, error) {
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	value, warnings, _, err := p.api.Query(ctx, query, now)
	return answer[model.Vector](p, value, warnings, err)
}

func (p *Prometheus) queryRange(ctx context.Context, query string, now time.Time) (model.Matrix, error) {
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	value, warnings, _, err := p.api.QueryRange(ctx, query, promv1.Range{Start: now.Add(-window), End: now, Step: step})
	return answer[model.Matrix](p, value, warnings, err)
}

// answer returns a value of the type that the query has.
func answer[T model.Value](p *Prometheus, value model.Value, warnings promv1.Warnings, err error) (T, error) {
	typed, ok := value.(T)
	if err == nil && !ok {
		err = &promv1.Error{Type: promv1.ErrBadResponse}
	}
	return typed, p.failed(err, warnings)
}

// failed returns an error that says what to do, on a second line. An answer with a warning lacks
// data, such as those of a store that Thanos could not reach.
func (p *Prometheus) failed(err error, warnings promv1.Warnings) error {
	if err == nil && len(warnings) == 0 {
		return nil
	}
	if err == nil {
		err = fmt.Errorf("the answer is not complete: %s", strings.Join(warnings, "; "))
	}
	if request, ok := errors.AsType[*url.Error](err); ok {
		err = request.Err
	}
	remedy := p.remedy(err)
	if reply, ok := errors.AsType[*promv1.Error](err); ok {
		err = errors.New(reply.Msg)
		if reply.Type == promv1.ErrBadResponse {
			err = errors.New("the answer is not one of Prometheus")
		}
	}
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("no answer within %s", p.timeout)
	}
	err = fmt.Errorf("Prometheus: cannot query: %w: %s", err, p.host)
	if remedy != "" {
		err = fmt.Errorf("%w\n%s", err, remedy)
	}
	return err
}

func (p *Prometheus) remedy(err error) string {
	_, untrusted := errors.AsType[*tls.CertificateVerificationError](err)
	_, unreachable := errors.AsType[*net.OpError](err)
	reply, ok := errors.AsType[*promv1.Error](err)
	if !ok {
		reply = &promv1.Error{}
	}
	switch {
	case errors.Is(err, context.Canceled):
		return ""
	case errors.Is(err, context.DeadlineExceeded), reply.Type == promv1.ErrTimeout:
		return "try again; if it stays so slow, ask a Prometheus with fewer series"
	case untrusted:
		return "give the CA of its certificate with --prometheus-ca-file"
	case unreachable:
		return "start Prometheus or the way to it, such as kubectl port-forward, or correct --prometheus"
	case strings.HasSuffix(reply.Msg, "error: 401"), strings.HasSuffix(reply.Msg, "error: 403"):
		return "give a bearer token with --prometheus-token-file, or write http://USER:PASSWORD@HOST"
	case strings.Contains(err.Error(), "server gave HTTP response to HTTPS client"):
		return "write http:// in --prometheus"
	case reply.Type == promv1.ErrClient, reply.Type == promv1.ErrBadResponse:
		return "correct --prometheus: write the URL that has /api/v1/query below it"
	case reply.Type == promv1.ErrServer:
		return "see the log of Prometheus, or of the proxy before it"
	case reply.Type == promv1.ErrExec:
		return "raise --query.max-samples of Prometheus if that is the limit"
	case reply.Type == promv1.ErrBadData && p.matchers != "":
		return "correct --prometheus-match"
	}
	return ""
}
