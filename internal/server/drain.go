package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// adminShutdownTimeout bounds the wait for a probe or a scrape. A profile is cut off.
const adminShutdownTimeout = time.Second

// drain gives clients time to move elsewhere. For DrainDelay the server keeps serving, but is not
// ready, and ends each connection with its next answer. Endpoint lists and load balancers lag
// behind, and kube-apiserver does not repeat a POST that broke. It must not turn off keep-alive:
// http.Server.SetKeepAlivesEnabled closes idle connections just as clients use them. It returns
// early, with the error, when a listener fails.
func (s *Server) drain(failures <-chan error) error {
	s.startDraining()
	timer := time.NewTimer(s.opts.DrainDelay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case err := <-failures:
		return err
	}
}

func (s *Server) startDraining() {
	if s.draining.CompareAndSwap(false, true) {
		s.opts.Hooks.Draining()
	}
}

// shutdown ends both servers, the webhook first, so probes and metrics work until the end. It uses
// only the values of ctx, which has ended already.
func (s *Server) shutdown(ctx context.Context, webhook, admin *http.Server) error {
	ctx = context.WithoutCancel(ctx)
	s.startDraining()
	err := s.finish(ctx, webhook)
	if err != nil {
		err = fmt.Errorf("shutdown-timeout: requests still in progress after %s were cut: %w", s.opts.ShutdownTimeout, err)
	}
	// Requests to the admin server may be cut off.
	ctx, cancel := context.WithTimeout(ctx, adminShutdownTimeout)
	defer cancel()
	_ = closeServer(ctx, admin)
	return err
}

// finish accepts the connections that the kernel completed before the listener closed, and gives
// all requests ShutdownTimeout. It shuts net/http down only when no connection is left: see
// listen.Conns.
func (s *Server) finish(ctx context.Context, webhook *http.Server) error {
	ctx, cancel := context.WithTimeout(ctx, s.opts.ShutdownTimeout)
	defer cancel()
	s.webhookListener.Retire()
	select {
	case <-s.conns.End():
	case <-ctx.Done():
	}
	return closeServer(ctx, webhook)
}

func closeServer(ctx context.Context, srv *http.Server) error {
	return errors.Join(srv.Shutdown(ctx), srv.Close())
}
