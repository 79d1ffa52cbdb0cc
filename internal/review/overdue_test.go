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
	stuckText = "converter did not return before the deadline of the request, mend it"
	fullText  = "8 conversions of this kind have never returned, mend the converter and restart webhookd"
)

// A stuckServer has a handler whose converter does not return those objects whose text has "stuck" in it.
type stuckServer struct {
	handler http.Handler
	release chan struct{} // closed, lets them return

	mu      sync.Mutex
	results []review.Result
	stuck   []string // what the hook was told
}

func newStuckServer(t *testing.T) *stuckServer {
	t.Helper()
	s := &stuckServer{release: make(chan struct{})}
	convert := func(_ context.Context, obj *jsondoc.Object, _, _ string) error {
		if strings.Contains(string(obj.Text()), "stuck") {
			<-s.release
		}
		return nil
	}
	s.handler = review.NewHandler(newReviewer(t, convert, review.Hooks{
		ReviewDone: func(_ context.Context, r review.Result) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.results = append(s.results, r)
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
		s.handler.ServeHTTP(c, req)
		c.returned.Store(true)
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
