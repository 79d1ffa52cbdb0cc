package server

import (
	"context"
	"errors"
	"net/http"
	"strconv"
)

// A call is one review in progress. All its state is one allocation.
type call struct {
	server  *Server
	answer  *answer
	request *http.Request
	ctx     context.Context //nolint:containedctx // of the request, with its deadline
	cancel  context.CancelFunc
	share   share
	body    body
	corked  *[]byte // see cork.go
	discard bool    // the rest of the body must be read and discarded
	counted bool    // as shed
	held    bool    // set by Hold; used only by the goroutine of the request
}

// newCall returns the call of an acceptable request. It has to be admitted, and ended.
func (s *Server) newCall(a *answer, r *http.Request) *call {
	c := &call{server: s, answer: a, request: r}
	s.ledger.join(&c.share, flowKey{sourceOfRequest(r), r.ContentLength < 0 || r.ContentLength > smallBody})
	deadline := a.arrived.Add(requestTime(r.URL.RawQuery, s.opts.Limits.Timeout))
	c.ctx, c.cancel = context.WithDeadline(context.WithValue(r.Context(), callKey{}, c), deadline)
	return c
}

// end releases what the call holds.
func (c *call) end() {
	if !c.held {
		c.server.ledger.release(&c.share)
	}
	c.cancel()
}

// serve calls the webhook handler with a body that takes its share of memory as it arrives.
func (c *call) serve() {
	r := c.request
	c.body = body{ReadCloser: r.Body, call: c, size: r.ContentLength}
	if r.ContentLength < 0 {
		c.body.ReadCloser, c.body.size = http.MaxBytesReader(c.answer.ResponseWriter, r.Body, c.server.maxBody), c.server.maxBody
	}
	c.body.pace = c.server.opts.Limits.pace(c, r)
	c.answer.call = c
	if conn := c.answer.conn; conn != nil && (r.ContentLength < 0 || r.ContentLength > minWatched || c.server.opts.Limits.InFlightRequests > 0) {
		c.server.ledger.watch(&c.share, max(r.ContentLength, 0), c.answer.arrived, c.stop)
		conn.watch(&c.share)
	}
	inner := r.WithContext(c.ctx)
	inner.Body = &c.body
	defer c.served()
	c.server.opts.Webhook.ServeHTTP(c.answer, inner)
	if c.corked != nil {
		_ = http.NewResponseController(c.answer).Flush() // not after a panic, which gets another answer
	}
	if conn := c.answer.conn; conn != nil && !c.answer.failed {
		conn.conns.setAnswered(conn)
	}
}

// stop makes a stage of the call fail at once.
func (c *call) stop(s stage) {
	if s == converting {
		c.cancel()
	} else {
		c.answer.conn.interrupt(s == answering)
	}
}

// arrived is called when the whole body has arrived. It waits for the turn to convert.
func (c *call) arrived() error {
	if conn := c.answer.conn; conn != nil {
		conn.conns.setBusy(conn)
	}
	err := c.server.ledger.received(c.ctx, &c.share)
	if err != nil {
		return c.shed(err)
	}
	return nil
}

// answers is called when the answer begins.
func (c *call) answers() {
	if c.held {
		return
	}
	size := c.share.bytes
	if text := c.answer.Header()["Content-Length"]; len(text) == 1 {
		if n, err := strconv.ParseInt(text[0], 10, 64); err == nil {
			size = n
		}
	}
	c.server.ledger.answers(&c.share, size)
	if conn := c.answer.conn; conn != nil && size >= corkAbove && c.server.ledger.growNow(&c.share, corkSize) {
		c.corked = c.server.corks.get()
		conn.cork(c.corked)
	}
}

// served ends the answer, also after a panic.
func (c *call) served() {
	if c.corked != nil {
		c.answer.conn.uncork()
		c.server.corks.put(c.corked)
	}
	if c.share.stop != nil {
		c.answer.conn.watch(nil)
	}
	if c.discard {
		c.server.discardBody(c.answer, c.body.ReadCloser)
	}
}

// grow enlarges the share to want.
func (c *call) grow(want amount) error {
	if err := c.server.ledger.grow(c.ctx, &c.share, want); err != nil {
		return c.shed(err)
	}
	return nil
}

// shed returns the answer to a request with an error of the ledger, and counts it once.
func (c *call) shed(err error) error {
	over, ok := errors.AsType[overloadError](err)
	if !ok {
		return overloadError(ShedBytes) // the client has gone
	}
	if !c.counted {
		c.counted = true
		c.server.opts.Hooks.shed(string(over))
	}
	return over
}
