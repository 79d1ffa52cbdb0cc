package review_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/jsondoc"
	"github.com/crdconvert/webhookd/internal/review"
)

const (
	stuckText = "converter did not return before the deadline of the request, fix it"
	fullText  = "8 conversions of this kind have never returned, fix the converter and restart webhookd"
)

// A stuckServer has a handler whose converter does not return those objects whose name is stuck.
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
	held    int      // requests whose memory is
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
	s.handler = review.NewHandler(newReviewer(t, convert, s.hooks()))
	return s
}

func (s *stuckServer) hooks() review.Hooks {
	locked := func(f func()) { s.mu.Lock(); defer s.mu.Unlock(); f() }
	return review.Hooks{
		Reserve: func(_ context.Context, bytes int64) error { return s.reserve(bytes) },
		Hold: func(context.Context) func() {
			locked(func() { s.held++ })
			return func() { locked(func() { s.held-- }) }
		},
		ReviewDone: func(_ context.Context, r review.Result) {
			s.told(r)
			locked(func() { s.results = append(s.results, r) })
		},
		Panicked: func(_ context.Context, p review.Panic) { locked(func() { s.panics = append(s.panics, p) }) },
		Stuck: func(kind string, more int) {
			locked(func() { s.stuck = append(s.stuck, fmt.Sprintf("%s %+d", kind, more)) })
		},
	}
}

// A call is a request in progress.
type call struct {
	*httptest.ResponseRecorder

	returned atomic.Bool // the handler has
	panicked any         // what it has panicked with
}

// post sends a review of objects with ten seconds to answer.
func (s *stuckServer) post(t *testing.T, objects ...string) *call {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	req := httptest.NewRequestWithContext(ctx, http.MethodPost, "/crdconvert", strings.NewReader(string(request(objects...))))
	c := &call{ResponseRecorder: httptest.NewRecorder()}
	go func() {
		defer cancel()
		defer c.returned.Store(true)
		defer func() { c.panicked = recover() }()
		s.handler.ServeHTTP(c, req)
	}()
	synctest.Wait()
	return c
}

// after advances the clock of the bubble.
func after(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// wantConverted checks that an object is converted at once.
func (s *stuckServer) wantConverted(t *testing.T, name string) {
	t.Helper()
	c := s.post(t, named(name))
	if !c.returned.Load() {
		t.Fatalf("the review of %s waits", name)
	}
	decode(t, c.Body.Bytes()).wantObjects(t, strings.Replace(named(name), "v1beta1", "v1", 1))
}

// I20: a converter that never returns has its review answered shortly after the deadline, with the right uid, while those
// of others go on. What it returns in the end changes nothing.
func TestStuckConverter(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStuckServer(t)
		c := s.post(t, named("a"), named("stuck"), named("c"))
		s.wantConverted(t, "b")

		after(10*time.Second + 249*time.Millisecond)
		if c.returned.Load() {
			t.Error("answered before a converter could have heard of its deadline")
		}
		after(time.Millisecond)
		if !c.returned.Load() {
			t.Fatal("the review waits")
		}
		body := c.Body.String()
		got := decode(t, c.Body.Bytes())
		if got.uid != uid {
			t.Errorf("uid %q", got.uid)
		}
		got.wantFailed(t, "1 of 3 objects", "objects[1] Widget default/stuck v1beta1 -> v1: "+stuckText)
		if s.held != 1 {
			t.Errorf("the memory of %d requests is held, want 1", s.held)
		}

		close(s.release)
		synctest.Wait()
		if c.Body.String() != body || s.held != 0 {
			t.Errorf("the memory of %d requests is held; what was written:\n%s", s.held, c.Body)
		}
		if len(s.results) != 2 || s.results[1].Failed != 1 || s.results[1].Duration != 10*time.Second+250*time.Millisecond {
			t.Errorf("reviews that were told: %+v", s.results)
		}
		if diff := cmp.Diff([]string{"Widget.example.com +1", "Widget.example.com -1"}, s.stuck); diff != "" {
			t.Errorf("stuck conversions that were told (-want +got):\n%s", diff)
		}
		s.wantConverted(t, "d")
	})
}

// What a converter still has after its review was answered stays its own, however many reviews come after it.
func TestNothingOfAStuckConverterIsReused(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStuckServer(t)
		var seen string
		s.resumed = func(obj *jsondoc.Object) { seen = string(obj.Text()) }
		s.post(t, named("stuck"))
		after(11 * time.Second)
		for range 100 {
			s.wantConverted(t, "other")
		}
		close(s.release)
		synctest.Wait()
		if seen != named("stuck") {
			t.Errorf("the converter sees %s", seen)
		}
	})
}

