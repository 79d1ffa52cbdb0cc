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
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/review"
)

const (
	stuckText = "converter did not return before the deadline of the request, fix it"
	fullText  = "8 conversions of this kind have never returned, fix the converter and restart webhookd"
)

// A stuckServer has a handler whose converter does not return for objects named "stuck".
type stuckServer struct {
	handler http.Handler
	release chan struct{} // close it to let the converter return

	// Set before the first request; nil: ignored.
	reserve  func(bytes int64) error
	done     func() // with some objects
	reported func(r review.Result)
	resumed  func(obj *jsondoc.Object) // called by the converter after its release
	holding  func()                    // before the memory is held

	mu      sync.Mutex
	results []review.Result
	panics  []review.Panic
	stuck   []string // calls of the hook
	held    int      // number of requests whose memory is held
	yielded int      // turns that were returned
}

func newStuckServer(t *testing.T) *stuckServer {
	t.Helper()
	s := &stuckServer{
		release:  make(chan struct{}),
		reserve:  func(int64) error { return nil },
		done:     func() {},
		reported: func(review.Result) {},
		resumed:  func(*jsondoc.Object) {},
		holding:  func() {},
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
			s.holding()
			locked(func() { s.held++ })
			return func() { locked(func() { s.held-- }) }
		},
		Yield:       func(context.Context) { locked(func() { s.yielded++ }) },
		ObjectsDone: func(review.Objects) { s.done() },
		ReviewDone: func(_ context.Context, r review.Result) {
			s.reported(r)
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

	returned atomic.Bool // set when the handler has returned
	panicked any         // the handler's panic
}

// post sends a review of objects with a deadline of ten seconds.
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

// I20: the review of a converter that never returns is answered shortly after its deadline, with
// the right uid, and other reviews go on. The converter's late result changes nothing.
func TestStuckConverter(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStuckServer(t)
		batches := 0
		s.done = func() { batches++ }
		c := s.post(t, named("a"), named("stuck"), named("c"))
		s.wantConverted(t, "b")

		after(10*time.Second + 249*time.Millisecond)
		if c.returned.Load() {
			t.Error("answered before a converter could see its deadline")
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

		if batches != 2 || s.yielded != 2 {
			t.Errorf("%d batches are reported, %d turns returned, want 2", batches, s.yielded)
		}
		close(s.release)
		synctest.Wait()
		if c.Body.String() != body || s.held != 0 {
			t.Errorf("the memory of %d requests is held; what was written:\n%s", s.held, c.Body)
		}
		if len(s.results) != 2 || s.results[1].Failed != 1 || s.results[1].Duration != 10*time.Second+250*time.Millisecond {
			t.Errorf("reported reviews: %+v", s.results)
		}
		if diff := cmp.Diff([]string{"Widget.example.com +1", "Widget.example.com -1"}, s.stuck); diff != "" {
			t.Errorf("reported stuck conversions (-want +got):\n%s", diff)
		}
		s.wantConverted(t, "d")
	})
}

// All of this works without hooks, with one alone, and though it panics.
func TestStuckConverterWithoutHooks(t *testing.T) {
	t.Parallel()
	var stuck []int
	count := func(_ string, n int) { stuck = append(stuck, n) }
	for name, hooks := range map[string]review.Hooks{
		"none": {}, "one": {Stuck: count}, "a panic": {Stuck: count, Panicked: func(context.Context, review.Panic) { panic("hook") }},
	} {
		stuck = nil
		synctest.Test(t, func(t *testing.T) { testStuckConverterWithHooks(t, hooks) })
		if want := []int{1, -1}; hooks.Stuck != nil && !slices.Equal(stuck, want) {
			t.Errorf("%s: reported stuck conversions: %v, want %v", name, stuck, want)
		}
	}
}

func testStuckConverterWithHooks(t *testing.T, hooks review.Hooks) {
	t.Helper()
	s, converted := newStuckServer(t), 0
	s.handler = review.NewHandler(newReviewer(t, func(context.Context, *jsondoc.Object, string, string) error {
		if converted++; converted > 1 {
			return nil
		}
		<-s.release
		runtime.Goexit()
		return nil
	}, hooks))
	c := s.post(t, named("a"), named("b"))
	after(11 * time.Second)
	decode(t, c.Body.Bytes()).wantFailed(t, stuckText)
	close(s.release)
	synctest.Wait()
	if converted != 1 {
		t.Errorf("%d objects are converted, want 1", converted)
	}
	s.wantConverted(t, "c")
}

