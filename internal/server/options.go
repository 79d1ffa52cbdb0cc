package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log"
	"math"
	"net/http"
	"runtime/debug"
	"strings"
	"time"
)

// Defaults of the Options that are not limits.
const (
	// DefaultPath is where kube-apiserver posts its ConversionReviews.
	DefaultPath = "/crdconvert"
	// DefaultDrainDelay covers the time in which load balancers still send to a stopping pod.
	DefaultDrainDelay = 15 * time.Second
	// DefaultShutdownTimeout covers the longest request: its deadline is below 30 s.
	DefaultShutdownTimeout = 30 * time.Second
	// DefaultSelfCheckInterval is the time between two looks at the certificate that is served.
	DefaultSelfCheckInterval = 5 * time.Second
)

// Options says what a [Server] serves, where and within which limits.
type Options struct {
	// Webhook answers the reviews. It gets requests whose method, path, Content-Type and
	// Content-Encoding are right, whose body is limited ([http.MaxBytesError]) and whose context
	// has the deadline by which the API server must have its answer. A body that it cannot read it
	// has to answer 413 where that is too large, 408 where it came too late ([os.ErrDeadlineExceeded]),
	// what the error's StatusCode method says where it has one, and 400 otherwise; the server counts these. A body whose
	// buffer grows has a method Room(n int64) error, which asks for a buffer of n bytes in all before it is made. Memory that it
	// needs beside the body it asks for by [Reserve]. Required.
	Webhook http.Handler
	// Path is where Webhook is served, with or without a trailing slash. Default [DefaultPath].
	Path string

	// Listen is the host:port of the webhook listener (HTTPS, HTTP/1.1 only). Required.
	Listen string
	// AdminListen is the host:port of the admin listener (plain HTTP). Empty: there is none.
	AdminListen string
	// TLS serves the webhook listener; its certificate may change at any time. Required. The
	// Server clones it and offers http/1.1 alone; a GetConfigForClient has to do the same.
	TLS *tls.Config

	// Limits bounds what a client can make the server spend. The zero value is [DefaultLimits];
	// otherwise every field counts as it is.
	Limits Limits
	// DrainDelay is how long the server goes on accepting and answering after Run's context has
	// ended, with `Connection: close` on each answer, before it closes the listener and ends the
	// connections that are idle. 0: not at all.
	DrainDelay time.Duration
	// ShutdownTimeout bounds the wait for requests that still run, or come, after DrainDelay.
	// Default [DefaultShutdownTimeout].
	ShutdownTimeout time.Duration

	// Checks are what readiness asks besides the server's own state, in this order.
	Checks []Check
	// ExpectedCertificate returns the pair that the server should be serving now. With it, the
	// server dials itself and is ready only while it serves that certificate. What it finds different
	// has to be served by the next call, or the server is not ready. Nil: no such check.
	ExpectedCertificate func() *tls.Certificate
	// SelfCheckInterval is the time between two such dials. Default [DefaultSelfCheckInterval].
	SelfCheckInterval time.Duration

	// Metrics answers /metrics on the admin listener. Nil: 404.
	Metrics http.Handler
	// Pprof serves /debug/pprof on the admin listener, to clients on a loopback address only.
	Pprof bool

	// Hooks observe the server; see [Hooks].
	Hooks Hooks
	// ErrorLog gets what net/http has to say: failed accepts, and failed TLS handshakes at most
	// once a minute for each reason, but for those whose client only went away. Nil: dropped.
	ErrorLog *log.Logger
}

