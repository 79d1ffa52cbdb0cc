package server_test

import (
	"bytes"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/crdconvert/webhookd/internal/server"
	"github.com/crdconvert/webhookd/internal/server/listen"
)

const reviewHead = "POST /crdconvert HTTP/1.1\nHost: x\nContent-Type: application/json\nContent-Length: 4\n"

// TestSlowClients checks that a header that trickles is cut off in time (I04), at the first request
// and at a later one.
func TestSlowClients(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		at      string // what is sent at once; the rest follows slowly
		earlier int    // requests
	}{
		"header":                  {"", 0},
		"rest of header":          {reviewHead + "X: ", 0},
		"later header":            {"", 1},
		"rest of a later header ": {reviewHead + "X: ", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c := startPiped(t, nil).raw()
				for range tt.earlier {
					c.send(reviewHead + "\n{  }")
					c.receive(http.MethodPost)
				}
				began := time.Now()
				c.send(tt.at)
				c.trickle(strings.Repeat("0123456789", 1000), 10, 50*time.Millisecond)
				_, _ = io.Copy(io.Discard, c.reader)
				if took := time.Since(began); took != listen.HeaderTime {
					t.Errorf("cut off after %s, want %s", took, listen.HeaderTime)
				}
			})
		})
	}
}

// TestSlowBody checks that a body that is too slow fails after five seconds and the time that is
// right for what came (I05), and that a faster one gets its time if that is enough for its size. A
// converter may then take longer than the body could.
func TestSlowBody(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		size  int
		every time.Duration // 10 bytes
		code  int
		took  time.Duration
	}{
		"slow for its size":     {150_000, 60 * time.Millisecond, http.StatusRequestTimeout, 5085 * time.Millisecond},
		"too slow":              {10000, 200 * time.Millisecond, http.StatusRequestTimeout, 5*time.Second + 270*time.Second/1024},
		"fast enough":           {2000, 30 * time.Millisecond, http.StatusOK, 199 * 30 * time.Millisecond},
		"then a slow converter": {50, 0, http.StatusOK, 20 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c := startPiped(t, func(o *server.Options) { o.Webhook = slowForSmall(t, 20*time.Second) }).raw()
				began := time.Now()
				c.send(strings.Replace(reviewHead, "4\n", strconv.Itoa(tt.size)+"\n\n", 1))
				c.trickle(strings.Repeat("0123456789", tt.size/10), 10, tt.every)
				if got := c.receive(http.MethodPost); got.code != tt.code || time.Since(began) != tt.took {
					t.Errorf("code %d after %s, want %d after %s", got.code, time.Since(began), tt.code, tt.took)
				}
			})
		})
	}
}

// slowForSmall is echo, but takes its time for a body of less than 100 bytes.
func slowForSmall(t *testing.T, takes time.Duration) http.HandlerFunc {
	t.Helper()
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil && len(body) < 100 {
			select {
			case <-r.Context().Done():
				t.Error("the context ended with the time for the body")
			case <-time.After(takes):
			}
		}
		r.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body), failedReader{err}))
		echo(w, r)
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

// trickle sends n bytes at a time until it fails, while the test goes on. Nothing else may be sent
// until wait returns: in a bubble, time would stop.
func (c *rawConn) trickle(text string, n int, every time.Duration) (wait func()) {
	var sending sync.WaitGroup
	c.t.Cleanup(sending.Wait)
	sending.Go(func() {
		for ; text != ""; text = text[n:] {
			if _, err := io.WriteString(c, text[:n]); err != nil {
				return
			}
			<-time.After(every)
		}
	})
	return sending.Wait
}

// TestFirstRequestMayComeLate checks that a connection that a client opened ahead lasts as long as
// a used one, and that its first request then has its full time.
func TestFirstRequestMayComeLate(t *testing.T) {
	t.Parallel()
	l := server.DefaultLimits()
	for name, send := range map[string]func(c *rawConn){
		"at once": func(c *rawConn) { c.send(reviewHead + "\n{  }") },
		"in parts": func(c *rawConn) {
			c.send(reviewHead)
			c.silent(listen.HeaderTime - time.Second)
			c.send("\n{")
			c.silent(5 * time.Second)
			c.send("  }")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c := startPiped(t, nil).raw()
				c.silent(l.IdleTimeout - time.Second) // more than a header and a body may take
				for range 2 {
					send(c)
					if got := c.receive(http.MethodPost); got.code != http.StatusOK || got.body != "{  }" {
						t.Errorf("code %d, body %q", got.code, got.body)
					}
				}
			})
		})
	}
	t.Run("never", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			c, began := startPiped(t, nil).raw(), time.Now()
			if !c.closed() || time.Since(began) != l.IdleTimeout {
				t.Errorf("closed after %s, want the idle timeout of %s", time.Since(began), l.IdleTimeout)
			}
		})
	})
}

// TestRequestTimeoutBoundsItsBody checks that a client with a short timeout does not get more time
// for its body.
func TestRequestTimeoutBoundsItsBody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, began := startPiped(t, nil).raw(), time.Now()
		c.send(strings.Replace(reviewHead, "/crdconvert", "/crdconvert?timeout=3s", 1) + "\n{")
		got := c.receive(http.MethodPost)
		if took := time.Since(began); got.code != http.StatusRequestTimeout || took != 2*time.Second {
			t.Errorf("code %d after %s, want 408 after 2s", got.code, took)
		}
	})
}

