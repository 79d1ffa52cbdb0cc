package server_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/crdconvert/webhookd/internal/review/apistatus"
	"github.com/crdconvert/webhookd/internal/server"
	"github.com/crdconvert/webhookd/internal/server/gate"
)

// Memory that a handler reserves counts against the in-flight budget until the request is answered,
// and the error of Reserve is the right answer.
func TestReserve(t *testing.T) {
	t.Parallel()
	const budget = 1 << 20 // a quarter of it is reserved for small bodies
	tests := map[string]struct {
		held, asked int64
		code        int
		shed        string
		rejected    []int
	}{
		"there is enough":          {0, 500 << 10, http.StatusOK, "", nil},
		"others have it":           {500 << 10, 500 << 10, http.StatusTooManyRequests, gate.ShedBytes, nil},
		"there never will be":      {0, 1000 << 10, http.StatusRequestEntityTooLarge, "", []int{http.StatusRequestEntityTooLarge}},
		"a little next to a large": {500 << 10, 4 << 10, http.StatusOK, "", nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var shed []string
			var rejected []int
			first := make(chan struct{})
			release := make(chan struct{})
			var inFlight int64
			var s *running
			s = start(t, func(o *server.Options) {
				o.Limits.InFlightBytes, o.Limits.QueueWait = budget, 0
				o.Hooks.Shed = func(reason string) { shed = append(shed, reason) }
				o.Hooks.Rejected = func(code int) { rejected = append(rejected, code) }
				o.Webhook = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if r.URL.RawQuery == "hold" {
						if err := server.Reserve(r.Context(), tt.held); err != nil {
							t.Error(err)
						}
						close(first)
						<-release
						return
					}
					answerReserve(w, server.Reserve(r.Context(), tt.asked))
					inFlight = s.Stats().Bytes
				})
			})
			client := newClient(t)
			held := make(chan struct{})
			go func() {
				defer close(held)
				post(t, client, s.url()+"?hold", strings.NewReader("{}"))
			}()
			<-first
			got := post(t, client, s.url(), strings.NewReader("{}"))
			close(release)
			<-held
			if got.code != tt.code || strings.Join(shed, " ") != tt.shed || len(rejected) != len(tt.rejected) {
				t.Errorf("code %d, want %d; shed %v, rejected %v", got.code, tt.code, shed, rejected)
			}
			if tt.code == http.StatusRequestEntityTooLarge && !strings.Contains(got.message(t), "takes more memory than webhookd has") {
				t.Errorf("it says %s", got.body)
			}
			if tt.code == http.StatusOK && inFlight < tt.held+tt.asked {
				t.Errorf("%d bytes in flight, want %d", inFlight, tt.held+tt.asked)
			}
			eventually(t, "an empty gate", func() bool { return s.Stats().Bytes == 0 })
		})
	}
}

func answerReserve(w http.ResponseWriter, err error) {
	status, ok := errors.AsType[interface {
		error
		StatusCode() int
	}](err)
	switch {
	case ok && status.StatusCode() == http.StatusTooManyRequests:
		apistatus.WriteOverloaded(w, err.Error())
	case ok:
		apistatus.Write(w, status.StatusCode(), "", err.Error())
	default:
		w.Header().Set("Content-Length", strconv.Itoa(0))
	}
}

// Without a server nothing is bounded.
func TestReserveWithoutAServer(t *testing.T) {
	t.Parallel()
	if err := errors.Join(server.Reserve(context.WithoutCancel(t.Context()), 1<<40), server.Heavy(t.Context(), 1<<40)); err != nil {
		t.Error(err)
	}
	server.Hold(t.Context())()
	server.Yield(t.Context())
	server.Settle(t.Context(), 0)
}

// Held memory is counted after the answer until it is released; the request itself is not.
func TestHold(t *testing.T) {
	t.Parallel()
	released := make(chan func(), 1)
	s := start(t, func(o *server.Options) {
		o.Webhook = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			ctx := r.Context()
			if err := server.Reserve(ctx, 500<<10); err != nil {
				t.Error(err)
			}
			release := server.Hold(ctx)
			server.Hold(ctx)()    // a second call does nothing
			server.Settle(ctx, 0) // nor does this: it is not the request that needs it
			released <- func() {
				if err := server.Reserve(ctx, 100<<10); err != nil { // may still grow
					t.Error(err)
				}
				release()
			}
			w.Header().Set("Content-Length", strconv.Itoa(8<<10))
			_, _ = w.Write(make([]byte, 8<<10)) // which the held memory is not for
		})
	})
	if got := post(t, newClient(t), s.url(), strings.NewReader("{}")); got.code != http.StatusOK {
		t.Fatalf("code %d", got.code)
	}
	if got := s.Stats(); got.Bytes != 500<<10+2 || got.Requests != 0 {
		t.Errorf("after the answer: %+v", got)
	}
	(<-released)()
	if got := s.Stats(); got.Bytes != 0 || got.Requests != 0 {
		t.Errorf("in the end: %+v", got)
	}
}

// A large object waits for another one, and a review that waits for it has no turn after its time.
func TestHeavy(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		free := make(chan struct{})
		s := startPiped(t, func(o *server.Options) {
			o.Webhook = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				if err := server.Heavy(r.Context(), 1<<40); err != nil {
					apistatus.WriteOverloaded(w, err.Error())
					return
				}
				<-free
			})
		})
		first, second := s.raw(), s.raw()
		for _, c := range []*rawConn{first, second} {
			c.send(reviewHead + "\n{  }")
			synctest.Wait()
		}
		if got := second.receive(http.MethodPost); got.code != http.StatusTooManyRequests {
			t.Errorf("the second: %d", got.code)
		}
		close(free)
		if got := first.receive(http.MethodPost); got.code != http.StatusOK {
			t.Errorf("the first: %d", got.code)
		}
	})
}
