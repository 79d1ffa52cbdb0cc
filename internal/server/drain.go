package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// adminShutdownTimeout bounds the wait for a probe or a scrape; a profile is not waited for.
const adminShutdownTimeout = time.Second

// drain lets clients move elsewhere: for DrainDelay the server goes on as ever, but says that it is
// not ready and ends each connection with its next answer. Endpoint lists and load balancers lag
// behind, and kube-apiserver does not repeat a POST that broke. Keep-alive must not be turned off
// here: http.Server.SetKeepAlivesEnabled closes idle connections under their clients' hands.
// It returns early, with the error, when a listener fails.
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
		s.opts.Hooks.draining()
	}
}

// shutdown ends both servers, the webhook first so that probes and metrics are there to the last.
// ctx has ended already; only its values count.
func (s *Server) shutdown(ctx context.Context, webhook, admin *http.Server) error {
	ctx = context.WithoutCancel(ctx)
	s.startDraining()
	err := s.finish(ctx, webhook)
	if err != nil {
		err = fmt.Errorf("requests still in progress after %s were cut: %w: shutdown-timeout", s.opts.ShutdownTimeout, err)
	}
	// What the admin server cuts short is nobody's loss.
	ctx, cancel := context.WithTimeout(ctx, adminShutdownTimeout)
	defer cancel()
	_ = closeServer(ctx, admin)
	return err
}

// finish takes the connections that came before the listener closed, and gives what comes on them ShutdownTimeout to be
// answered. net/http is told only when there are none: see rest.
func (s *Server) finish(ctx context.Context, webhook *http.Server) error {
	ctx, cancel := context.WithTimeout(ctx, s.opts.ShutdownTimeout)
	defer cancel()
	s.webhookListener.retire()
	select {
	case <-s.conns.end():
	case <-ctx.Done():
	}
	return closeServer(ctx, webhook)
}

func closeServer(ctx context.Context, srv *http.Server) error {
	if err := srv.Shutdown(ctx); err != nil {
		return errors.Join(err, srv.Close())
	}
	return nil
}
