package server

import (
	"context"
	"net/http"
	"sync"
	"time"
)

// A call is one review in progress. All its state is one allocation.
type call struct {
	server  *Server
	answer  *answer
	request *http.Request
	context callContext
	share   share
	body    body
	corked  bool // the answer
	discard bool // the rest of the body must be read and discarded

	admission
}

// newCall returns the call of an acceptable request. It has to be admitted.
func (s *Server) newCall(a *answer, r *http.Request) *call {
	c := &call{server: s, answer: a, request: r, admission: admission{gate: s.gate, hooks: &s.opts.Hooks}}
	c.admission.share = &c.share
	c.share.promised = max(r.ContentLength, 0)
	c.context = callContext{
		Context: r.Context(), admission: &c.admission,
		deadline: a.arrived.Add(requestTime(r.URL.RawQuery, s.opts.Limits.Timeout)),
	}
	if r.ContentLength > minTracked {
		c.context.timed() // a list asks often, and each time would read the clock
	}
	return c
}

// end releases what the call holds.
func (c *call) end() {
	c.release()
	c.context.end()
}

// serve calls the webhook handler with a body that takes its share of memory as it arrives.
func (c *call) serve() {
	r := c.request
	c.body = body{ReadCloser: r.Body, call: c, size: r.ContentLength}
	if r.ContentLength < 0 {
		c.body.ReadCloser, c.body.size = http.MaxBytesReader(c.answer.ResponseWriter, r.Body, c.server.maxBody), c.server.maxBody
	}
	c.body.pace = c.server.opts.Limits.pace(c, r)
	if conn := c.answer.conn; conn != nil && c.gate.watches(&c.share) {
		c.gate.bodyBegins(&c.share, c.started(), conn.interrupt)
		conn.watch(func(n int) { c.gate.answerSent(&c.share, n) })
	}
	inner := r.WithContext(&c.context)
	inner.Body = &c.body
	defer c.served()
	c.server.opts.Webhook.ServeHTTP(c.answer, inner)
	if c.corked {
		_ = http.NewResponseController(c.answer).Flush() // not after a panic, which gets another answer
	}
	if conn := c.answer.conn; conn != nil && !c.answer.failed {
		conn.answered = true
	}
}

// started returns when the body began to arrive: the wait for its share is not the client's fault.
func (c *call) started() time.Time { return c.answer.arrived.Add(c.share.waited) }

// arrived is called when the whole body has arrived.
func (c *call) arrived(size int64) {
	conn := c.answer.conn
	if conn == nil {
		return
	}
	c.gate.bodyDone(&c.share)
	conn.conns.move(conn, converting)
	if size >= corkAbove && c.gate.growNow(&c.share, corkSize) {
		c.corked = true
		conn.cork(c.server.corks.get())
	}
}

// served ends the answer, also after a panic.
func (c *call) served() {
	if c.corked {
		c.server.corks.put(c.answer.conn.uncork())
	}
	if c.share.transfer.interrupt != nil {
		c.answer.conn.watch(nil)
	}
	if c.discard {
		c.server.discardBody(c.answer, c.body.ReadCloser)
	}
}

// A callContext is the context of a review. A small review is over before anything waits for its
// deadline, so a timer is made only then. It is safe for concurrent use.
type callContext struct {
	context.Context //nolint:containedctx // it is one: that of the request

	deadline  time.Time
	admission *admission

	mu    sync.Mutex
	timer context.Context //nolint:containedctx // has the deadline; nil: not made yet
	stop  context.CancelFunc
	ended bool
}

// Deadline implements context.Context.
func (c *callContext) Deadline() (time.Time, bool) {
	if t, ok := c.Context.Deadline(); ok && t.Before(c.deadline) {
		return t, true
	}
	return c.deadline, true
}

// Done implements context.Context.
func (c *callContext) Done() <-chan struct{} { return c.timed().Done() }

// Err implements context.Context.
func (c *callContext) Err() error {
	timer, ended := c.state()
	switch {
	case timer != nil:
		return timer.Err()
	case c.Context.Err() != nil:
		return c.Context.Err()
	case !time.Now().Before(c.deadline):
		return c.timed().Err()
	case ended:
		return context.Canceled
	}
	return nil
}

// Value implements context.Context. With a timer, it lets package context find the timer, which
// then needs no goroutine to cancel contexts made from this one.
func (c *callContext) Value(key any) any {
	if key == (admissionKey{}) {
		return c.admission
	}
	if timer, _ := c.state(); timer != nil {
		return timer.Value(key)
	}
	return c.Context.Value(key)
}

func (c *callContext) state() (timer context.Context, ended bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.timer, c.ended
}

// timed returns the context with a timer.
func (c *callContext) timed() context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.timer == nil {
		c.timer, c.stop = context.WithDeadline(c.Context, c.deadline)
		if c.ended {
			c.stop()
		}
	}
	return c.timer
}

// end cancels the context.
func (c *callContext) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
	if c.stop != nil {
		c.stop()
	}
}
