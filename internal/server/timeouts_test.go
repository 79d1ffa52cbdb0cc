package server_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/crdconvert/webhookd/internal/server"
)

// shortTimes sets limits that a test can wait for, in the order of the real ones.
func shortTimes(l *server.Limits) {
	l.ReadHeaderTimeout, l.ReadTimeout, l.IdleTimeout = 200*time.Millisecond, 600*time.Millisecond, 2*time.Second
}

const reviewHead = "POST /crdconvert HTTP/1.1\nHost: x\nContent-Type: application/json\nContent-Length: 4\n"

// TestSlowClients checks that a client that trickles is cut off in time (I04, I05), at its first
// request and at a later one.
func TestSlowClients(t *testing.T) {
	t.Parallel()
	// Long enough for a handshake on a busy machine.
	const header, body, late = 800 * time.Millisecond, 1500 * time.Millisecond, 4 * time.Second
	s := start(t, func(o *server.Options) {
		o.Limits.ReadHeaderTimeout, o.Limits.ReadTimeout, o.Limits.IdleTimeout = header, body, 5*time.Second
	})
	tests := map[string]struct {
		at          string // what is sent at once
		trickle     string // what would follow, slowly
		least, most time.Duration
	}{
		"header":         {"", strings.Repeat("x", 1000), header, header + late},
		"rest of header": {reviewHead, "X: " + strings.Repeat("x", 1000), header, header + late},
		"body":           {strings.Replace(reviewHead, "4\n", "1000\n\n", 1), strings.Repeat("x", 1000), body - 50*time.Millisecond, body + late},
		"chunked body":   {strings.Replace(reviewHead, "Content-Length: 4\n", "Transfer-Encoding: chunked\n\n", 1) + "fff\n", strings.Repeat("x", 1000), body - 50*time.Millisecond, body + late},
	}
	for name, tt := range tests {
		for _, earlier := range []int{0, 1} {
			t.Run(fmt.Sprintf("%s, %d earlier requests", name, earlier), func(t *testing.T) {
				t.Parallel()
				c := dialRaw(t, s.Addr())
				for range earlier {
					c.send(reviewHead + "\n{  }")
					c.receive(http.MethodPost)
				}
				begin := time.Now()
				c.send(tt.at)
				go func() {
					ticker := time.NewTicker(50 * time.Millisecond)
					defer ticker.Stop()
					for i := range tt.trickle {
						if _, err := c.Write([]byte(tt.trickle[i : i+1])); err != nil {
							return
						}
						<-ticker.C
					}
				}()
				_, _ = io.Copy(io.Discard, c.reader) // an answer may come first
				if took := time.Since(begin); took < tt.least || took > tt.most {
					t.Errorf("cut off after %s, want %s to %s", took, tt.least, tt.most)
				}
			})
		}
	}
}

// TestSlowBody checks that a body below MinBodyRate fails after six seconds (I05), and that a
// faster one gets its time if that is enough for its size. A converter may then take longer than
// the body could.
func TestSlowBody(t *testing.T) {
	t.Parallel()
	slow := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if body, err := io.ReadAll(r.Body); err == nil && len(body) < 100 {
			select {
			case <-r.Context().Done():
			case <-time.After(2 * time.Second):
			}
			if r.Context().Err() != nil {
				t.Error("the context ended with the time for the body")
			}
			r.Body = io.NopCloser(bytes.NewReader(body))
		} else {
			r.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body), failedReader{err}))
		}
		echo(w, r)
	})
	s := start(t, func(o *server.Options) { o.Limits.MinBodyRate, o.Webhook = 100, slow })
	patient := start(t, func(o *server.Options) { o.Limits.ReadTimeout, o.Webhook = time.Second, slow })
	tests := map[string]struct {
		to          *running
		size        int
		every       time.Duration // 10 bytes
		code        int
		least, most time.Duration
	}{
		"slow for its size":     {s, 150_000, 60 * time.Millisecond, http.StatusRequestTimeout, 5 * time.Second, 15 * time.Second},
		"too slow":              {s, 10000, 200 * time.Millisecond, http.StatusRequestTimeout, 5 * time.Second, 15 * time.Second},
		"fast enough":           {s, 1100, 60 * time.Millisecond, http.StatusOK, 6 * time.Second, 20 * time.Second},
		"then a slow converter": {patient, 50, time.Millisecond, http.StatusOK, 2 * time.Second, 15 * time.Second},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := dialRaw(t, tt.to.Addr())
			begin := time.Now()
			c.send(strings.Replace(reviewHead, "4\n", strconv.Itoa(tt.size)+"\n\n", 1))
			go c.trickle(strings.Repeat("0123456789", tt.size/10), tt.every)
			if got := c.receive(http.MethodPost); got.code != tt.code {
				t.Errorf("code %d, want %d", got.code, tt.code)
			}
			if took := time.Since(begin); took < tt.least || took > tt.most {
				t.Errorf("answered after %s, want %s to %s", took, tt.least, tt.most)
			}
		})
	}
}

