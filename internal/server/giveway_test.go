package server_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crdconvert/webhookd/internal/review/apistatus"
	"github.com/crdconvert/webhookd/internal/server"
	"github.com/crdconvert/webhookd/internal/server/gate"
)

// large is the size of a body of which two do not fit into tightLimits.
const large = 600 << 10

func largeHead() string {
	return strings.Replace(reviewHead, "4\n", strconv.Itoa(large)+"\n\n", 1)
}

// A client that is slow to send its body, or to read its answer, gives way to another that waits.
func TestSlowClientsGiveWay(t *testing.T) {
	t.Parallel()
	for name, arrives := range map[string]int{"body": large / 2, "chunked body": large / 2, "answer": large} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var sheds record[string]
				s := startPiped(t, func(o *server.Options) {
					tightLimits(&o.Limits)
					o.Limits.QueueWait, o.Hooks.Shed = time.Minute, sheds.add
				})
				slow, next, began := s.raw(), s.raw(), time.Now()
				head := largeHead()
				if name == "chunked body" {
					head = strings.Replace(reviewHead, "Content-Length: 4\n", fmt.Sprintf("Transfer-Encoding: chunked\n\n%x\n", large), 1)
				}
				slow.send(head + strings.Repeat(" ", arrives))
				synctest.Wait()
				next.send(largeHead() + strings.Repeat(" ", large/2))
				sent := make(chan struct{})
				go func() {
					defer close(sent)
					next.send(strings.Repeat(" ", large/2))
				}()
				if arrives < large {
					got := slow.receive(http.MethodPost)
					if got.code != http.StatusTooManyRequests || !strings.Contains(got.message(t), "too slowly") {
						t.Errorf("the slow body: %d, %s", got.code, got.body)
					}
					if took := time.Since(began); name == "body" && took < 10*time.Second {
						t.Errorf("half of it has half of its time: %s", took)
					}
				}
				if got := next.receive(http.MethodPost); got.code != http.StatusOK || len(got.body) != large {
					t.Errorf("the one that waited: %d", got.code)
				}
				<-sent
				if diff := cmp.Diff([]string{gate.ShedSlow}, sheds.get()); arrives < large && diff != "" {
					t.Errorf("shed (-want +got):\n%s", diff)
				}
				if arrives == large {
					if n, _ := io.Copy(io.Discard, slow.reader); n >= large {
						t.Errorf("the slow answer is not cut: %d bytes", n)
					}
				}
			})
		})
	}
}

// A client that has read half of its answer keeps the rest for half of the time.
func TestAnswerThatIsReadStays(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := startPiped(t, func(o *server.Options) {
			tightLimits(&o.Limits)
			o.Limits.QueueWait = time.Minute
		})
		reader, next := s.raw(), s.raw()
		readHalf := func() {
			if n, err := io.CopyN(io.Discard, reader.reader, large/2); err != nil {
				t.Fatalf("the answer is cut: %d bytes, %v", n, err)
			}
		}
		reader.send(largeHead() + strings.Repeat(" ", large))
		readHalf()
		go func() {
			_, _ = io.WriteString(next, strings.ReplaceAll(largeHead(), "\n", "\r\n")+strings.Repeat(" ", large))
		}()
		time.Sleep(9 * time.Second) //nolint:forbidigo // the bubble's clock
		readHalf()
		if got := next.receive(http.MethodPost); got.code != http.StatusOK {
			t.Errorf("the one that waited: %d", got.code)
		}
	})
}

