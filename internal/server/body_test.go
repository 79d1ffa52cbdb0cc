package server_test

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crdconvert/webhookd/internal/review/apistatus"
	"github.com/crdconvert/webhookd/internal/server"
	"github.com/crdconvert/webhookd/internal/server/gate"
)

// record collects what a hook is called with.
type record[T any] struct {
	mu  sync.Mutex
	all []T
}

func (r *record[T]) add(value T) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, value)
}

func (r *record[T]) get() []T {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.all
}

// holder returns a webhook handler that holds requests whose body starts with "hold" until release.
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
	l.InFlightBytes, l.QueueWait = 1<<20, 20*time.Millisecond
}

// TestOverload checks the answer while the bodies in flight use the whole budget. Small requests
// still get through.
func TestOverload(t *testing.T) {
	t.Parallel()
	hold, held, release := holder(t)
	var sheds record[string]
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
	if got := get(t, client, strings.TrimSuffix(s.url(), server.DefaultPath)+"/readyz"); got.code != http.StatusOK {
		t.Errorf("readiness is shed too: %d", got.code)
	}
	if diff := cmp.Diff([]string{gate.ShedBytes}, sheds.get()); diff != "" {
		t.Errorf("hook (-want +got):\n%s", diff)
	}
	release()
	wg.Wait()
	if again := post(t, client, s.url(), strings.NewReader(strings.Repeat(" ", 500<<10))); again.code != http.StatusOK {
		t.Errorf("afterwards: %d, want 200", again.code)
	}
}

// TestContentLengthTakesNoMemory checks that only the part of a body that has arrived counts.
func TestContentLengthTakesNoMemory(t *testing.T) {
	t.Parallel()
	s := start(t, func(o *server.Options) { o.Limits.InFlightBytes = 100 << 20 })
	for _, size := range []int{1 << 20, 34 << 20, 60 << 20} {
		c := dialRaw(t, s.Addr())
		c.send(strings.Replace(reviewHead, "4\n", strconv.Itoa(size)+"\n\n{", 1))
	}
	eventually(t, "three requests", func() bool { return s.Stats().Requests == 3 })
	if got := s.Stats(); got.Bytes > 64<<10 || got.Connections != 3 {
		t.Errorf("three bodies of one byte so far take %d bytes, on %d connections", got.Bytes, got.Connections)
	}
}

// chunked hides a reader's length, so the client sends it in chunks.
func chunked(s string) io.Reader { return io.MultiReader(strings.NewReader(s)) }

func TestChunkedBody(t *testing.T) {
	t.Parallel()
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
			t.Parallel()
			hold, _, _ := holder(t)
			s := start(t, func(o *server.Options) {
				o.Webhook = hold
				tightLimits(&o.Limits)
				o.Limits.MaxBodyBytes = 300 << 10
			})
			got := post(t, newClient(t), s.url(), chunked(strings.Repeat("x", tt.size)))
			if got.code != tt.code || tt.code == 200 && tt.size > 4 && len(got.body) != tt.size-4 {
				t.Errorf("code %d with %d bytes, want %d with %d", got.code, len(got.body), tt.code, tt.size-4)
			}
			if tt.code != 200 && !strings.Contains(got.message(t), "limit 307200") {
				t.Errorf("the handler did not get an http.MaxBytesError with the limit: %s", got.body)
			}
			eventually(t, "an empty gate", func() bool { return s.Stats().Requests == 0 && s.Stats().Bytes == 0 })
		})
	}
}

// TestChunkedBodyIsShed checks that a growing body is shed when most of the budget is held.
func TestChunkedBodyIsShed(t *testing.T) {
	t.Parallel()
	hold, held, release := holder(t)
	var sheds record[string]
	var rejects record[int]
	s := start(t, func(o *server.Options) {
		o.Webhook = hold
		tightLimits(&o.Limits)
		o.Limits.MaxBodyBytes = 260 << 10
		o.Hooks.Shed, o.Hooks.Rejected = sheds.add, rejects.add
	})
	client := newClient(t)
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() { post(t, client, s.url(), strings.NewReader("hold"+strings.Repeat(" ", 250<<10))) })
		<-held
	}
	got := post(t, client, s.url(), chunked(strings.Repeat("x", 250<<10)))
	if got.code != http.StatusTooManyRequests || got.header.Get("Retry-After") != "1" {
		t.Errorf("code %d, want 429", got.code)
	}
	got.message(t)
	if diff := cmp.Diff([]string{gate.ShedBytes}, sheds.get()); diff != "" {
		t.Errorf("hook Shed (-want +got):\n%s", diff)
	}
	if codes := rejects.get(); len(codes) != 0 {
		t.Errorf("it is counted as rejected too: %v", codes)
	}
	release()
	wg.Wait()
}