// A failedReader returns its error, or io.EOF.
type failedReader struct{ err error }

func (f failedReader) Read([]byte) (int, error) {
	if f.err == nil {
		return 0, io.EOF
	}
	return 0, f.err
}

// trickle sends ten bytes at a time until it fails.
func (c *rawConn) trickle(text string, every time.Duration) {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for ; text != ""; <-ticker.C {
		if _, err := io.WriteString(c, text[:10]); err != nil {
			return
		}
		text = text[10:]
	}
}

// TestFirstRequestMayComeLate checks that a connection that a client opened ahead lasts as long as
// a used one, and that its first request then has its full time.
func TestFirstRequestMayComeLate(t *testing.T) {
	t.Parallel()
	s := start(t, func(o *server.Options) { shortTimes(&o.Limits) })
	for name, send := range map[string]func(c *rawConn){
		"at once": func(c *rawConn) { c.send(reviewHead + "\n{  }") },
		"in parts": func(c *rawConn) {
			c.send(reviewHead)
			c.silent(50 * time.Millisecond)
			c.send("\n{")
			c.silent(300 * time.Millisecond) // more than a header may take
			c.send("  }")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := dialRaw(t, s.Addr())
			c.silent(time.Second) // more than ReadHeaderTimeout and ReadTimeout, less than IdleTimeout
			for range 2 {
				send(c)
				if got := c.receive(http.MethodPost); got.code != http.StatusOK || got.body != "{  }" {
					t.Errorf("code %d, body %q", got.code, got.body)
				}
			}
		})
	}
	t.Run("never", func(t *testing.T) {
		t.Parallel()
		c := dialRaw(t, s.Addr())
		if begin := time.Now(); !c.closed() || time.Since(begin) < 1900*time.Millisecond {
			t.Errorf("closed after %s, want the idle timeout of 2s", time.Since(begin))
		}
	})
}

// TestRequestTimeoutBoundsItsBody checks that a client with a short timeout does not get the whole
// ReadTimeout for the body.
func TestRequestTimeoutBoundsItsBody(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	c := dialRaw(t, s.Addr())
	begin := time.Now()
	c.send(strings.Replace(reviewHead, "/crdconvert", "/crdconvert?timeout=200ms", 1) + "\n{")
	if got := c.receive(http.MethodPost); got.code != http.StatusRequestTimeout {
		t.Errorf("code %d, want 408", got.code)
	}
	if took := time.Since(begin); took < 90*time.Millisecond || took > 5*time.Second {
		t.Errorf("answered after %s, want 100ms", took)
	}
}

// TestQueuedBodyIsNotSlow checks that the time for a body starts when the server reads it. A body
// that waits longer for its share than it may take to arrive is still read.
func TestQueuedBodyIsNotSlow(t *testing.T) {
	t.Parallel()
	body := strings.Repeat("x", 100<<10) // more than the read of the header takes
	tests := map[string]struct {
		rate  int64 // MinBodyRate
		body  string
		query string
		code  int
	}{
		"came at once":                     {1 << 10, body, "", http.StatusOK},
		"came at once, at any rate":        {0, body, "", http.StatusOK},
		"never comes":                      {1 << 10, body[1:], "", http.StatusRequestTimeout},
		"never comes, at any rate":         {0, body[1:], "", http.StatusRequestTimeout},
		"the client's time ends meanwhile": {1 << 10, body, "?timeout=1s", http.StatusTooManyRequests},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hold, held, release := holder(t)
			var rejects record[int]
			s := start(t, func(o *server.Options) {
				o.Webhook = hold
				o.Limits.InFlightRequests, o.Limits.QueueWait = 1, patience
				o.Limits.ReadTimeout, o.Limits.MinBodyRate = 2*time.Second, tt.rate
				o.Hooks.Rejected = rejects.add
			})
			client := newClient(t)
			first := make(chan struct{})
			go func() {
				defer close(first)
				post(t, client, s.url(), strings.NewReader("hold"))
			}()
			select {
			case <-held:
			case <-first:
				t.Fatal("the request that holds the place was not admitted")
			}
			c := dialRaw(t, s.Addr())
			head := strings.Replace(reviewHead, "4\n", strconv.Itoa(len(body))+"\n\n", 1)
			c.send(strings.Replace(head, "/crdconvert", "/crdconvert"+tt.query, 1) + tt.body)
			if tt.query == "" {
				c.silent(3 * time.Second)
				release()
			}
			got := c.receive(http.MethodPost)
			if got.code != tt.code || (len(rejects.get()) > 0) != (tt.code == http.StatusRequestTimeout) {
				t.Errorf("code %d, want %d; rejected %v", got.code, tt.code, rejects.get())
			}
			release()
			<-first
		})
	}
}