// A converter that looks at its context needs no goroutine: its review waits for it.
func TestInterruptibleConverterIsWaitedFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStuckServer(t)
		registry, err := converters.NewRegistry(converters.Kind{
			GroupKind: schema.GroupKind{Group: "example.com", Kind: "Widget"},
			Hub:       "v1", Versions: []string{"v1beta1", "v1"}, Converter: interruptible{s.release},
		})
		if err != nil {
			t.Fatal(err)
		}
		s.handler = review.NewHandler(review.NewReviewer(func() *converters.Registry { return registry }, s.hooks()))
		c := s.post(t, named("a"))
		after(20 * time.Second)
		if c.returned.Load() {
			t.Error("it was not waited for")
		}
		close(s.release)
		synctest.Wait()
		decode(t, c.Body.Bytes()).wantObjects(t, strings.Replace(named("a"), "v1beta1", "v1", 1))
	})
}

// An interruptible converter says that it is one; it returns when it is released.
type interruptible struct{ release chan struct{} }

func (c interruptible) Interruptible() bool { return true }

func (c interruptible) Convert(context.Context, *jsondoc.Object, string, string) error {
	<-c.release
	return nil
}

// I20: eight conversions of a kind may hang; the next fail at once, until one of the eight returns.
func TestStuckConvertersAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStuckServer(t)
		for range 8 {
			s.post(t, named("stuck"))
		}
		after(11 * time.Second)
		c := s.post(t, named("a"))
		if !c.returned.Load() {
			t.Fatal("waits")
		}
		decode(t, c.Body.Bytes()).wantFailed(t, "objects[0] Widget default/a v1beta1 -> v1: "+fullText)

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
				after(11 * time.Second)
				got := decode(t, c.Body.Bytes())
				got.wantFailed(t, "1 of 9001 objects", "objects[9000] Widget default/stuck v1beta1 -> v1: "+stuckText)
				if got.uid != uid || strings.Contains(c.Body.String(), "secret") {
					t.Errorf("answer:\n%s", c.Body)
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

// A converter that goes on after its review was answered gets no more memory.
func TestStuckConverterGetsNoMoreMemory(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		released time.Duration
		more     bool
	}{
		"in time": {time.Second, true},
		"late":    {11 * time.Second, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newStuckServer(t)
				asked, before, failed := 0, 0, false // without a lock: the race detector tells of a second goroutine
				s.reserve = func(int64) error { asked++; return nil }
				s.resumed = func(obj *jsondoc.Object) {
					before = asked
					_, err := obj.Get("spec", "none")
					failed = err != nil
				}
				large := widget(`"metadata":{"name":"stuck","namespace":"default"}`, `"spec":{"x":0`+more(100_000)+"}")
				time.AfterFunc(tt.released, func() { close(s.release) })
				s.post(t, append(many()[:9_000], large)...)
				after(12 * time.Second)
				if got := asked > before; before == 0 || got != tt.more || failed == tt.more {
					t.Errorf("asked %d times before and %d in all; the converter got an error: %t", before, asked, failed)
				}
			})
		})
	}
}

// A converter that panics after its review was answered does not end the process. The panic is told like any other.
func TestStuckConverterPanics(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStuckServer(t)
		s.resumed = func(*jsondoc.Object) { panic(secret) }
		s.post(t, named("stuck"))
		after(11 * time.Second)
		close(s.release)
		synctest.Wait()
		if len(s.panics) != 1 || s.panics[0].Type != "string" || !strings.Contains(s.panics[0].Stack, "TestStuckConverterPanics") {
			t.Errorf("panics that were told: %+v", s.panics)
		}
		if len(s.stuck) != 2 || s.held != 0 {
			t.Errorf("stuck conversions that were told: %v; the memory of %d requests is held", s.stuck, s.held)
		}
		s.wantConverted(t, "a")
	})
}

// A panic of something else than a converter on its goroutine is one of the request's: it does not end the process.
func TestPanicBesideAConverter(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		beside func()
		want   string
	}{
		"panic":                {func() { panic(secret) }, "string"},
		"end of the goroutine": {runtime.Goexit, "call of runtime.Goexit"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newStuckServer(t)
				s.reserve = func(int64) error { tt.beside(); return nil }
				c := s.post(t, ordinary(100_000))
				if !c.returned.Load() || c.panicked == nil || c.Body.Len() > 0 {
					t.Errorf("returned: %t; panicked with %v; answer:\n%s", c.returned.Load(), c.panicked, c.Body)
				}
				if len(s.panics) != 1 || !strings.HasPrefix(s.panics[0].Type, tt.want) ||
					!strings.Contains(s.panics[0].Stack, "TestPanicBesideAConverter") || strings.Contains(fmt.Sprint(s.panics), secret) {
					t.Errorf("panics that were told: %+v", s.panics)
				}
				s.wantConverted(t, "a")
			})
		})
	}
}

// A panic while the answer is made leaves the counts of what is stuck and what is held right.
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
		after(11 * time.Second)
		close(s.release)
		synctest.Wait()
		if c.panicked != "value" || c.Body.Len() > 0 {
			t.Errorf("panicked with %v; answer:\n%s", c.panicked, c.Body)
		}
		if len(s.stuck) != 2 || s.held != 0 {
			t.Errorf("stuck conversions that were told: %v; the memory of %d requests is held", s.stuck, s.held)
		}
		s.wantConverted(t, "a")
	})
}