// TestUnreadAnswerIsCounted checks that an answer that is not read holds what its handler settled
// for and the records below TLS, but no turn. Without room for records, none are gathered.
func TestUnreadAnswerIsCounted(t *testing.T) {
	t.Parallel()
	for budget, records := range map[int64]int64{1 << 30: 64 << 10, 450 << 10: 0} {
		synctest.Test(t, func(t *testing.T) {
			var written atomic.Int64
			s := startPiped(t, func(o *server.Options) {
				o.Limits.InFlightBytes = budget
				o.Webhook = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					_, _ = io.Copy(io.Discard, r.Body)
					if err := server.Reserve(r.Context(), 310<<10); err != nil {
						t.Error(err)
					}
					server.Settle(r.Context(), 300<<10)
					w.Header().Set("Content-Length", strconv.Itoa(300<<10))
					for range 300 {
						n, _ := w.Write(make([]byte, 1<<10))
						written.Add(int64(n))
					}
				})
			})
			c := s.raw()
			c.send(reviewHead + "\n{  }")
			synctest.Wait()
			if got := s.Stats(); got.Bytes != 300<<10+records {
				t.Errorf("%d bytes are counted, want %d", got.Bytes, 300<<10+records)
			}
			if got, least := written.Load(), records*3/4; got < least || got > least+(32<<10) {
				t.Errorf("%d bytes are gathered of an answer that is not read, want those of %d bytes of records", got, records)
			}
			c.receive(http.MethodPost)
			synctest.Wait()
			if got := s.Stats(); got.Bytes != 0 || got.Requests != 0 {
				t.Errorf("in the end: %+v", got)
			}
		})
	}
}

// TestClientThatLeavesHoldsNothing has clients leave while their review waits for its turn, or is
// converted. Neither is counted as shed.
func TestClientThatLeavesHoldsNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := startPiped(t, func(o *server.Options) {
			o.Hooks.Shed = func(reason string) { t.Errorf("shed: %s", reason) }
			o.Webhook = http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				if server.Heavy(r.Context(), 1<<40) == nil {
					<-r.Context().Done()
				}
			})
		})
		converted, waiting := s.raw(), s.raw()
		converted.send(reviewHead + "\n{  }")
		synctest.Wait()
		waiting.send(reviewHead + "\n{  }")
		synctest.Wait()
		if got := s.Stats(); got.Requests != 2 || got.Waiting != 1 {
			t.Errorf("%+v, want one that waits for the other", got)
		}
		for _, c := range []*rawConn{waiting, converted} {
			_ = c.Close()
			synctest.Wait()
		}
		if got := s.Stats(); got.Requests != 0 || got.Waiting != 0 || got.Bytes != 0 {
			t.Errorf("in the end: %+v", got)
		}
	})
}

func TestHooksAreOptional(t *testing.T) {
	t.Parallel()
	s := server.New(options(t, func(o *server.Options) {
		o.Path = "/other/"
		o.Webhook = http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("secret") })
	}))
	for _, path := range []string{"/other", "/other/"} {
		if code, body := servePost(t, s.Handler(), path); code != http.StatusInternalServerError {
			t.Errorf("%s: %d %s", path, code, body)
		}
	}
}

// TestPanic checks that a panic never drops a connection before an answer has begun.
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
			case "index":
				_ = kind[2*len(kind)]
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
	for _, kind := range []string{"value", "error", "nil", "index"} {
		got := post(t, client, s.url(), strings.NewReader(kind))
		if message := got.message(t); got.code != http.StatusInternalServerError || message != "webhookd panicked; its log has the stack" {
			t.Errorf("%s: %d %s", kind, got.code, got.body)
		}
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
	want := []string{"string", "*errors.errorString", "*runtime.PanicNilError", "runtime.boundsError", "string"}
	if diff := cmp.Diff(want, types); diff != "" {
		t.Errorf("hook (-want +got):\n%s", diff)
	}
	if got := s.Stats(); got.Requests != 0 {
		t.Errorf("the gate still holds %+v", got)
	}
}