// TestBodyQueuedMidwayIsNotSlow checks the same for a body of unknown length, which waits in the
// middle.
func TestBodyQueuedMidwayIsNotSlow(t *testing.T) {
	t.Parallel()
	const waits, readTime = 7 * time.Second, 6 * time.Second
	chunk := strconv.FormatInt(100<<10, 16) + "\n" + strings.Repeat("x", 100<<10) + "\n" // admitted with firstChunk
	tests := map[string]struct {
		rate int64 // MinBodyRate
		rest string
		code int
		took time.Duration
	}{
		"comes when it may":              {1 << 10, chunk + "0\n\n", http.StatusOK, waits},
		"comes when it may, at any rate": {0, chunk + "0\n\n", http.StatusOK, waits},
		"never comes":                    {1 << 10, chunk, http.StatusRequestTimeout, waits + readTime},
		"never comes, at any rate":       {0, chunk, http.StatusRequestTimeout, waits + readTime},
		"comes too slowly":               {200 << 10, chunk, http.StatusRequestTimeout, waits + 5500*time.Millisecond},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				hold, held, release := holder(t)
				s := startPiped(t, func(o *server.Options) {
					o.Webhook = hold
					tightLimits(&o.Limits)
					o.Limits.QueueWait, o.Limits.ReadTimeout, o.Limits.MinBodyRate = patience, readTime, tt.rate
				})
				client := pipeClient(t, func() *piped { return s })
				var holding sync.WaitGroup
				holding.Go(func() {
					post(t, client, "https://webhookd.test"+server.DefaultPath, strings.NewReader("hold"+strings.Repeat(" ", 700<<10)))
				})
				<-held
				c, began := s.raw(), time.Now()
				text := strings.Replace(reviewHead, "Content-Length: 4\n", "Transfer-Encoding: chunked\n\n", 1) + tt.rest
				go func() { _, _ = io.WriteString(c, strings.ReplaceAll(text, "\n", "\r\n")) }()
				<-time.After(waits)
				if got := s.Stats(); got.Requests != 2 || got.Waiting != 1 {
					t.Errorf("stats %+v, want one of two requests waiting", got)
				}
				release()
				if got := c.receive(http.MethodPost); got.code != tt.code || time.Since(began) != tt.took {
					t.Errorf("code %d after %s, want %d after %s", got.code, time.Since(began), tt.code, tt.took)
				}
				holding.Wait() // else the end of the test cancels it
			})
		})
	}
}

// TestStalledHandshake checks that a stalled handshake is cut off.
func TestStalledHandshake(t *testing.T) {
	t.Parallel()
	s := start(t, func(o *server.Options) { shortTimes(&o.Limits) })
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			if took := stall(t, s.Addr().String()); took > 1500*time.Millisecond {
				t.Errorf("cut off after %s, want 200ms", took)
			}
		})
	}
	wg.Wait()
	if got := post(t, newClient(t), s.url(), strings.NewReader("{}")); got.code != http.StatusOK {
		t.Errorf("code %d, want 200", got.code)
	}
}

// TestConnectionAge checks that an old connection ends with an answer, not before it.
func TestConnectionAge(t *testing.T) {
	t.Parallel()
	s := start(t, func(o *server.Options) { o.Limits.ConnectionAge = 500 * time.Millisecond })
	c := dialRaw(t, s.Addr())
	begin := time.Now()
	for {
		c.send(reviewHead + "\n{  }")
		got := c.receive(http.MethodPost)
		if got.code != http.StatusOK {
			t.Fatalf("code %d, want 200", got.code)
		}
		if got.close {
			break
		}
		if time.Since(begin) > patience {
			t.Fatal("the connection does not age")
		}
		c.silent(5 * time.Millisecond)
	}
	if age := time.Since(begin); age < 350*time.Millisecond {
		t.Errorf("ended at the age of %s, want 400ms or more", age)
	}
	if !c.closed() {
		t.Error("the connection stays open")
	}
}
