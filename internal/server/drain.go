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
	err := closeWithin(ctx, webhook, s.opts.ShutdownTimeout)
	if err != nil {
		err = fmt.Errorf("requests still in progress after %s were cut: %w: shutdown-timeout", s.opts.ShutdownTimeout, err)
	}
	// What the admin server cuts short is nobody's loss.
	_ = closeWithin(ctx, admin, adminShutdownTimeout)
	return err
}

func closeWithin(ctx context.Context, srv *http.Server, timeout time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if err := srv.Shutdown(ctx); err != nil {
		return errors.Join(err, srv.Close())
	}
	return nil
}