// TestRejectedHook checks that each refusal is counted once, with the code of its answer.
func TestRejectedHook(t *testing.T) {
	t.Parallel()
	const (
		sized   = "POST /crdconvert HTTP/1.1\nHost: x\nConnection: close\nContent-Type: application/json\nContent-Length: 4\n\n"
		unsized = "POST /crdconvert HTTP/1.1\nHost: x\nConnection: close\nContent-Type: application/json\nTransfer-Encoding: chunked\n\n"
	)
	for name, tt := range map[string]struct {
		request string // LF means CR LF
		stall   bool   // the client keeps its side open
		code    int
		counted []int
	}{
		"review":                   {sized + "1234", true, 200, nil},
		"chunked review":           {unsized + "4\n1234\n0\n\n", true, 200, nil},
		"method":                   {"GET /crdconvert HTTP/1.1\nHost: x\n\n", true, 405, []int{405}},
		"path":                     {"GET /crdconvert/x HTTP/1.1\nHost: x\n\n", true, 404, []int{404}},
		"too large":                {strings.Replace(sized, "4", "5", 1) + "12345", true, 413, []int{413}},
		"too large, chunked":       {unsized + "5\n12345\n0\n\n", true, 413, []int{413}},
		"cut short":                {sized + "1", false, 400, []int{400}},
		"cut short, chunked":       {unsized + "4\n1", false, 400, []int{400}},
		"broken chunk":             {unsized + "tea\n", true, 400, []int{400}},
		"comes too late":           {sized + "1", true, 408, []int{408}},
		"comes too late, chunked":  {unsized + "4\n1", true, 408, []int{408}},
		"never comes":              {sized, true, 408, []int{408}},
		"never comes, cut instead": {sized, false, 400, []int{400}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var rejects record[int]
				c := startPiped(t, func(o *server.Options) { o.Limits.MaxBodyBytes, o.Hooks.Rejected = 4, rejects.add }).raw()
				c.send(tt.request)
				if !tt.stall {
					if err := c.CloseWrite(); err != nil {
						t.Fatal(err)
					}
				}
				if got := c.receive(strings.Fields(tt.request)[0]); got.code != tt.code {
					t.Errorf("code %d, want %d", got.code, tt.code)
				}
				if diff := cmp.Diff(tt.counted, rejects.get()); diff != "" {
					t.Errorf("hook (-want +got):\n%s", diff)
				}
				for _, code := range tt.counted {
					if !slices.Contains(server.RejectedCodes(), code) {
						t.Errorf("%d is not one of RejectedCodes", code)
					}
				}
			})
		})
	}
}

// TestQueueWaitLeavesTimeForEveryRetry checks the default against its comment.
func TestQueueWaitLeavesTimeForEveryRetry(t *testing.T) {
	t.Parallel()
	const retries, retryAfter = 10, time.Second // of kube-apiserver's client
	l := server.DefaultLimits()
	if longest := (retries+1)*l.QueueWait + retries*retryAfter; longest > l.Timeout*3/4 {
		t.Errorf("an overload is reported after %s, too close to the %s of a call", longest, l.Timeout)
	}
}

// TestDeadlineReachesHandler checks that the handler's deadline follows the client's timeout.
func TestDeadlineReachesHandler(t *testing.T) {
	t.Parallel()
	s := server.New(options(t, func(o *server.Options) {
		o.Webhook = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			deadline, ok := r.Context().Deadline()
			if !ok {
				t.Error("no deadline")
			}
			apistatus.Write(w, http.StatusTeapot, "", time.Until(deadline).Round(time.Second).String())
		})
	}))
	for query, want := range map[string]string{"?timeout=30s": "29s", "?timeout=10s": "9s", "": "29s", "?timeout=x": "29s"} {
		_, body := servePost(t, s.Handler(), server.DefaultPath+query)
		if !strings.Contains(body, `"`+want+`"`) {
			t.Errorf("%s: %s, want %s", query, body, want)
		}
	}
}
