// Package server runs webhookd's two HTTP servers: the webhook listener, to which kube-apiserver
// posts its ConversionReviews over TLS, and the admin listener with probes, metrics and profiles.
//
// It does not know reviews. It routes, limits, times and sheds requests, watches its own
// certificate, and stops without failing a call. Every answer that it gives instead of a review is
// a metav1.Status as JSON. Only net/http itself answers in plain text: a malformed request line, a
// header over the limit, an unknown Expect.
package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// A Server serves the webhook and admin listeners. Make one with [New]. Its methods are safe for
// concurrent use.
type Server struct {
	opts   Options
	ledger *ledger
	health *health
	self   *selfCheck // nil: no such check
	errors *errorLog
	corks  corks

	maxBody int64 // the lesser of the body limit and the ledger's

	webhook http.Handler
	admin   http.Handler

	running   atomic.Bool
	draining  atomic.Bool
	listening chan struct{}
	listen    func(ctx context.Context, network, address string) (net.Listener, error)
	conns     *conns // of the webhook listener
	// Written before listening is closed.
	webhookListener *listener
	adminListener   *listener
}

// New returns a Server for [Server.Run], or an error that names every missing or invalid option.
func New(opts Options) (*Server, error) {
	if err := opts.complete(); err != nil {
		return nil, err
	}
	open := newConns(opts.Limits.Connections, opts.Hooks.cutOff)
	l := newLedger(&opts.Limits, func() int64 { return int64(open.count()) * connBytes })
	s := &Server{
		opts:      opts,
		conns:     open,
		ledger:    l,
		errors:    newErrorLog(opts.ErrorLog, &opts.Hooks),
		maxBody:   min(opts.Limits.MaxBodyBytes, l.largest()),
		listening: make(chan struct{}),
		listen:    (&net.ListenConfig{KeepAlive: opts.Limits.KeepAlive}).Listen,
	}
	s.health = &health{checks: s.checks()}
	s.webhook = s.webhookRoutes()
	s.admin = s.adminRoutes()
	return s, nil
}

// checks returns the server's own checks, then those of the options.
func (s *Server) checks() []Check {
	checks := []Check{{Name: "draining", Check: func(context.Context) error {
		if s.draining.Load() {
			return errDraining
		}
		return nil
	}}}
	if s.opts.ExpectedCertificate != nil {
		s.self = newSelfCheck(s.opts.ExpectedCertificate, s.opts.SelfCheckInterval,
			func(localAddr string) {
				s.errors.own.Store(&localAddr)
				s.conns.exempt.Store(&localAddr)
			})
		checks = append(checks, Check{Name: "certificate", Check: s.self.check})
	}
	return append(checks, s.opts.Checks...)
}

// Handler returns the handler of the webhook listener.
func (s *Server) Handler() http.Handler { return s.webhook }

// Stats returns what is in progress now.
func (s *Server) Stats() Stats {
	stats := s.ledger.stats()
	stats.Connections, stats.ConnectionsLimit = s.conns.count(), s.opts.Limits.Connections
	return stats
}

// Listening returns a channel that is closed once both listeners accept connections; never if Run
// fails before.
func (s *Server) Listening() <-chan struct{} { return s.listening }

// Addr returns the address of the webhook listener, or nil until [Server.Listening] is closed.
func (s *Server) Addr() net.Addr {
	if !s.accepts() {
		return nil
	}
	return s.webhookListener.Addr()
}

// AdminAddr returns the address of the admin listener, or nil if there is none or
// [Server.Listening] is not closed yet.
func (s *Server) AdminAddr() net.Addr {
	if !s.accepts() || s.adminListener == nil {
		return nil
	}
	return s.adminListener.Addr()
}

// accepts reports whether listening is closed. Before that, the listeners must not be read.
func (s *Server) accepts() bool {
	select {
	case <-s.listening:
		return true
	default:
		return false
	}
}

