package review_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crdconvert/webhookd/internal/jsondoc"
	"github.com/crdconvert/webhookd/internal/review"
)

const (
	stuckText = "converter did not return before the deadline of the request, fix it"
	fullText  = "8 conversions of this kind have never returned, fix the converter and restart webhookd"
)

// A stuckServer has a handler whose converter does not return those objects whose text has "stuck" in it.
type stuckServer struct {
	handler http.Handler
	release chan struct{} // closed, lets them return

	// To be set before the first request; nil: nothing.
	reserve func(bytes int64) error
	told    func(r review.Result)
	resumed func(obj *jsondoc.Object) // by the converter, once it is released

	mu      sync.Mutex
	results []review.Result
	panics  []review.Panic
	stuck   []string // what the hook was told
}

func newStuckServer(t *testing.T) *stuckServer {
	t.Helper()
	s := &stuckServer{
		release: make(chan struct{}),
		reserve: func(int64) error { return nil },
		told:    func(review.Result) {},
		resumed: func(*jsondoc.Object) {},
	}
	convert := func(_ context.Context, obj *jsondoc.Object, _, _ string) error {
		if name, _ := obj.Get("metadata", "name"); string(name.Text()) == `"stuck"` {
			<-s.release
			s.resumed(obj)
		}
		return nil
	}
	s.handler = review.NewHandler(newReviewer(t, convert, review.Hooks{
		Reserve: func(_ context.Context, bytes int64) error { return s.reserve(bytes) },
		ReviewDone: func(_ context.Context, r review.Result) {
			s.told(r)
			s.mu.Lock()
			defer s.mu.Unlock()
			s.results = append(s.results, r)
		},
		Panicked: func(_ context.Context, p review.Panic) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.panics = append(s.panics, p)
		},
		Stuck: func(kind string, more int) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.stuck = append(s.stuck, fmt.Sprintf("%s %+d", kind, more))
		},
	}))
	return s
}

// A call is a request in progress.
type call struct {
	header   http.Header
	returned atomic.Bool // the handler has
	aborted  atomic.Bool // by a panic that ends the connection

	mu   sync.Mutex
	body []byte
	sent int // of it, when the last Flush came
}

func (c *call) Header() http.Header { return c.header }
func (c *call) WriteHeader(int)     {}

func (c *call) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.body = append(c.body, p...)
	return len(p), nil
}

func (c *call) Flush() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sent = len(c.body)
}

// written returns the answer, and whether it is sent although the handler may not have returned.
func (c *call) written() (body []byte, sent bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.body), c.sent == len(c.body)
}

// post sends a review of objects with ten seconds to answer.
func (s *stuckServer) post(t *testing.T, objects ...string) *call {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	req := httptest.NewRequestWithContext(ctx, http.MethodPost, "/crdconvert", strings.NewReader(string(request(objects...))))
	c := &call{header: http.Header{}}
	go func() {
		defer cancel()
		defer c.returned.Store(true)
		defer func() { c.aborted.Store(recover() == http.ErrAbortHandler) }() //nolint:errorlint,err113 // net/http compares it so
		s.handler.ServeHTTP(c, req)
	}()
	synctest.Wait()
	return c
}

// wantConverted checks that an object is converted at once.
func (s *stuckServer) wantConverted(t *testing.T, name string) {
	t.Helper()
	c := s.post(t, named(name))
	if !c.returned.Load() {
		t.Fatalf("the review of %s waits", name)
	}
	body, _ := c.written()
	decode(t, body).wantObjects(t, strings.Replace(named(name), "v1beta1", "v1", 1))
}

// I20: a converter that never returns has its review answered shortly after the deadline, with the right uid, while those
// of others go on. What it returns in the end changes nothing.
func TestStuckConverter(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStuckServer(t)
		c := s.post(t, named("a"), named("stuck"), named("c"))
		s.wantConverted(t, "b")

		<-time.After(10 * time.Second)
		synctest.Wait()
		if body, _ := c.written(); len(body) > 0 {
			t.Error("answered before a converter could have heard of its deadline")
		}
		<-time.After(400 * time.Millisecond)
		synctest.Wait()
		body, sent := c.written()
		if c.returned.Load() || !sent {
			t.Errorf("the handler has returned: %t; the answer is sent: %t", c.returned.Load(), sent)
		}
		got := decode(t, body)
		if got.uid != uid {
			t.Errorf("uid %q", got.uid)
		}
		got.wantFailed(t, "1 of 3 objects", "objects[1] Widget default/stuck v1beta1 -> v1: "+stuckText)
		if c.Header().Get("Connection") != "close" {
			t.Error("the connection stays with a handler that reads no other request")
		}

		close(s.release)
		synctest.Wait()
		if more, _ := c.written(); !c.returned.Load() || !bytes.Equal(more, body) {
			t.Errorf("the handler has returned: %t; what it wrote:\n%s", c.returned.Load(), more)
		}
		if len(s.results) != 2 || s.results[1].Failed != 1 || s.results[1].Duration < 10*time.Second {
			t.Errorf("reviews that were told: %+v", s.results)
		}
		if diff := cmp.Diff([]string{"Widget.example.com +1", "Widget.example.com -1"}, s.stuck); diff != "" {
			t.Errorf("stuck conversions that were told (-want +got):\n%s", diff)
		}
		s.wantConverted(t, "d")
	})
}