// Once one source has its turns, its next review waits until one of them ends.
func TestReviewsTakeTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var sheds record[string]
		free, running := make(chan struct{}), atomic.Int64{}
		s := startPiped(t, func(o *server.Options) {
			o.Hooks.Shed = sheds.add
			o.Webhook = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if _, err := r.Body.Read(make([]byte, 4)); err != nil && !errors.Is(err, io.EOF) {
					_, again := r.Body.Read(make([]byte, 4))
					if room := r.Body.(interface{ Room(n int64) error }).Room(1); !errors.Is(again, err) || !errors.Is(room, err) {
						t.Errorf("after %v: %v, %v", err, again, room)
					}
					apistatus.WriteOverloaded(w, err.Error())
					return
				}
				running.Add(1)
				<-free
				_, _ = io.WriteString(w, "{}")
			})
		})
		turns := int64(3 * runtime.GOMAXPROCS(0))
		all := make([]*rawConn, turns+1)
		for i := range all {
			all[i] = s.raw()
			all[i].send(reviewHead + "\n{  }")
			synctest.Wait()
		}
		if got := s.Stats(); running.Load() != turns || got.Waiting != 1 {
			t.Errorf("%d reviews are converted, want %d; %d wait", running.Load(), turns, got.Waiting)
		}
		late := s.raw()
		time.Sleep(time.Second) //nolint:forbidigo // the bubble's clock
		late.send(reviewHead + "\n{  }")
		if got := all[turns].receive(http.MethodPost); got.code != http.StatusTooManyRequests {
			t.Errorf("one that waits for too long: %d", got.code)
		}
		if diff := cmp.Diff([]string{gate.ShedTurns}, sheds.get()); diff != "" {
			t.Errorf("shed (-want +got):\n%s", diff)
		}
		all[turns] = late
		free <- struct{}{}
		synctest.Wait()
		if running.Load() != turns+1 {
			t.Error("the next one does not follow")
		}
		close(free)
		for _, c := range all {
			if got := c.receive(http.MethodPost); got.code != http.StatusOK {
				t.Errorf("code %d", got.code)
			}
		}
	})
}

// When the memory is almost full, the largest conversion ends: what it asks for fails.
func TestFullMemoryEndsAConversion(t *testing.T) {
	const limit = 1 << 50
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(limit))
	runtime.GC()
	synctest.Test(t, func(t *testing.T) {
		var full atomic.Bool
		var sheds record[string]
		s := startPiped(t, func(o *server.Options) {
			o.Hooks.Shed = sheds.add
			o.SocketMemory = func() int64 {
				if full.Load() {
					return limit
				}
				return 0
			}
			o.Webhook = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if n, _ := io.Copy(io.Discard, r.Body); n < large {
					return
				}
				full.Store(true)
				<-r.Context().Done()
				full.Store(false)
				_ = server.Reserve(r.Context(), 1) // as a converter that drops the error
				if err := server.Reserve(r.Context(), 1); err != nil {
					apistatus.WriteOverloaded(w, err.Error())
				}
			})
		})
		startPiped(t, nil) // which does not know what sockets take
		c, began := s.raw(), time.Now()
		c.send(largeHead() + strings.Repeat(" ", large))
		if got := c.receive(http.MethodPost); got.code != http.StatusTooManyRequests || time.Since(began) > time.Second {
			t.Errorf("code %d after %s: %s", got.code, time.Since(began), got.body)
		}
		if c.send(reviewHead + "\n{  }"); c.receive(http.MethodPost).code != http.StatusOK {
			t.Error("its connection is not used again")
		}
		if diff := cmp.Diff([]string{gate.ShedMemory}, sheds.get()); diff != "" {
			t.Errorf("shed (-want +got):\n%s", diff)
		}
	})
}

// A handler that asks for a larger buffer has both until it reads again, if there is room for both.
func TestRoomForALargerBuffer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var s *piped
		s = startPiped(t, func(o *server.Options) {
			tightLimits(&o.Limits)
			o.Webhook = http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				body := r.Body.(interface { //nolint:forcetypeassert // the server's
					io.Reader
					Room(n int64) error
				})
				for _, step := range []struct{ read, room, want int64 }{
					{50 << 10, 500 << 10, 550 << 10}, {50 << 10, 700 << 10, 700 << 10}, {10 << 10, 0, 110 << 10},
				} {
					_, _ = io.ReadFull(body, make([]byte, step.read))
					if err := body.Room(step.room); err != nil {
						t.Error(err)
					}
					if got := s.Stats().Bytes; got != step.want {
						t.Errorf("%d bytes are reserved after %+v", got, step)
					}
				}
				_, _ = io.Copy(io.Discard, body)
			})
		})
		c := s.raw()
		c.send(largeHead() + strings.Repeat(" ", large))
		if got := c.receive(http.MethodPost); got.code != http.StatusOK {
			t.Errorf("code %d", got.code)
		}
	})
}

