package server

import (
	"context"
	"crypto/tls"
	"math"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/crdconvert/webhookd/internal/server/listen"
)

// Defaults of the Options, except the limits.
const (
	// DefaultPath is where kube-apiserver posts its ConversionReviews.
	DefaultPath = "/crdconvert"
	// DefaultShutdownTimeout covers the longest request: its deadline is below 30 s.
	DefaultShutdownTimeout = 30 * time.Second
)

// Options configures a [Server].
type Options struct {
	// Webhook answers the reviews. It gets requests with the right method, path, Content-Type and
	// Content-Encoding, a limited body ([http.MaxBytesError]), and the API server's deadline in the
	// context. If it cannot read the body, it must answer 413 for a body that is too large, 408 for
	// one that is too late ([os.ErrDeadlineExceeded]), the result of the error's StatusCode method
	// if there is one, and 400 otherwise; the server counts these. If it needs a larger buffer for
	// the body, it calls the body's method Room(n int64) error with the new size first. It reserves
	// memory apart from the body with [Reserve]. Required.
	Webhook http.Handler
	// Path is where Webhook is served, with or without a trailing slash: elements between single
	// slashes, not the server's own, which is not checked. Default [DefaultPath].
	Path string

	// Listen is the host:port of the webhook listener (HTTPS, HTTP/1.1 only). Required.
	Listen string
	// AdminListen is the host:port of the admin listener (plain HTTP). Empty: no admin listener.
	AdminListen string
	// TLS is the configuration of the webhook listener; its certificate may change at any time. The
	// server clones it and offers only http/1.1; a GetConfigForClient must do the same. Required.
	TLS *tls.Config

	// Limits bounds what clients can make the server spend. Required: see [DefaultLimits].
	Limits Limits
	// DrainDelay is how long the server keeps serving after Run's context has ended, with
	// `Connection: close` on each answer, before it closes the listener and the idle connections.
	// 0: no delay.
	DrainDelay time.Duration
	// ShutdownTimeout bounds the wait for requests in progress after DrainDelay. Default
	// [DefaultShutdownTimeout].
	ShutdownTimeout time.Duration

	// Checks are additional conditions of readiness, in this order.
	Checks []Check

	// Metrics answers /metrics on the admin listener. Nil: 404.
	Metrics http.Handler
	// Pprof serves /debug/pprof on the admin listener, to clients on a loopback address only.
	Pprof bool

	// SocketMemory returns how many bytes of the memory limit the kernel has for sockets. Nil: they
	// are not counted.
	SocketMemory func() int64

	// Hooks observe the server; see [Hooks].
	Hooks Hooks
}

// Limits bounds what clients can make the server spend. Durations and sizes must be positive, which
// is not checked, unless the comment allows 0. Each comment ends with the configuration key, if
// there is one.
type Limits struct {
	// IdleTimeout is how long a connection may wait for its next request. It must be longer than
	// the 90 s after which kube-apiserver closes an idle connection: if both closed at once, a
	// conversion would fail: idle-timeout.
	IdleTimeout time.Duration
	// Timeout is the maximum and the default of `?timeout=`. The handler's deadline is a second
	// earlier: request-timeout.
	Timeout time.Duration
	// MaxBodyBytes bounds one request body: max-body.
	MaxBodyBytes int64
	// InFlightBytes bounds the memory of all requests and connections together. 0: 60 % of
	// GOMEMLIMIT, or 1 GiB without one: max-in-flight-bytes.
	InFlightBytes int64
	// QueueWait is how long a request may wait for its share before it is answered 429, and at most
	// until its deadline. Meanwhile slow bodies give way. 0: no wait, and no body gives way.
	// kube-apiserver tries up to eleven times with a second in between, within 30 s in all. Only if
	// all these waits fit into that time does its user read of the overload, and not "context
	// deadline exceeded".
	QueueWait time.Duration
	// ConnectionAge is the age, plus or minus 20 %, at which a connection ends with its next
	// answer, so that clients spread over new replicas. 0: never.
	ConnectionAge time.Duration
}

// DefaultLimits returns limits that suit kube-apiserver.
func DefaultLimits() Limits {
	return Limits{
		IdleTimeout:   120 * time.Second,
		Timeout:       30 * time.Second,
		MaxBodyBytes:  128 << 20,
		QueueWait:     time.Second,
		ConnectionAge: 10 * time.Minute,
	}
}

// Check is one condition of readiness.
type Check struct {
	// Name appears in the answer of /readyz.
	Name string
	// Check returns nil, or an error of one line. It must be quick and safe for concurrent use; its
	// context ends after two seconds.
	Check func(ctx context.Context) error
}

// complete sets the defaults.
func (o *Options) complete() {
	if o.Path == "" {
		o.Path = DefaultPath
	}
	if o.ShutdownTimeout == 0 {
		o.ShutdownTimeout = DefaultShutdownTimeout
	}
	if o.SocketMemory == nil {
		o.SocketMemory = func() int64 { return 0 }
	}
	if o.Limits.InFlightBytes == 0 {
		o.Limits.InFlightBytes = defaultInFlightBytes(debug.SetMemoryLimit(-1))
	}
	o.Limits.InFlightBytes = min(o.Limits.InFlightBytes, math.MaxInt64/100) // it is multiplied
	o.Hooks.complete()
}

// leastConnections are enough for a few API servers, however little memory there is.
const leastConnections = 64

// connections returns how many connections of the webhook listener may be open: as many as fit into
// a third of InFlightBytes. One more closes one of the source that has the most, or waits.
func (l *Limits) connections() int {
	return int(max(l.InFlightBytes/3/listen.ConnBytes, leastConnections))
}

// defaultInFlightBytes leaves 40 % of the memory limit to answers, converters and the runtime.
func defaultInFlightBytes(memoryLimit int64) int64 {
	if memoryLimit == math.MaxInt64 {
		return 1 << 30
	}
	return memoryLimit / 10 * 6
}
