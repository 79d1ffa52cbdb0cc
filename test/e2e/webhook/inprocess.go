package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/review"
	"github.com/crdconvert/webhookd/internal/serve/metrics"
	"github.com/crdconvert/webhookd/internal/server"
	"github.com/crdconvert/webhookd/internal/tlsreload"
	"github.com/crdconvert/webhookd/test/helpers/exampletest"
)

// StartInProcess serves kinds that are not compiled into webhookd, along with those that are, wired
// as cmd/webhookd wires it, in the test's process and until the test ends. Its log has the failed
// reviews, panics and what net/http has to say; they fail the test unless they are allowed.
func StartInProcess(t *testing.T, o Options, kinds ...converters.Kind) *Process {
	t.Helper()
	if len(o.Flags) > 0 {
		t.Fatal("flags are for webhookd as a process: use webhook.Start")
	}
	p := newProcess(t, &o)
	w := p.wire(t, o.Listen, kinds)

	// Not the test's own context, which ends before the cleanups that still need the webhook.
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	p.pid = os.Getpid()
	p.interrupt = func() error { stop(); return nil }
	p.kill = func() error { stop(); return errors.New("a webhookd in process cannot be killed: use webhook.Start") }
	go func() {
		defer close(p.ended)
		p.err = w.run(ctx)
	}()
	t.Cleanup(p.cleanup)
	select {
	case <-w.server.Listening():
		p.addr, p.admin = w.server.Addr().String(), w.server.AdminAddr().String()
	case <-p.ended:
		t.Fatalf("webhookd does not start: %v", p.err)
	case <-time.After(patience):
		t.Fatal("webhookd does not start")
	}
	return p
}

// wired is the part of cmd/webhookd that serves.
type wired struct {
	source *tlsreload.Source
	server *server.Server
}

func (p *Process) wire(t *testing.T, listen string, kinds []converters.Kind) *wired {
	t.Helper()
	registry, err := converters.NewRegistry(slices.Concat(exampletest.Kinds(), kinds)...)
	if err != nil {
		t.Fatalf("converters: %v", err)
	}
	m := metrics.New(metrics.Build{Version: "test"})
	w := &wired{}
	if w.source, err = tlsreload.Open(t.Context(), tlsreload.Options{Dir: p.secret, Hooks: m.TLS()}); err != nil {
		t.Fatalf("certificate: %v", err)
	}
	reviewer := review.NewReviewer(func() *converters.Registry { return registry }, p.reviewHooks(m.Review()))
	hooks := m.Server()
	hooks.HTTPFailed = func(text string) { p.note(text, review.Pair{}, "") }
	w.server = server.New(server.Options{
		Webhook:     review.NewHandler(reviewer),
		Listen:      listen,
		AdminListen: "127.0.0.1:0",
		TLS:         w.source.TLSConfig(),
		Metrics:     m.Handler(),
		Hooks:       hooks,
	})
	m.WatchServer(w.server.Stats)
	return w
}

// run serves until ctx ends; the certificate is followed to the end of the drain.
func (w *wired) run(ctx context.Context) error {
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	var following sync.WaitGroup
	var followed error
	following.Go(func() { followed = w.source.Run(background) })
	err := w.server.Run(ctx)
	stop()
	following.Wait()
	return errors.Join(err, followed)
}

// reviewHooks count, and log what fails.
func (p *Process) reviewHooks(counted review.Hooks) review.Hooks {
	return review.Hooks{
		ReviewDone: func(ctx context.Context, r review.Result) {
			counted.ReviewDone(ctx, r)
			switch {
			case r.Rejected != nil:
				p.note("body rejected", r.Pair, r.Rejected.Error())
			case r.Failed > 0:
				p.note("review failed", r.Pair, r.Message)
			}
		},
		ObjectsDone:  counted.ObjectsDone,
		GuardRefused: counted.GuardRefused,
		Panicked: func(ctx context.Context, panicked review.Panic) {
			counted.Panicked(ctx, panicked)
			p.note("converter panicked", panicked.Pair, panicked.Type)
		},
	}
}

// note adds a warning to the log.
func (p *Process) note(msg string, pair review.Pair, what string) {
	line, err := json.Marshal(map[string]string{
		"level": "warn", "msg": msg, "kind": pair.Kind, "from": pair.From, "to": pair.To, "error": what,
	})
	if err != nil {
		line = []byte(err.Error())
	}
	p.log.add(string(line))
}
