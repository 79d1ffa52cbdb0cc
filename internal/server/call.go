package server

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/crdconvert/webhookd/internal/server/gate"
	"github.com/crdconvert/webhookd/internal/server/listen"
)

// A call is one review in progress. All its state is one allocation.
type call struct {
	server  *Server
	answer  *answer
	request *http.Request
	ctx     context.Context //nolint:containedctx // of the request, with its deadline
	cancel  context.CancelFunc
	share   gate.Share
	body    body
	corked  bool // see listen.Conn.Cork
	discard bool // the rest of the body
	counted bool // as shed
	held    bool // set by Hold; used only by the goroutine of the request
}

// newCall returns the call of an acceptable request. It has to be admitted, and ended.
func (s *Server) newCall(a *answer, r *http.Request) *call {
	c := &call{server: s, answer: a, request: r}
	deadline := a.arrived.Add(requestTime(r.URL.RawQuery, s.opts.Limits.Timeout))
	ctx, cancel := context.WithDeadline(context.WithValue(r.Context(), callKey{}, c), deadline)
	c.ctx, c.cancel = ctx, cancel
	addr, _ := netip.ParseAddrPort(r.RemoteAddr)
	s.ledger.Join(ctx, &c.share, gate.KeyOf(gate.SourceOf(addr.Addr()), r.ContentLength))
	return c
}

// answerMargin is how much earlier than its client the server gives up, so that the client gets an
// answer and not a broken connection.
const answerMargin = time.Second

// requestTime returns how long a request may take: the lesser of `timeout=` in its query and most,
// less a margin of a second or of half the time, whichever is less. It ignores a timeout that is
// not a positive duration.
func requestTime(query string, most time.Duration) time.Duration {
	d := most
	for part := range strings.SplitSeq(query, "&") {
		if text, is := strings.CutPrefix(part, "timeout="); is {
			text, _ = url.QueryUnescape(text)
			if asked, _ := time.ParseDuration(text); asked > 0 { // 0 if that fails
				d = min(asked, most)
			}
			break
		}
	}
	return d - min(answerMargin, d/2)
}

// end releases what the call holds.
func (c *call) end() {
	if !c.held {
		c.share.Release()
	}
	if c.discard {
		c.discardBody()
	}
	c.cancel()
}

// serve calls the webhook handler with a body that takes its share of memory as it arrives.
func (c *call) serve() {
	r, conn := c.request, c.answer.conn
	c.body = body{ReadCloser: r.Body, call: c, size: r.ContentLength, length: r.ContentLength}
	if r.ContentLength < 0 {
		c.body.ReadCloser, c.body.size = http.MaxBytesReader(c.answer.ResponseWriter, r.Body, c.server.maxBody), c.server.maxBody
	}
	c.body.pace()
	c.answer.call = c
	if conn != nil { // it can be given up
		c.share.Watch(max(r.ContentLength, 0), c.answer.arrived, c.stop)
		conn.Watch(&c.share)
	}
	inner := r.WithContext(c.ctx)
	inner.Body = &c.body
	defer func() {
		if c.corked { // also after a panic
			conn.Uncork()
		}
	}()
	c.server.opts.Webhook.ServeHTTP(c.answer, inner)
	if c.corked {
		_ = http.NewResponseController(c.answer).Flush() // not after a panic, which gets another answer
	}
	if conn != nil && !c.answer.failed {
		conn.SetAnswered()
	}
}

// stop makes a stage of the call fail at once.
func (c *call) stop(s gate.Stage) {
	if s == gate.Converting {
		c.cancel()
	} else {
		c.answer.conn.Interrupt(s == gate.Answering)
	}
}

// arrived is called when the whole body has arrived. It waits for the turn to convert.
func (c *call) arrived() error {
	if conn := c.answer.conn; conn != nil {
		conn.SetBusy()
	}
	return c.shed(c.share.Convert())
}

// answers is called when the answer begins.
func (c *call) answers() {
	if c.held {
		return
	}
	size, _ := strconv.ParseInt(c.answer.Header().Get("Content-Length"), 10, 64) // 0: unknown
	c.share.Answer(size)
	if conn := c.answer.conn; conn != nil && size >= listen.CorkAbove && c.share.ReserveNow(listen.CorkSize) {
		c.corked = true
		conn.Cork()
	}
}

// shed returns the answer to a request with an error of its share, and counts it once.
func (c *call) shed(err error) error {
	if err == nil {
		return nil
	}
	over, ok := errors.AsType[gate.OverloadError](err)
	if !ok {
		return gate.OverloadError(gate.ShedBytes) // the client has gone
	}
	if !c.counted {
		c.counted = true
		c.server.opts.Hooks.Shed(string(over))
	}
	return over
}
