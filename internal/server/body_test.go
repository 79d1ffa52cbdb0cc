package server_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crdconvert/webhookd/internal/apistatus"
	"github.com/crdconvert/webhookd/internal/server"
)

// shedding records why requests were shed.
type shedding struct {
	mu      sync.Mutex
	reasons []string
}

func (s *shedding) add(reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reasons = append(s.reasons, reason)
}

func (s *shedding) get() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reasons
}

// holder is a webhook handler that holds the requests whose body starts with "hold" until released.
func holder(t *testing.T) (h http.HandlerFunc, held <-chan struct{}, release func()) {
	t.Helper()
	entered, freed := make(chan struct{}, 16), make(chan struct{})
	free := sync.OnceFunc(func() { close(freed) })
	t.Cleanup(free)
	return func(w http.ResponseWriter, r *http.Request) {
		start := make([]byte, 4)
		if n, _ := io.ReadFull(r.Body, start); string(start[:n]) == "hold" {
			_, _ = io.Copy(io.Discard, r.Body)
			entered <- struct{}{}
			<-freed
		}
		echo(w, r)
	}, entered, free
}

func tightLimits(l *server.Limits) {
	l.InFlightBytes, l.SmallBodyBytes, l.SmallBodyShare = 1<<20, 4<<10, 25
	l.QueueWait = 20 * time.Millisecond
}

// TestOverload holds what a client is told where the bodies in flight take the whole budget, and that
// small requests still get through.
func TestOverload(t *testing.T) {
	t.Parallel()
	hold, held, release := holder(t)
	var sheds shedding
	s := start(t, func(o *server.Options) {
		o.Webhook = hold
		tightLimits(&o.Limits)
		o.Hooks.Shed = sheds.add
	})
	client := newClient(t)
	var wg sync.WaitGroup
	wg.Go(func() { post(t, client, s.url(), strings.NewReader("hold"+strings.Repeat(" ", 700<<10))) })
	<-held

	if got := s.Stats(); got.Requests != 1 || got.Bytes != 4+700<<10 || got.BytesLimit != 1<<20 {
		t.Errorf("stats %+v, want one request with its bytes", got)
	}
	big := post(t, client, s.url(), strings.NewReader(strings.Repeat(" ", 500<<10)))
	if big.code != http.StatusTooManyRequests || big.header.Get("Retry-After") != "1" ||
		!strings.Contains(big.message(t), "overloaded") {
		t.Errorf("large: %d, Retry-After %q, %s", big.code, big.header.Get("Retry-After"), big.body)
	}
	if little := post(t, client, s.url(), strings.NewReader(strings.Repeat(" ", 4<<10))); little.code != http.StatusOK {
		t.Errorf("small: %d, want 200", little.code)
	}
	if diff := cmp.Diff([]string{server.ShedBytes}, sheds.get()); diff != "" {
		t.Errorf("hook (-want +got):\n%s", diff)
	}
	release()
	wg.Wait()
	if again := post(t, client, s.url(), strings.NewReader(strings.Repeat(" ", 500<<10))); again.code != http.StatusOK {
		t.Errorf("afterwards: %d, want 200", again.code)
	}
}

func TestTooManyRequests(t *testing.T) {
	t.Parallel()
	hold, held, release := holder(t)
	var sheds shedding
	s := start(t, func(o *server.Options) {
		o.Webhook = hold
		tightLimits(&o.Limits)
		o.Limits.InFlightRequests = 1
		o.Hooks.Shed = sheds.add
	})
	client := newClient(t)
	var wg sync.WaitGroup
	wg.Go(func() { post(t, client, s.url(), strings.NewReader("hold")) })
	<-held
	if got := post(t, client, s.url(), strings.NewReader("{}")); got.code != http.StatusTooManyRequests {
		t.Errorf("code %d, want 429", got.code)
	}
	if got := get(t, client, strings.TrimSuffix(s.url(), server.DefaultPath)+"/readyz"); got.code != http.StatusOK {
		t.Errorf("readiness is shed too: %d", got.code)
	}
	if diff := cmp.Diff([]string{server.ShedRequests}, sheds.get()); diff != "" {
		t.Errorf("hook (-want +got):\n%s", diff)
	}
	release()
	wg.Wait()
}

// chunked hides a reader's length, so that the client sends it in chunks.
func chunked(s string) io.Reader { return io.MultiReader(strings.NewReader(s)) }