// Limits bounds what clients can make the server spend. Durations and sizes must be positive unless
// said otherwise. Each comment ends with the configuration key.
type Limits struct {
	// ReadHeaderTimeout bounds the TLS handshake, and the request header from its first byte:
	// header-timeout.
	ReadHeaderTimeout time.Duration
	// ReadTimeout bounds the arrival of a whole request, body included, less the time in which the
	// body waited for its share of InFlightBytes: body-timeout.
	ReadTimeout time.Duration
	// MinBodyRate is how many bytes a second a body must have brought, from its sixth second on: what is slower would keep
	// its share of InFlightBytes for ReadTimeout. 0: no minimum: min-body-rate.
	MinBodyRate int64
	// WriteGrace is what a slow reader gets after Timeout to take the answer: write-grace.
	WriteGrace time.Duration
	// IdleTimeout is how long a connection may wait for its next request. It has to be longer than
	// the 90 s after which kube-apiserver closes an idle connection, or both close at once and a
	// conversion fails: idle-timeout.
	IdleTimeout time.Duration
	// MaxHeaderBytes bounds the request line and header: max-header.
	MaxHeaderBytes int

	// Timeout bounds `?timeout=` and stands in for it. The handler's deadline is a second earlier:
	// request-timeout.
	Timeout time.Duration

	// MaxBodyBytes bounds one request body: max-body.
	MaxBodyBytes int64
	// InFlightBytes bounds all request bodies together. 0: 60 % of GOMEMLIMIT, or 1 GiB where none
	// is set: max-in-flight-bytes.
	InFlightBytes int64
	// SmallBodyBytes is the size up to which a body may use the share that is kept for small ones:
	// small-body.
	SmallBodyBytes int64
	// SmallBodyShare is that share, in percent of InFlightBytes, from 0 to 90: small-body-share.
	SmallBodyShare int
	// InFlightRequests bounds the requests in progress. 0: no bound. An API server keeps at least
	// ten calls in flight for each kind that it caches (KEP-6178), so do not set it low:
	// max-in-flight.
	InFlightRequests int
	// QueueWait is how long a request may wait for its share before it is answered 429. Meanwhile slow
	// bodies give way. 0: not at all, and none do. It never waits longer than until its own deadline. kube-apiserver asks up to eleven times with a second between, all within its 30 s: only
	// where every one of these waits fits in does its user read of the overload, and not
	// "context deadline exceeded": queue-wait.
	QueueWait time.Duration

	// Connections bounds the open connections of the webhook listener; one more closes the connection that is least likely an
	// API server's. 0: as many as a third of InFlightBytes has room for, at 48 KiB each: max-connections.
	Connections int
	// ConnectionAge is the age, plus or minus 20 %, at which a connection is ended with the answer
	// to its next request, so that clients spread over new replicas. 0: never: connection-age.
	ConnectionAge time.Duration
	// KeepAlive is the interval of TCP keep-alive probes.
	KeepAlive time.Duration
}

// DefaultLimits returns the limits that suit kube-apiserver.
func DefaultLimits() Limits {
	return Limits{
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       30 * time.Second,
		WriteGrace:        10 * time.Second,
		IdleTimeout:       120 * time.Second,
		MaxHeaderBytes:    32 << 10,
		MinBodyRate:       1 << 10,
		Timeout:           30 * time.Second,
		MaxBodyBytes:      128 << 20,
		SmallBodyBytes:    64 << 10,
		SmallBodyShare:    25,
		QueueWait:         time.Second,
		ConnectionAge:     10 * time.Minute,
		KeepAlive:         15 * time.Second,
	}
}

// Check is one condition of readiness.
type Check struct {
	// Name appears in the answer of /readyz.
	Name string
	// Check returns nil or one line that says what is wrong. It must be quick and safe for
	// concurrent use; its context ends after two seconds.
	Check func(ctx context.Context) error
}

// complete fills in the defaults and reports every option that makes no sense.
func (o *Options) complete() error {
	if o.Path == "" {
		o.Path = DefaultPath
	}
	if o.ShutdownTimeout == 0 {
		o.ShutdownTimeout = DefaultShutdownTimeout
	}
	if o.SelfCheckInterval == 0 {
		o.SelfCheckInterval = DefaultSelfCheckInterval
	}
	if o.Limits == (Limits{}) {
		o.Limits = DefaultLimits()
	}
	if o.Limits.InFlightBytes == 0 {
		o.Limits.InFlightBytes = defaultInFlightBytes(debug.SetMemoryLimit(-1))
	}
	if o.Limits.Connections == 0 {
		o.Limits.Connections = int(max(o.Limits.InFlightBytes/3/connBytes, leastConnections))
	}
	return errors.Join(o.validate(), o.Limits.validate())
}

