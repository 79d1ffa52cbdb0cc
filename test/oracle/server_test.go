package oracle_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/review"
	"github.com/crdconvert/webhookd/internal/server"
	"github.com/crdconvert/webhookd/internal/server/listen"
	"github.com/crdconvert/webhookd/internal/tlsreload"
	"github.com/crdconvert/webhookd/test/helpers/exampletest"
	"github.com/crdconvert/webhookd/test/helpers/tlstest"
	"github.com/crdconvert/webhookd/test/helpers/wait"

	"github.com/crdconvert/webhookd/test/oracle/apiclient"
)

// A setup says how a webhookd differs from the one that `webhookd serve --tls-dir` runs by default.
type setup struct {
	kinds  []converters.Kind // in addition to the builtin ones
	limits server.Limits
	hooks  server.Hooks
}

// A webhookd is a running server, wired as cmd/webhookd does it.
type webhookd struct {
	*server.Server

	t      *testing.T
	ca     *tlstest.CA
	source *tlsreload.Source
	log    lines // of net/http

	stop context.CancelFunc
	done chan struct{} // closed when Run has returned err
	err  error
}

// serve runs a server with a certificate of ca until the test ends, which it has to do without an
// error.
func serve(t *testing.T, ca *tlstest.CA, change func(*setup)) *webhookd {
	t.Helper()
	s := setup{limits: server.DefaultLimits()}
	if change != nil {
		change(&s)
	}
	w := &webhookd{t: t, ca: ca, done: make(chan struct{})}
	secret := filepath.Join(t.TempDir(), "tls")
	tlstest.WriteSecretDir(t, secret, ca.Issue(t, tlstest.Leaf{Hosts: []string{apiclient.ServiceHost, "127.0.0.1"}}).Files())
	w.wire(&s, secret)

	// Not the test's own context, which ends before the cleanups that stop what calls the server.
	parent := context.WithoutCancel(t.Context())
	background, stopFollowing := context.WithCancel(parent)
	var ctx context.Context
	ctx, w.stop = context.WithCancel(parent)
	var following sync.WaitGroup
	following.Go(func() { w.source.Run(background) })
	go func() {
		defer close(w.done)
		w.err = w.Run(ctx)
		stopFollowing()
		following.Wait()
	}()
	t.Cleanup(func() {
		w.stop()
		if err := w.wait(); err != nil {
			t.Errorf("the server ended with an error: %v", err)
		}
	})
	select {
	case <-w.Listening():
	case <-w.done:
		t.Fatalf("the server does not start: %v", w.err)
	}
	return w
}

func (w *webhookd) wire(s *setup, secret string) {
	w.t.Helper()
	var err error
	if w.source, err = tlsreload.Open(w.t.Context(), tlsreload.Options{Dir: secret}); err != nil {
		w.t.Fatalf("certificate: %v", err)
	}
	registry, err := converters.NewRegistry(slices.Concat(exampletest.Kinds(), s.kinds)...)
	if err != nil {
		w.t.Fatalf("registry: %v", err)
	}
	reviewer := review.NewReviewer(func() *converters.Registry { return registry }, review.Hooks{})
	hooks := s.hooks
	hooks.HTTPFailed = func(text string) { _, _ = w.log.Write([]byte(text + "\n")) }
	hooks.HandshakeFailed = func(reason, text string) {
		if reason != listen.HandshakeClosed {
			hooks.HTTPFailed(text)
		}
	}
	w.Server = server.New(server.Options{
		Webhook: review.NewHandler(reviewer),
		Listen:  "127.0.0.1:0",
		TLS:     w.source.TLSConfig(),
		Limits:  s.limits,
		Hooks:   hooks,
	})
}

// wait returns Run's error.
func (w *webhookd) wait() error {
	select {
	case <-w.done:
		return w.err
	case <-time.After(wait.Patience):
		return errors.New("the server does not end")
	}
}

// byService and byURL are the two ways in which a CRD can refer to the server.
func (w *webhookd) byService(reviews ...string) apiclient.Hook {
	return apiclient.Hook{Path: server.DefaultPath, CABundle: w.ca.PEM, Reviews: reviews}
}

func (w *webhookd) byURL(reviews ...string) apiclient.Hook {
	return apiclient.Hook{URL: "https://" + w.address() + server.DefaultPath, CABundle: w.ca.PEM, Reviews: reviews}
}

func (w *webhookd) address() string { return w.Addr().String() }

// client is an API server that resolves the Service to w.
func (w *webhookd) client() *apiclient.Server { return &apiclient.Server{Endpoint: w.address} }

// noErrors fails the test if net/http had anything to complain of, such as a failed handshake.
func (w *webhookd) noErrors() {
	w.t.Helper()
	if said := w.log.all(); len(said) > 0 {
		w.t.Errorf("the server's log:\n%s", strings.Join(said, ""))
	}
}

// lines keeps what is written to it.
type lines struct {
	mu   sync.Mutex
	text []string
}

// Write implements io.Writer.
func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = append(l.text, string(p))
	return len(p), nil
}

func (l *lines) all() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.text)
}