// A converter keeps its object after its review was answered, however many reviews follow.
func TestStuckConverterMemoryIsNotReused(t *testing.T) {
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

// A converter that checks its context needs no goroutine: its review waits for it.
func TestReviewWaitsForAnInterruptibleConverter(t *testing.T) {
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
			t.Error("the review did not wait")
		}
		close(s.release)
		synctest.Wait()
		decode(t, c.Body.Bytes()).wantObjects(t, strings.Replace(named("a"), "v1beta1", "v1", 1))
	})
}

// An interruptible converter says so; it returns when it is released.
type interruptible struct{ release chan struct{} }

func (c interruptible) Interruptible() bool { return true }

func (c interruptible) Convert(context.Context, *jsondoc.Object, string, string) error {
	<-c.release
	return nil
}

// I20: eight conversions of a kind may be stuck; the next ones fail at once, until one of the eight
// returns.
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

// many returns enough objects for a review to reserve memory; the last one gets stuck.
func many() []string {
	objects := slices.Repeat([]string{named("a")}, 9_000)
	return append(objects, named("stuck"))
}

// I20: the answer for a converter that never returns is complete and has nothing of other clients
// in it, however little memory there is. It asks for none: what a request holds belongs to the
// converter's goroutine.
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
				var held int64 // as in a server, used by the request's goroutine only
				var said error
				s.reserve = func(bytes int64) error { held += bytes; return said }
				// Earlier reviews had larger objects and answers.
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
				asked, before, failed := 0, 0, false // without a lock: the race detector reports a second goroutine
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

// A converter that panics after its review was answered does not end the process. The panic is
// reported like any other.
func TestStuckConverterPanics(t *testing.T) {
	t.Parallel()
	for want, end := range map[string]func(){"string": func() { panic(secret) }, "call of runtime.Goexit": runtime.Goexit} {
		synctest.Test(t, func(t *testing.T) { testStuckConverterEnds(t, want, end) })
	}
}

func testStuckConverterEnds(t *testing.T, want string, end func()) {
	t.Helper()
	s := newStuckServer(t)
	s.resumed = func(*jsondoc.Object) { end() }
	s.post(t, named("stuck"))
	after(11 * time.Second)
	close(s.release)
	synctest.Wait()
	if len(s.panics) != 1 || s.panics[0].Type != want || !strings.Contains(s.panics[0].Stack, "StuckConverter") {
		t.Errorf("reported panics: %+v", s.panics)
	}
	if len(s.stuck) != 2 || s.held != 0 {
		t.Errorf("reported stuck conversions: %v; the memory of %d requests is held", s.stuck, s.held)
	}
	s.wantConverted(t, "a")
}

// A converter that returns while its review is answered without it waits for that answer.
func TestStuckConverterReturnsAsItIsAbandoned(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStuckServer(t)
		s.holding = func() {
			close(s.release)
			<-time.After(time.Millisecond)
		}
		s.post(t, named("stuck"))
		after(11 * time.Second)
		if len(s.stuck) != 2 || s.held != 0 {
			t.Errorf("reported stuck conversions: %v; the memory of %d requests is held", s.stuck, s.held)
		}
	})
}

// A panic outside the converter on its goroutine becomes a panic of the request and does not end
// the process.
func TestPanicOutsideAConverter(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		during func()
		want   string
	}{
		"panic":                {func() { panic(secret) }, "string"},
		"end of the goroutine": {runtime.Goexit, "call of runtime.Goexit"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newStuckServer(t)
				var once sync.Once
				s.done = func() { once.Do(tt.during) }
				c := s.post(t, named("a"), strings.Replace(named("a"), "v1beta1", "v1alpha1", 1))
				if !c.returned.Load() || c.panicked == nil || c.Body.Len() > 0 {
					t.Errorf("returned: %t; panicked with %v; answer:\n%s", c.returned.Load(), c.panicked, c.Body)
				}
				if len(s.panics) != 1 || !strings.HasPrefix(s.panics[0].Type, tt.want) ||
					!strings.Contains(s.panics[0].Stack, "TestPanicOutsideAConverter") || strings.Contains(fmt.Sprint(s.panics), secret) {
					t.Errorf("reported panics: %+v", s.panics)
				}
				s.wantConverted(t, "a")
			})
		})
	}
}

// A panic while the answer is built keeps the counts of stuck conversions and held memory right.
func TestPanicWhileAnsweringForAStuckConverter(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStuckServer(t)
		s.reported = func(r review.Result) {
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
			t.Errorf("reported stuck conversions: %v; the memory of %d requests is held", s.stuck, s.held)
		}
		s.wantConverted(t, "a")
	})
}