const (
	// connBytes is what an open connection takes, with the TLS record and the header of a request that is coming
	// (TestR11 of test/oracle/faults).
	connBytes = 48 << 10
	// leastConnections are enough for a few API servers, however little memory there is.
	leastConnections = 64
)

// defaultInFlightBytes leaves 40 % of the memory limit for answers, converters and the runtime.
func defaultInFlightBytes(memoryLimit int64) int64 {
	if memoryLimit == math.MaxInt64 {
		return 1 << 30
	}
	return memoryLimit / 10 * 6
}

func (o *Options) validate() error {
	var errs []error
	require := func(ok bool, problem string) {
		if !ok {
			errs = append(errs, errors.New(problem))
		}
	}
	require(o.Webhook != nil, "no webhook handler given")
	require(o.TLS != nil, "no TLS configuration given")
	require(o.Listen != "", "no address to listen on: listen")
	require(validPath(o.Path), "webhook path must start with a slash, hold no empty element, no query "+
		"and none of {}*%, and not be one of the server's own: path")
	require(o.DrainDelay >= 0, "drain delay must not be negative: drain-delay")
	require(o.ShutdownTimeout > 0, "shutdown timeout must be positive: shutdown-timeout")
	require(o.SelfCheckInterval > 0, "self check interval must be positive")
	for _, c := range o.Checks {
		require(c.Name != "" && c.Check != nil, "readiness check without a name or a function")
	}
	return errors.Join(errs...)
}

func (l *Limits) validate() error {
	var errs []error
	for _, v := range []struct {
		key                string
		value, least, most int64
	}{
		{"header-timeout", int64(l.ReadHeaderTimeout), 1, math.MaxInt64},
		{"body-timeout", int64(l.ReadTimeout), 1, math.MaxInt64},
		{"min-body-rate", l.MinBodyRate, 0, math.MaxInt64 / int64(time.Second)},
		{"write-grace", int64(l.WriteGrace), 1, math.MaxInt64},
		{"idle-timeout", int64(l.IdleTimeout), 1, math.MaxInt64},
		{"max-header", int64(l.MaxHeaderBytes), 1, math.MaxInt64},
		{"request-timeout", int64(l.Timeout), 1, math.MaxInt64},
		{"max-body", l.MaxBodyBytes, 1, math.MaxInt64},
		{"max-in-flight-bytes", l.InFlightBytes, 1, math.MaxInt64 / 100},
		{"small-body", l.SmallBodyBytes, 1, math.MaxInt64},
		{"small-body-share", int64(l.SmallBodyShare), 0, 90},
		{"max-in-flight", int64(l.InFlightRequests), 0, math.MaxInt64},
		{"queue-wait", int64(l.QueueWait), 0, math.MaxInt64},
		{"max-connections", int64(l.Connections), 0, math.MaxInt32},
		{"connection-age", int64(l.ConnectionAge), 0, math.MaxInt64},
		{"tcp keep-alive", int64(l.KeepAlive), 1, math.MaxInt64},
	} {
		switch {
		case v.value < v.least:
			errs = append(errs, fmt.Errorf("limit must be at least %d: %s", v.least, v.key))
		case v.value > v.most:
			errs = append(errs, fmt.Errorf("limit must be at most %d: %s", v.most, v.key))
		}
	}
	return errors.Join(errs...)
}

// validPath keeps out what chi would take for a pattern and what a client cannot send.
func validPath(path string) bool {
	trimmed := strings.TrimSuffix(path, "/")
	return strings.HasPrefix(trimmed, "/") &&
		!strings.Contains(path, "//") &&
		!strings.ContainsAny(path, "{}*%?# ") &&
		trimmed != readyPath
}