// Run binds the listeners and serves until ctx ends, then stops in order. Readiness fails at once,
// and every answer on the webhook listener has `Connection: close`. After DrainDelay the server
// accepts no more connections, closes those that are idle for half a second, and gives requests in
// progress, or whose first byte has arrived, ShutdownTimeout to finish.
// It returns nil after an orderly stop. Otherwise its error is that of a listener that could not be
// bound, naming its key, or that failed, or says that requests were cut off. All goroutines have
// ended by then, except handlers that were cut off and have not noticed. A Server runs once.
func (s *Server) Run(ctx context.Context) error {
	if !s.running.CompareAndSwap(false, true) {
		return errors.New("the server has been run already")
	}
	if err := s.bind(ctx); err != nil {
		return err
	}

	webhook, admin := s.webhookServer(ctx), s.adminServer(ctx)
	failures := make(chan error, 2)
	var wg sync.WaitGroup
	wg.Go(func() { failures <- served("webhook", "listen", webhook.Serve(s.webhookListener)) })
	if s.adminListener != nil {
		wg.Go(func() { failures <- served("admin", "admin-listen", admin.Serve(s.adminListener)) })
	}
	checking, stopChecking := context.WithCancel(ctx)
	defer stopChecking()
	watching, stopWatching := context.WithCancel(context.WithoutCancel(ctx))
	defer stopWatching()
	if w := newHeapWatch(s.ledger, s.conns, s.opts.SocketMemory); w != nil {
		wg.Go(func() { w.run(watching) })
	}
	if s.self != nil {
		addr := s.webhookListener.Addr()
		wg.Go(func() {
			s.self.run(checking, func(ctx context.Context) error { return s.self.look(ctx, addr) })
		})
	}
	close(s.listening)

	var failure error
	select {
	case <-ctx.Done():
		failure = s.drain(failures)
	case failure = <-failures:
	}
	stopChecking()
	err := s.shutdown(ctx, webhook, admin)
	stopWatching()
	wg.Wait()
	return errors.Join(failure, err)
}

// served wraps the error of a Serve call with the listener's key.
func served(name, key string, err error) error {
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return fmt.Errorf("%s listener failed: %w: %s", name, err, key)
}

func (s *Server) webhookServer(ctx context.Context) *http.Server {
	srv := s.httpServer(ctx, s.webhook)
	srv.WriteTimeout = s.opts.Limits.Timeout + s.opts.Limits.WriteGrace
	return srv
}

// adminConnections bounds the connections to the admin listener: from the kubelet, Prometheus, and
// people who read a profile.
const adminConnections = 64

// adminWriteTimeout leaves room for a CPU profile of the usual 30 s.
const adminWriteTimeout = 2 * time.Minute

func (s *Server) adminServer(ctx context.Context) *http.Server {
	srv := s.httpServer(ctx, s.admin)
	srv.WriteTimeout = adminWriteTimeout
	return srv
}

// httpServer returns what both servers have in common. HTTP/2 is off: kube-apiserver never uses it
// for a webhook, and its past vulnerabilities (CVE-2023-44487, CVE-2023-45288) do not apply.
func (s *Server) httpServer(ctx context.Context, h http.Handler) *http.Server {
	l := &s.opts.Limits
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	return &http.Server{
		Handler:                      h,
		Protocols:                    protocols,
		ReadHeaderTimeout:            l.ReadHeaderTimeout, // conn sets the other read deadlines
		MaxHeaderBytes:               l.MaxHeaderBytes,
		ConnContext:                  withConn,
		ConnState:                    connState,
		DisableGeneralOptionsHandler: true, // it answers `OPTIONS *` with an empty 200
		ErrorLog:                     s.errors.logger(),
		// The end of ctx starts the drain; it must not end the requests in progress.
		BaseContext: func(net.Listener) context.Context { return context.WithoutCancel(ctx) },
	}
}

// bind opens both listeners or none, and reports all failures.
func (s *Server) bind(ctx context.Context) error {
	webhook, err := s.open(ctx, s.opts.Listen, "listen")
	var admin net.Listener
	var adminErr error
	if s.opts.AdminListen != "" {
		admin, adminErr = s.open(ctx, s.opts.AdminListen, "admin-listen")
	}
	if err = errors.Join(err, adminErr); err == nil {
		ctx = context.WithoutCancel(ctx)
		s.webhookListener = listen(ctx, webhook, s.opts.TLS, &s.opts.Limits, s.conns, s.errors)
		if admin != nil {
			s.adminListener = listen(ctx, admin, nil, &s.opts.Limits, newConns(adminConnections, func(string) {}), s.errors)
		}
		return nil
	}
	for _, l := range []net.Listener{webhook, admin} {
		if l != nil {
			_ = l.Close()
		}
	}
	return err
}

// open listens at the address of a key.
func (s *Server) open(ctx context.Context, address, key string) (net.Listener, error) {
	l, err := s.listen(ctx, "tcp", address)
	if err == nil {
		return l, nil
	}
	if failed, ok := errors.AsType[*net.OpError](err); ok {
		err = failed.Err // without the address
	}
	return nil, fmt.Errorf("%s: %w: choose another address with --%s=HOST:PORT", address, err, key)
}
