package tlsreload

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crdconvert/webhookd/test/helpers/tlstest"
)

// patience bounds waits for events that must happen; a passing test never waits that long.
const patience = 2 * time.Minute

// fast is a poll interval for tests with sockets, which are in no bubble.
const fast = 2 * time.Millisecond

// A log records the calls of the hooks.
type log struct {
	mu      sync.Mutex
	lines   []string
	reasons []string // of Failed
}

func (l *log) add(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, line)
}

func (l *log) addError(line string, err error) {
	l.add(line)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reasons = append(l.reasons, err.Error())
}

func (l *log) hooks() Hooks {
	return Hooks{
		Reloaded:         func(Event) { l.add("reloaded") },
		ClientCAReloaded: func(n int) { l.add(fmt.Sprintf("client CA reloaded: %d", n)) },
		Waiting:          func(Event) { l.add("waiting") },
		Failed:           func(err error) { l.addError("failed", err) },
		Recovered:        func() { l.add("recovered") },
	}
}

// expect compares the calls of the hooks so far.
func (l *log) expect(t *testing.T, want ...string) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	if diff := cmp.Diff(want, l.lines); diff != "" {
		t.Fatalf("hooks were called (-want +got):\n%s\nreasons: %q", diff, l.reasons)
	}
}

func (l *log) lastReason() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.reasons) == 0 {
		return ""
	}
	return l.reasons[len(l.reasons)-1]
}

// secretDir returns a directory with the pair as a mounted Secret.
func secretDir(t *testing.T, p tlstest.Pair) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "tls")
	tlstest.WriteSecretDir(t, dir, p.Files())
	return dir
}

func open(t *testing.T, opts Options) *Source {
	t.Helper()
	s, err := Open(t.Context(), opts)
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	return s
}

// openUpdated is open, and returns a channel with a signal after each later change.
func openUpdated(t *testing.T, opts Options) (*Source, <-chan struct{}) {
	t.Helper()
	updated := make(chan struct{}, 1)
	signal := func() {
		select {
		case updated <- struct{}{}:
		default:
		}
	}
	hooks := opts.Hooks
	opts.Hooks.Reloaded = func(e Event) { call(hooks.Reloaded, e); signal() }
	opts.Hooks.ClientCAReloaded = func(n int) { call(hooks.ClientCAReloaded, n); signal() }
	s := open(t, opts)
	<-updated
	return s, updated
}

// run runs the source until the test ends.
func run(t *testing.T, s *Source) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context())) // t.Context ends before the cleanups
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.Run(ctx)
	}()
	t.Cleanup(func() {
		select {
		case <-ended:
			t.Error("Run returned before its context ended")
		default:
		}
		cancel()
		<-ended
	})
}

// pass advances the clock of a synctest bubble and runs what is due. It panics elsewhere.
func pass(d time.Duration) {
	time.Sleep(d) //nolint:forbidigo // the bubble's clock
	synctest.Wait()
}

// await fails the test if c is not closed or sent to in time.
func await(t *testing.T, c <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(patience):
		t.Fatalf("not seen in %s: %s", patience, what)
	}
}

func expectServed(t *testing.T, s *Source, want tlstest.Pair) {
	t.Helper()
	if got := s.Certificate().Leaf; !got.Equal(want.Leaf) {
		t.Fatalf("served: %s (%s to %s), want %s (%s to %s)",
			got.SerialNumber, got.NotBefore, got.NotAfter,
			want.Leaf.SerialNumber, want.Leaf.NotBefore, want.Leaf.NotAfter)
	}
}

// listen serves handshakes until the test ends: each connection gets "ok" and is closed.
func listen(t *testing.T, config *tls.Config) string {
	t.Helper()
	listener, err := tls.Listen("tcp", "127.0.0.1:0", config)
	if err != nil {
		t.Fatalf("listen: %v", err)
	}
	var conns sync.WaitGroup
	conns.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			conns.Go(func() {
				defer func() { _ = conn.Close() }()
				_ = conn.SetDeadline(time.Now().Add(patience))
				_, _ = io.WriteString(conn, "ok") // the client notices a failure
			})
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		conns.Wait()
	})
	return listener.Addr().String()
}

// dial makes a connection and reads from it: with TLS 1.3 a client learns only then that its
// certificate was refused.
func dial(ctx context.Context, addr string, config *tls.Config) (tls.ConnectionState, error) {
	conn, err := (&tls.Dialer{NetDialer: &net.Dialer{Timeout: patience}, Config: config}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return tls.ConnectionState{}, err
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(patience))
	if said, err := io.ReadAll(conn); err != nil || string(said) != "ok" {
		return tls.ConnectionState{}, fmt.Errorf("server said %q: %w", said, err)
	}
	return conn.(*tls.Conn).ConnectionState(), nil
}

func mustDial(t *testing.T, addr string, config *tls.Config) tls.ConnectionState {
	t.Helper()
	state, err := dial(t.Context(), addr, config)
	if err != nil {
		t.Fatalf("handshake: %v", err)
	}
	return state
}

// hammer runs clients that do one handshake after another until stop is called, which returns the
// number of handshakes. A failed one fails the test.
func hammer(t *testing.T, addr string, roots *x509.CertPool, clients int) (stop func() int) {
	t.Helper()
	done := make(chan struct{})
	counts := make([]int, clients)
	var group sync.WaitGroup
	for i := range clients {
		group.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				if _, err := dial(t.Context(), addr, &tls.Config{RootCAs: roots, ServerName: "localhost"}); err != nil {
					t.Errorf("handshake: %v", err)
					return
				}
				counts[i]++
			}
		})
	}
	return func() int {
		close(done)
		group.Wait()
		total := 0
		for _, n := range counts {
			total += n
		}
		return total
	}
}