func TestChunkedBody(t *testing.T) {
	t.Parallel()
	hold, held, release := holder(t)
	var sheds shedding
	s := start(t, func(o *server.Options) {
		o.Webhook = hold
		tightLimits(&o.Limits)
		o.Limits.MaxBodyBytes = 300 << 10
		o.Hooks.Shed = sheds.add
	})
	client := newClient(t)
	for name, tt := range map[string]struct {
		size, code int
	}{
		"empty":                 {0, 200},
		"small":                 {10, 200},
		"one chunk's share":     {64 << 10, 200},
		"just more":             {64<<10 + 1, 200},
		"at the limit":          {300 << 10, 200},
		"one byte above":        {300<<10 + 1, 413},
		"far above":             {3 << 20, 413},
		"between two doublings": {150 << 10, 200},
	} {
		t.Run(name, func(t *testing.T) {
			got := post(t, client, s.url(), chunked(strings.Repeat("x", tt.size)))
			if got.code != tt.code || tt.code == 200 && tt.size > 4 && len(got.body) != tt.size-4 {
				t.Errorf("code %d with %d bytes, want %d with %d", got.code, len(got.body), tt.code, tt.size-4)
			}
			if tt.code != 200 && !strings.Contains(got.message(t), "limit 307200") {
				t.Errorf("the handler did not get an http.MaxBytesError with the limit: %s", got.body)
			}
		})
	}
	if got := s.Stats(); got.Requests != 0 || got.Bytes != 0 {
		t.Fatalf("after these the gate holds %+v", got)
	}

	// With most of the budget held, a body is cut off as it grows.
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() { post(t, client, s.url(), strings.NewReader("hold"+strings.Repeat(" ", 290<<10))) })
		<-held
	}
	got := post(t, client, s.url(), chunked(strings.Repeat("x", 290<<10)))
	if got.code != http.StatusTooManyRequests || got.header.Get("Retry-After") != "1" {
		t.Errorf("code %d, want 429", got.code)
	}
	got.message(t)
	if diff := cmp.Diff([]string{server.ShedBytes}, sheds.get()); diff != "" {
		t.Errorf("hook (-want +got):\n%s", diff)
	}
	release()
	wg.Wait()
}

// TestPanic holds that no panic drops a connection without an answer, as long as there is none yet.
func TestPanic(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var types []string
	s := start(t, func(o *server.Options) {
		o.Hooks.Panicked = func(valueType string, stack []byte) {
			mu.Lock()
			defer mu.Unlock()
			types = append(types, valueType)
			if !strings.Contains(string(stack), "TestPanic") || strings.Contains(string(stack), "secret") {
				t.Errorf("stack:\n%s", stack)
			}
		}
		o.Webhook = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch kind, _ := io.ReadAll(r.Body); string(kind) {
			case "value":
				panic("secret")
			case "error":
				panic(errors.New("secret"))
			case "nil":
				panic(nil) //nolint:govet // as careless code does
			case "map":
				var m map[string]int
				m["secret"]++
			case "late":
				w.Header().Set("Content-Type", "application/json")
				_, _ = w.Write([]byte(`{"half":`))
				panic("secret")
			case "abort":
				panic(http.ErrAbortHandler)
			}
		})
	})
	client := newClient(t)
	for _, kind := range []string{"value", "error", "nil", "map"} {
		got := post(t, client, s.url(), strings.NewReader(kind))
		if got.code != http.StatusInternalServerError || strings.Contains(got.body, "secret") {
			t.Errorf("%s: %d %s", kind, got.code, got.body)
		}
		got.message(t)
	}
	for _, kind := range []string{"late", "abort"} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url(), strings.NewReader(kind))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		if resp, err := client.Do(req); err == nil {
			resp.Body.Close()
			t.Errorf("%s: code %d, want a broken connection", kind, resp.StatusCode)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	want := []string{"string", "*errors.errorString", "*runtime.PanicNilError", "runtime.plainError", "string"}
	if diff := cmp.Diff(want, types); diff != "" {
		t.Errorf("hook (-want +got):\n%s", diff)
	}
	if got := s.Stats(); got.Requests != 0 {
		t.Errorf("the gate still holds %+v", got)
	}
}

// TestRejectedHook holds that each refusal is counted once, and an overload not among them.
func TestRejectedHook(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var codes []int
	s := start(t, func(o *server.Options) {
		o.Limits.MaxBodyBytes = 4
		o.Hooks.Rejected = func(code int) {
			mu.Lock()
			defer mu.Unlock()
			codes = append(codes, code)
		}
	})
	client := newClient(t)
	get(t, client, s.url())
	get(t, client, s.url()+"/x")
	post(t, client, s.url(), strings.NewReader("12345"))
	post(t, client, s.url(), strings.NewReader("1234"))
	mu.Lock()
	defer mu.Unlock()
	if diff := cmp.Diff([]int{405, 404, 413}, codes); diff != "" {
		t.Errorf("hook (-want +got):\n%s", diff)
	}
}

// TestDeadlineReachesHandler holds that the handler learns how long the client will wait.
func TestDeadlineReachesHandler(t *testing.T) {
	t.Parallel()
	s, err := server.New(options(t, func(o *server.Options) {
		o.Webhook = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			deadline, ok := r.Context().Deadline()
			if !ok {
				t.Error("no deadline")
			}
			apistatus.Write(w, http.StatusTeapot, "", time.Until(deadline).Round(time.Second).String())
		})
	}))
	if err != nil {
		t.Fatal(err)
	}
	for query, want := range map[string]string{"?timeout=30s": "29s", "?timeout=10s": "9s", "": "29s", "?timeout=x": "29s"} {
		_, body := servePost(t, s.Handler(), server.DefaultPath+query)
		if !strings.Contains(body, `"`+want+`"`) {
			t.Errorf("%s: %s, want %s", query, body, want)
		}
	}
}