// TestQueuedBodyIsNotSlow checks that the time for a body starts when the server reads it. A body
// that waits longer for its share than it may take to arrive is still read, also one of unknown
// length, which waits in the middle.
func TestQueuedBodyIsNotSlow(t *testing.T) {
	t.Parallel()
	const waits, readTime = 7 * time.Second, 20 * time.Second
	body := strings.Repeat("x", 100<<10) // more than the read of the header takes
	sized := strings.Replace(reviewHead, "4\n", strconv.Itoa(len(body))+"\n\n", 1)
	chunk := strings.Replace(reviewHead, "Content-Length: 4\n", "Transfer-Encoding: chunked\n\n", 1) +
		strconv.FormatInt(100<<10, 16) + "\n" + body + "\n"
	for name, tt := range map[string]struct {
		text string
		code int
		took time.Duration
	}{
		"came at once":                     {sized + body, http.StatusOK, waits},
		"never comes":                      {sized + body[1:], http.StatusRequestTimeout, waits + readTime},
		"the client's time ends meanwhile": {strings.Replace(sized, "rt ", "rt?timeout=3s ", 1) + body, http.StatusTooManyRequests, 2 * time.Second},
		"chunks come when they may":        {chunk + "0\n\n", http.StatusOK, waits},
		"a chunk never comes":              {chunk, http.StatusRequestTimeout, 29 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				hold, held, release := holder(t)
				var rejects record[int]
				s := startPiped(t, func(o *server.Options) {
					o.Webhook, o.Hooks.Rejected = hold, rejects.add
					tightLimits(&o.Limits)
					o.Limits.QueueWait = time.Minute
				})
				client := pipeClient(t, func() *piped { return s })
				var holding sync.WaitGroup
				holding.Go(func() {
					post(t, client, "https://webhookd.test"+server.DefaultPath, strings.NewReader("hold"+strings.Repeat(" ", 700<<10)))
				})
				<-held
				c, began := s.raw(), time.Now()
				holding.Go(func() { _, _ = io.WriteString(c, strings.ReplaceAll(tt.text, "\n", "\r\n")) })
				time.AfterFunc(waits, func() {
					if got := s.Stats(); tt.took >= waits && (got.Requests != 2 || got.Waiting != 1) {
						t.Errorf("stats %+v, want one of two requests waiting", got)
					}
					release()
				})
				got := c.receive(http.MethodPost)
				if took := time.Since(began).Round(time.Millisecond); got.code != tt.code || took != tt.took {
					t.Errorf("code %d after %s, want %d after %s", got.code, took, tt.code, tt.took)
				}
				if (len(rejects.get()) > 0) != (tt.code == http.StatusRequestTimeout) {
					t.Errorf("rejected %v", rejects.get())
				}
				holding.Wait() // else the end of the test cancels it
			})
		})
	}
}

// TestStalledHandshake checks that a stalled handshake is cut off.
func TestStalledHandshake(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, began := startPiped(t, nil), time.Now()
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() {
				c, err := s.dial()
				if err != nil {
					t.Error(err)
					return
				}
				_, _ = c.Write([]byte{22, 3, 1}) // the start of a TLS record
				_, _ = c.Read(make([]byte, 1))
				if took := time.Since(began); took != listen.HeaderTime {
					t.Errorf("cut off after %s", took)
				}
			})
		}
		wg.Wait()
		c := s.raw()
		c.send(reviewHead + "\n{  }")
		if got := c.receive(http.MethodPost); got.code != http.StatusOK {
			t.Errorf("code %d, want 200", got.code)
		}
	})
}

// What net/http logs, and want of descriptors, go to a hook, a line each.
func TestHTTPFailed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var lines record[string]
		s := startPiped(t, func(o *server.Options) {
			o.Hooks.HTTPFailed = lines.add
			o.Webhook = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(http.StatusOK)
				w.WriteHeader(http.StatusOK)
			})
		})
		s.listener.accepting <- nil
		c := s.raw()
		c.send(reviewHead + "\n{  }")
		c.receive(http.MethodPost)
		got := lines.get()
		if len(got) != 2 || got[0] != "http: Accept error: too many open files" ||
			!strings.HasPrefix(got[1], "http: superfluous response.WriteHeader call") || strings.Contains(got[1], "\n") {
			t.Errorf("%q", got)
		}
	})
}

// TestConnectionAge checks that an old connection ends with an answer, not before it.
func TestConnectionAge(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, began := startPiped(t, func(o *server.Options) { o.Limits.ConnectionAge = time.Minute }).raw(), time.Now()
		for last := false; !last; {
			c.silent(time.Second)
			c.send(reviewHead + "\n{  }")
			got := c.receive(http.MethodPost)
			age := time.Since(began)
			if last = got.close; got.code != http.StatusOK || last && age < 48*time.Second || !last && age > 72*time.Second {
				t.Fatalf("code %d at the age of %s, the last one: %t", got.code, age, last)
			}
		}
		if !c.closed() {
			t.Error("the connection stays open")
		}
	})
}