// Of one source's connections, those with a review in progress stay, however old, and one that had
// a review answered stays longer than a new one.
func TestConnectionsInUseStay(t *testing.T) {
	t.Parallel()
	for code, goes := range map[int]struct {
		state string
		after time.Duration
	}{http.StatusOK: {"idle", 10 * time.Second}, http.StatusBadRequest: {"fresh", 2 * time.Second}} {
		synctest.Test(t, func(t *testing.T) { testConnectionsInUse(t, code, goes.state, goes.after) })
	}
}

func testConnectionsInUse(t *testing.T, code int, state string, after time.Duration) {
	t.Helper()
	free := make(chan struct{})
	var cut record[string]
	s := startPiped(t, func(o *server.Options) {
		o.Limits.InFlightBytes = 9 << 20 // for 64 connections
		o.Hooks.CutOff = cut.add
		o.Webhook = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if text, _ := io.ReadAll(r.Body); string(text) == "hold" {
				server.Yield(r.Context())
				<-free
			}
			w.WriteHeader(code)
			_, _ = io.WriteString(w, "{}")
		})
	})
	all := make([]*rawConn, s.Stats().ConnectionsLimit)
	for i := range all {
		all[i] = s.raw()
		if all[i].send(reviewHead + "\n" + map[bool]string{true: "{  }", false: "hold"}[i == 0]); i == 0 {
			all[i].receive(http.MethodPost)
		}
		synctest.Wait()
	}
	if got := s.Stats(); got.Waiting != 0 {
		t.Errorf("%d wait for the turns of those that have returned them", got.Waiting)
	}
	came, begun := time.Now(), make(chan struct{})
	go func() {
		defer close(begun)
		s.raw()
	}()
	<-begun
	if diff := cmp.Diff([]string{state}, cut.get()); diff != "" || time.Since(came).Round(time.Second) != after {
		t.Errorf("after %s were cut off (-want +got):\n%s", time.Since(came), diff)
	}
	close(free)
	for _, c := range all[1:] {
		if got := c.receive(http.MethodPost); got.code != code {
			t.Errorf("code %d", got.code)
		}
	}
}

// However a handler begins its answer, the connection ends with it if it must. Interim answers do
// not begin it.
func TestAnswerThatEndsItsConnection(t *testing.T) {
	t.Parallel()
	for name, begin := range map[string]func(w http.ResponseWriter, read <-chan struct{}){
		"nothing": func(http.ResponseWriter, <-chan struct{}) {},
		"header":  func(w http.ResponseWriter, _ <-chan struct{}) { w.WriteHeader(http.StatusOK) },
		"body":    func(w http.ResponseWriter, _ <-chan struct{}) { _, _ = io.WriteString(w, "{}") },
		"interim": func(w http.ResponseWriter, _ <-chan struct{}) {
			w.WriteHeader(http.StatusEarlyHints)
			w.WriteHeader(http.StatusOK)
		},
		"flush": func(w http.ResponseWriter, read <-chan struct{}) {
			_ = http.NewResponseController(w).Flush()
			<-read
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			read := make(chan struct{})
			c := startPiped(t, func(o *server.Options) {
				o.Limits.ConnectionAge = time.Millisecond
				o.Webhook = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { begin(w, read) })
			}).raw()
			time.Sleep(time.Second) //nolint:forbidigo // the bubble's clock
			c.send(reviewHead + "\n{  }")
			if name == "interim" && c.receive(http.MethodPost).close {
				t.Error("the interim answer ends the connection")
			}
			resp, err := http.ReadResponse(c.reader, &http.Request{Method: http.MethodPost})
			if close(read); err != nil {
				t.Fatal(err)
			}
			if _ = resp.Body.Close(); !resp.Close {
				t.Errorf("%s: %+v, want an answer that ends the connection", name, resp)
			}
		})
	}
}