// I20: eight conversions of a kind may hang; the next fail at once, until one of the eight returns.
func TestStuckConvertersAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStuckServer(t)
		for range 8 {
			s.post(t, named("stuck"))
		}
		<-time.After(11 * time.Second)
		synctest.Wait()
		c := s.post(t, named("a"))
		if !c.returned.Load() {
			t.Fatal("waits")
		}
		body, _ := c.written()
		decode(t, body).wantFailed(t, "objects[0] Widget default/a v1beta1 -> v1: "+fullText)

		close(s.release)
		synctest.Wait()
		s.wantConverted(t, "a")
	})
}

// many is a review's objects, so many that memory is asked for, of which the last one hangs.
func many() []string {
	objects := slices.Repeat([]string{named("a")}, 9_000)
	return append(objects, named("stuck"))
}

// I20: whatever memory there is, the answer for a converter that never returns is whole and has nothing of other clients in
// it. It asks for none: what a request holds belongs to the goroutine that the converter is at work in.
func TestStuckConverterWithoutMemory(t *testing.T) {
	t.Parallel()
	for name, say := range map[string]error{
		"enough":            nil,
		"none at present":   shortage(http.StatusTooManyRequests),
		"never enough":      shortage(http.StatusRequestEntityTooLarge),
		"context has ended": context.DeadlineExceeded,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newStuckServer(t)
				var held int64 // as in a server, only for the request's goroutine
				var said error
				s.reserve = func(bytes int64) error { held += bytes; return said }
				// Others were here before, with larger objects and answers.
				secret := widget(`"metadata":{"name":"b"}`, `"data":"`+strings.Repeat("secret", 1_000)+`"`)
				s.post(t, slices.Repeat([]string{secret}, 50)...)
				c := s.post(t, many()...)
				before := held
				said = say
				if before == 0 {
					t.Fatal("no memory was asked for")
				}
				<-time.After(11 * time.Second)
				synctest.Wait()
				body, sent := c.written()
				got := decode(t, body)
				got.wantFailed(t, "1 of 9001 objects", "objects[9000] Widget default/stuck v1beta1 -> v1: "+stuckText)
				if got.uid != uid || !sent || strings.Contains(string(body), "secret") {
					t.Errorf("sent: %t; answer:\n%s", sent, body)
				}
				if held != before {
					t.Errorf("the answer asked for %d bytes", held-before)
				}
				close(s.release)
				synctest.Wait()
			})
		})
	}
}

// A converter that asks for memory as its review is answered is the only one to do so: what is asked for is what it would be
// if the converter had returned in time.
func TestStuckConverterAsksForMemory(t *testing.T) {
	t.Parallel()
	asked := func(released time.Duration) (asks []int64) { // without a lock: the race detector tells of a second goroutine
		synctest.Test(t, func(t *testing.T) {
			s := newStuckServer(t)
			s.reserve = func(bytes int64) error { asks = append(asks, bytes); return nil }
			s.resumed = func(obj *jsondoc.Object) { _, _ = obj.Get("spec", "none") }
			large := widget(`"metadata":{"name":"stuck","namespace":"default"}`, `"spec":{"x":0`+more(100_000)+"}")
			time.AfterFunc(released, func() { close(s.release) })
			s.post(t, append(many()[:9_000], large)...)
			<-time.After(11 * time.Second)
			synctest.Wait()
		})
		return asks
	}
	const looks = 10*time.Second + 300*time.Millisecond // when the watch does, after the deadline
	if diff := cmp.Diff(asked(time.Second), asked(looks)); diff != "" {
		t.Errorf("asked for, in time and late (-want +got):\n%s", diff)
	}
}

// A panic while the answer is made does not end the process, and no half of an answer passes for a whole one.
func TestPanicWhileAStuckConverterIsAnswered(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStuckServer(t)
		s.told = func(r review.Result) {
			if r.Failed > 0 {
				panic("value")
			}
		}
		c := s.post(t, named("stuck"))
		<-time.After(11 * time.Second)
		synctest.Wait()
		close(s.release)
		synctest.Wait()
		if body, _ := c.written(); !c.aborted.Load() || len(body) > 0 {
			t.Errorf("aborted: %t; answer:\n%s", c.aborted.Load(), body)
		}
		if len(s.panics) != 1 || s.panics[0].Type != "string" || !strings.Contains(s.panics[0].Stack, "giveUp") {
			t.Errorf("panics that were told: %+v", s.panics)
		}
		if len(s.stuck)%2 != 0 {
			t.Errorf("stuck conversions that were told: %v", s.stuck)
		}
		s.wantConverted(t, "a")
	})
}
