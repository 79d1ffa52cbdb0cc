// Package server runs webhookd's two HTTP servers: the webhook listener, to which kube-apiserver
// posts its ConversionReviews over TLS, and the admin listener with probes, metrics and profiles.
// What requests share is in gate, connections are in listen, and neither knows this package. Read
// server.go first, then review.go and call.go.
//
// It does not know reviews. It routes, limits, times and sheds requests, and stops without
// failing a call. Every answer that it gives instead of a review is
// a metav1.Status as JSON. Only net/http itself answers in plain text: a malformed request line, a
// header over the limit, an unknown Expect.
package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/crdconvert/webhookd/internal/server/gate"
	"github.com/crdconvert/webhookd/internal/server/listen"
)

// A Server serves the webhook and admin listeners. Make one with [New]. Its methods are safe for
// concurrent use.
type Server struct {
	opts   Options
	ledger *gate.Ledger
	health *health

	maxBody int64 // the lesser of the body limit and the ledger's

	webhook http.Handler
	admin   http.Handler

	draining  atomic.Bool
	listening chan struct{}
	listenAt  func(ctx context.Context, network, address string) (net.Listener, error)
	conns     *listen.Conns // of the webhook listener
	// Written before listening is closed.
	webhookListener *listen.Listener
	adminListener   *listen.Listener
}

const (
	// maxHeaderBytes bounds the request line and header; kube-apiserver sends a handful of lines.
	maxHeaderBytes = 32 << 10
	// writeGrace is the time after Limits.Timeout that a slow reader gets to take the answer.
	writeGrace = 10 * time.Second
	// keepAlive is the interval of TCP keep-alive probes.
	keepAlive = 15 * time.Second
)

// New returns a Server for [Server.Run].
func New(opts Options) *Server {
	opts.complete()
	limits := &opts.Limits
	open := listen.NewConns(limits.connections(), opts.Hooks.CutOff)
	ledger := gate.New(limits.InFlightBytes, limits.QueueWait,
		func() int64 { return int64(open.Count()) * listen.ConnBytes })
	s := &Server{
		opts:      opts,
		conns:     open,
		ledger:    ledger,
		maxBody:   min(limits.MaxBodyBytes, ledger.Largest()),
		listening: make(chan struct{}),
		listenAt:  (&net.ListenConfig{KeepAlive: keepAlive}).Listen,
	}
	s.health = &health{checks: s.checks()}
	s.webhook = s.webhookRoutes()
	s.admin = s.adminRoutes()
	return s
}

// checks returns the server's own check, then those of the options.
func (s *Server) checks() []Check {
	draining := Check{Name: "draining", Check: func(context.Context) error {
		if s.draining.Load() {
			return errDraining
		}
		return nil
	}}
	return append([]Check{draining}, s.opts.Checks...)
}

// Handler returns the handler of the webhook listener.
func (s *Server) Handler() http.Handler { return s.webhook }

// Stats is a snapshot of what is in progress.
type Stats struct {
	gate.Use

	// Connections is the number of open connections of the webhook listener, ConnectionsLimit its
	// bound.
	Connections, ConnectionsLimit int
}

// Stats returns what is in progress now.
func (s *Server) Stats() Stats {
	return Stats{s.ledger.Use(), s.conns.Count(), s.opts.Limits.connections()}
}

// Listening returns a channel that is closed once both listeners accept connections; never if Run
// fails before.
func (s *Server) Listening() <-chan struct{} { return s.listening }

// Addr returns the address of the webhook listener, once [Server.Listening] is closed.
func (s *Server) Addr() net.Addr { return s.webhookListener.Addr() }

// AdminAddr returns the address of the admin listener, once [Server.Listening] is closed, or nil if
// there is none.
func (s *Server) AdminAddr() net.Addr {
	if s.adminListener == nil {
		return nil
	}
	return s.adminListener.Addr()
}

