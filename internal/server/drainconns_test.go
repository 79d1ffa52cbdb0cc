package server_test

import (
	"bytes"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/crdconvert/webhookd/internal/server"
	"github.com/crdconvert/webhookd/internal/server/listen"
)

// drained is the time from the signal to the close of the listener. Idle connections close then, or
// half a second after they became idle.
const (
	drained = 15 * time.Second
	quiet   = 500 * time.Millisecond
	atOnce  = 50 * time.Millisecond
)

// An ending is a stopping server in a bubble, and a connection to it that was used once.
type ending struct {
	*piped

	used *rawConn
	at   time.Time // time of the signal
}

// until waits until d after the signal.
func (e *ending) until(d time.Duration) { <-time.After(time.Until(e.at.Add(d))) }

// closes checks that the server closes c, without another byte, at d after the signal.
func (e *ending) closes(c *rawConn, d time.Duration) {
	e.t.Helper()
	if closed, took := c.closed(), time.Since(e.at); !closed || took < d || took > d+atOnce {
		e.t.Errorf("closed %t after %s, want %s", closed, took, d)
	}
}

// answers checks that the server answers the request on c, and that the connection ends with the
// answer.
func (e *ending) answers(c *rawConn) { e.answersWith(c, "{  }") }

func (e *ending) answersWith(c *rawConn, body string) {
	e.t.Helper()
	if got := c.receive(http.MethodPost); got.code != http.StatusOK || got.body != body || !got.close {
		e.t.Errorf("code %d, body %q, the last one %t; want 200, the body and true", got.code, got.body, got.close)
	}
	if !c.closed() {
		e.t.Error("the connection stays open")
	}
}

// echoSlow takes longer for "slow" than a header may.
func echoSlow(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if string(body) == "slow" {
		select {
		case <-time.After(2 * listen.HeaderTime):
		case <-r.Context().Done():
			err = r.Context().Err()
		}
	}
	r.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body), failedReader{err}))
	echo(w, r)
}

// TestConnectionsAtShutdown checks the connections when the server stops. A request whose first
// byte arrived before the listener closed is answered, and so is one on a connection opened before.
// The server closes only connections that were idle for the whole drain, or become idle afterwards.
func TestConnectionsAtShutdown(t *testing.T) {
	t.Parallel()
	for name, do := range map[string]func(e *ending){
		"idle for the whole drain": func(e *ending) {
			e.closes(e.used, drained)
		},
		"used while the server drains": func(e *ending) {
			e.until(drained - time.Second)
			e.used.send(reviewHead + "\n{  }")
			e.answers(e.used)
		},
		"header that begins in the last moment": func(e *ending) {
			e.until(drained - time.Millisecond)
			e.used.send("POST /crdconvert HTTP/1.1\nHost")
			e.until(drained + 2*time.Second)
			e.used.send(": x\nContent-Type: application/json\nContent-Length: 4\n\n{  }")
			e.answers(e.used)
		},
		"body that comes in the end": func(e *ending) {
			e.until(drained - time.Millisecond)
			e.used.send(reviewHead + "\n{  ")
			e.until(drained + 2*time.Second)
			e.used.send("}")
			e.answers(e.used)
		},
		"header that never ends": func(e *ending) {
			e.until(drained - time.Millisecond)
			e.used.send("POST /crdconvert HTTP/1.1\n")
			e.closes(e.used, drained-time.Millisecond+listen.HeaderTime)
		},
		"less than a header": func(e *ending) {
			e.until(drained - time.Millisecond)
			e.used.send("P")
			e.closes(e.used, drained-time.Millisecond+listen.HeaderTime)
		},
		"opened in the last moment": func(e *ending) {
			e.until(drained - time.Millisecond)
			c := e.raw()
			e.until(drained + quiet/2)
			if _, err := e.dial(); err == nil {
				e.t.Error("the listener is still open")
			}
			c.send(reviewHead + "\n{  }")
			e.answers(c)
		},
		"opened in the last moment, and used for something slow": func(e *ending) {
			e.until(drained - time.Millisecond)
			c := e.raw()
			e.until(drained + quiet/2)
			c.send(reviewHead + "\nslow")
			e.answersWith(c, "slow")
		},
		"opened in the last moment, and never used": func(e *ending) {
			e.until(drained - time.Millisecond)
			e.closes(e.raw(), drained-time.Millisecond+quiet)
		},
		"opened early, and never used": func(e *ending) {
			c := e.raw()
			e.until(time.Second)
			e.closes(c, drained)
		},
		"handshake that never ends": func(e *ending) {
			e.until(drained - time.Second)
			c, err := e.dial()
			if err != nil {
				e.t.Fatal(err)
			}
			if _, err := c.Read(make([]byte, 1)); err == nil || time.Since(e.at) > drained-time.Second+listen.HeaderTime {
				e.t.Errorf("closed %s after the signal: %v", time.Since(e.at), err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := startPiped(t, func(o *server.Options) { o.DrainDelay, o.Webhook = drained, http.HandlerFunc(echoSlow) })
				e := &ending{piped: s, used: s.raw()}
				e.used.send(reviewHead + "\n{  }")
				if got := e.used.receive(http.MethodPost); got.code != http.StatusOK || got.close {
					t.Fatalf("code %d, the last one %t; want 200 and false", got.code, got.close)
				}
				<-time.After(time.Second)
				e.at = time.Now()
				s.stop()
				do(e)
				if err := s.wait(); err != nil {
					t.Errorf("Run: %v", err)
				}
			})
		})
	}
}

// TestAnswersToRequestsBeforeTheSignal checks that an answer ends the connection if the server
// drains when the answer begins.
func TestAnswersToRequestsBeforeTheSignal(t *testing.T) {
	t.Parallel()
	for _, takes := range []time.Duration{5 * time.Second, 20 * time.Second} {
		t.Run(takes.String(), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := startPiped(t, func(o *server.Options) {
					o.DrainDelay = drained
					o.Webhook = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
						<-time.After(takes)
						echo(w, r)
					})
				})
				c := s.raw()
				if err := c.SetDeadline(time.Now().Add(time.Minute)); err != nil {
					t.Fatal(err)
				}
				c.send(reviewHead + "\n{  }")
				<-time.After(time.Second)
				s.stop()
				(&ending{piped: s}).answers(c)
				if err := s.wait(); err != nil {
					t.Errorf("Run: %v", err)
				}
			})
		})
	}
}
