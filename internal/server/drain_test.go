package server_test

import (
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/crdconvert/webhookd/internal/server"
)

// TestDrainUnderLoad stops one of two replicas under load. As in a cluster, the endpoints change
// only some time after the signal. No call may fail (I26). In a bubble the times are the real ones,
// and no machine is too slow for them.
func TestDrainUnderLoad(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const lag = 10 * time.Second
		slow := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			<-time.After(200 * time.Millisecond)
			echo(w, r)
		})
		replica := func() *piped {
			return startPiped(t, func(o *server.Options) { o.Webhook, o.DrainDelay = slow, drained })
		}
		old, next := replica(), replica()
		var endpoint atomic.Pointer[piped] // target of new connections
		endpoint.Store(old)
		client := pipeClient(t, endpoint.Load)

		var over atomic.Bool
		var calls, closedByServer atomic.Int64
		var wg sync.WaitGroup
		for range 16 {
			wg.Go(func() {
				for !over.Load() {
					got := post(t, client, "https://webhookd.test"+server.DefaultPath+"?timeout=30s", strings.NewReader(`{"some":"review"}`))
					if got.code != http.StatusOK {
						t.Errorf("code %d, want 200", got.code)
					}
					if calls.Add(1); got.close {
						closedByServer.Add(1)
					}
				}
			})
		}
		// more lets time pass, and checks that there were calls.
		more := func(d time.Duration) {
			before := calls.Load()
			if <-time.After(d); calls.Load() == before {
				t.Error("no calls")
			}
		}
		more(time.Second + 7*time.Millisecond)
		if closedByServer.Load() != 0 {
			t.Error("connections are closed before there is a reason")
		}

		old.stop()
		more(time.Second)
		if closedByServer.Load() == 0 {
			t.Error("no answer ends its connection")
		}
		wantDraining(t, old.Server)
		more(lag - time.Second)
		endpoint.Store(next)
		if err := old.wait(); err != nil {
			t.Errorf("Run: %v", err)
		}
		more(time.Second)
		over.Store(true)
		wg.Wait()
	})
}

// wantDraining checks the state of a draining server.
func wantDraining(t *testing.T, s *server.Server) {
	t.Helper()
	if code, body := serve(t, server.AdminHandler(s), http.MethodGet, "/readyz", "192.0.2.1:1"); code != http.StatusServiceUnavailable ||
		!strings.Contains(body, "draining: the server is shutting down") {
		t.Errorf("readiness %d %q while draining", code, body)
	}
	if code, _ := serve(t, server.AdminHandler(s), http.MethodGet, "/livez", "192.0.2.1:1"); code != http.StatusOK {
		t.Errorf("liveness %d while draining", code)
	}
}

// TestShutdownFinishesWhatRuns checks that a request in progress outlives the drain delay.
func TestShutdownFinishesWhatRuns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hold, held, release := holder(t)
		var drained atomic.Int64
		s := startPiped(t, func(o *server.Options) {
			o.Webhook, o.DrainDelay = hold, time.Second
			o.Hooks.Draining = func() { drained.Add(1) }
		})
		c := s.raw()
		c.send(reviewHead + "\nhold")
		<-held
		s.stop()
		<-time.After(2 * time.Second)
		if _, err := s.dial(); err == nil {
			t.Error("the listener is still open")
		}
		select {
		case <-s.done:
			t.Error("Run returns while a request is in progress")
		default:
		}
		release()
		if got := c.receive(http.MethodPost); got.code != http.StatusOK {
			t.Errorf("code %d, body %q", got.code, got.body)
		}
		if err := s.wait(); err != nil {
			t.Errorf("Run: %v", err)
		}
		if drained.Load() != 1 {
			t.Errorf("the hook was called %d times", drained.Load())
		}
	})
}

// TestShutdownTimeout checks that a handler that does not return cannot keep the process, and that
// Run reports it.
func TestShutdownTimeout(t *testing.T) {
	t.Parallel()
	hold, held, release := holder(t)
	s := start(t, func(o *server.Options) {
		o.Webhook = hold
		o.ShutdownTimeout = 10 * time.Millisecond
	})
	c := dialRaw(t, s.Addr())
	c.send("POST /crdconvert HTTP/1.1\nHost: x\nContent-Type: application/json\nContent-Length: 4\n\nhold")
	<-held
	s.stop()
	if err := s.wait(); err == nil || !strings.Contains(err.Error(), "shutdown-timeout") {
		t.Errorf("Run: %v, want it to name shutdown-timeout", err)
	}
	release()
	if !c.closed() {
		t.Error("the connection stays open")
	}
}

func TestListenErrorsNameTheirKey(t *testing.T) {
	t.Parallel()
	taken, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = taken.Close() }) // after the parallel subtests
	busy := taken.Addr().String()
	const inUse = ": bind: address already in use: choose another address with "
	for name, tt := range map[string]struct{ listen, admin, want string }{
		"webhook":   {busy, "127.0.0.1:0", busy + inUse + "--listen=HOST:PORT"},
		"admin":     {"127.0.0.1:0", busy, busy + inUse + "--admin-listen=HOST:PORT"},
		"both":      {busy, busy, busy + inUse + "--listen=HOST:PORT\n" + busy + inUse + "--admin-listen=HOST:PORT"},
		"no number": {"127.0.0.1:tea", "127.0.0.1:0", "127.0.0.1:tea: lookup tcp/tea: unknown port: choose another address with --listen=HOST:PORT"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := server.New(options(t, func(o *server.Options) { o.Listen, o.AdminListen = tt.listen, tt.admin }))
			if err := s.Run(t.Context()); err == nil || err.Error() != tt.want {
				t.Errorf("Run: %v, want %s", err, tt.want)
			}
		})
	}
}

// TestListenerFailure checks that a listener that fails while serving ends Run with its error,
// after the requests in progress.
func TestListenerFailure(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		broken func(s *running) io.Closer
		want   string
	}{
		"webhook": {func(s *running) io.Closer { return server.WebhookListener(s.Server) }, "listen: "},
		"admin":   {func(s *running) io.Closer { return server.AdminListener(s.Server) }, "admin-listen: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var drains atomic.Bool
			s := start(t, func(o *server.Options) { o.Hooks.Draining = func() { drains.Store(true) } })
			if err := tt.broken(s).Close(); err != nil {
				t.Fatal(err)
			}
			if err := s.wait(); !errors.Is(err, net.ErrClosed) || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("Run: %v, want the listener's error and its key", err)
			}
			if !drains.Load() {
				t.Error("it is ready until its end")
			}
		})
	}
}

func TestWithoutAdminListener(t *testing.T) {
	t.Parallel()
	s := start(t, func(o *server.Options) { o.AdminListen = "" })
	if got := post(t, newClient(t), s.url(), strings.NewReader("{}")); got.code != http.StatusOK {
		t.Errorf("code %d, want 200", got.code)
	}
	if s.AdminAddr() != nil {
		t.Error("there is an admin address")
	}
}