// Run binds the listeners and serves until ctx ends, then stops in order. Readiness fails at once,
// and every answer on the webhook listener has `Connection: close`. After DrainDelay the server
// accepts no more connections, closes those that are idle for half a second, and gives requests in
// progress, or whose first byte has arrived, ShutdownTimeout to finish.
// It returns nil after an orderly stop. Otherwise its error is that of a listener that could not be
// bound, naming its key, or that failed, or says that requests were cut off. All goroutines have
// ended by then, except handlers that were cut off and have not noticed. It may be called once.
func (s *Server) Run(ctx context.Context) error {
	if err := s.bind(ctx); err != nil {
		return err
	}

	webhook := s.httpServer(ctx, s.webhook, s.opts.Limits.Timeout+writeGrace)
	admin := s.httpServer(ctx, s.admin, adminWriteTimeout)
	failures := make(chan error, 2)
	var wg sync.WaitGroup
	wg.Go(func() { failures <- fmt.Errorf("listen: the listener failed: %w", webhook.Serve(s.webhookListener)) })
	if s.adminListener != nil {
		wg.Go(func() { failures <- fmt.Errorf("admin-listen: the listener failed: %w", admin.Serve(s.adminListener)) })
	}
	watching, stopWatching := context.WithCancel(context.WithoutCancel(ctx))
	defer stopWatching()
	if w := gate.NewHeapWatch(s.ledger, s.conns.MakeRoom, s.opts.SocketMemory); w != nil {
		wg.Go(func() { w.Run(watching) })
	}
	close(s.listening)

	var failure error
	select {
	case <-ctx.Done():
		failure = s.drain(failures)
	case failure = <-failures:
	}
	err := s.shutdown(ctx, webhook, admin)
	stopWatching()
	wg.Wait()
	return errors.Join(failure, err)
}

// adminConnections bounds the connections to the admin listener: from the kubelet, Prometheus, and
// people who read a profile.
const adminConnections = 64

// adminWriteTimeout leaves room for a CPU profile of the usual 30 s.
const adminWriteTimeout = 2 * time.Minute

// httpServer returns one of the two servers. HTTP/2 is off: kube-apiserver never uses it
// for a webhook, and its past vulnerabilities (CVE-2023-44487, CVE-2023-45288) do not apply.
func (s *Server) httpServer(ctx context.Context, h http.Handler, writeTimeout time.Duration) *http.Server {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	return &http.Server{
		Handler:                      h,
		Protocols:                    protocols,
		ReadHeaderTimeout:            listen.HeaderTime, // the connection sets the other read deadlines
		WriteTimeout:                 writeTimeout,
		MaxHeaderBytes:               maxHeaderBytes,
		ConnContext:                  listen.Context,
		ConnState:                    listen.State,
		DisableGeneralOptionsHandler: true, // it answers `OPTIONS *` with an empty 200
		ErrorLog:                     log.New(lines(s.opts.Hooks.HTTPFailed), "", 0),
		// The end of ctx starts the drain; it must not end the requests in progress.
		BaseContext: func(net.Listener) context.Context { return context.WithoutCancel(ctx) },
	}
}

// lines is a writer of lines.
type lines func(text string)

func (f lines) Write(line []byte) (int, error) {
	f(string(bytes.TrimSuffix(line, []byte("\n"))))
	return len(line), nil
}

// bind opens both listeners, and reports all failures.
func (s *Server) bind(ctx context.Context) error {
	webhook, err := s.open(ctx, s.opts.Listen, "listen")
	var admin net.Listener
	var adminErr error
	if s.opts.AdminListen != "" {
		admin, adminErr = s.open(ctx, s.opts.AdminListen, "admin-listen")
	}
	if err := errors.Join(err, adminErr); err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx)
	times := listen.Times{Idle: s.opts.Limits.IdleTimeout, Age: s.opts.Limits.ConnectionAge}
	hooks := listen.Hooks{HandshakeFailed: s.opts.Hooks.HandshakeFailed, AcceptFailed: func(err error) {
		s.opts.Hooks.HTTPFailed("http: Accept error: " + err.Error())
	}}
	s.webhookListener = listen.New(ctx, webhook, s.opts.TLS, times, s.conns, hooks)
	if admin != nil {
		s.adminListener = listen.New(ctx, admin, nil, times, listen.NewConns(adminConnections, func(string) {}), hooks)
	}
	return nil
}

// open listens at the address of a key.
func (s *Server) open(ctx context.Context, address, key string) (net.Listener, error) {
	l, err := s.listenAt(ctx, "tcp", address)
	if err == nil {
		return l, nil
	}
	if failed, ok := errors.AsType[*net.OpError](err); ok {
		err = failed.Err // without the address
	}
	return nil, fmt.Errorf("%s: %w: choose another address with --%s=HOST:PORT", address, err, key)
}
