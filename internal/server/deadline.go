package server

import (
	"context"
	"net/url"
	"strings"
	"sync"
	"time"
)

// answerMargin is how much earlier than its client the server gives up, so that the client gets an
// answer and not a broken connection.
const answerMargin = time.Second

// requestTime returns how long a request may take: min(`?timeout=`, most) less a margin of a second,
// or of half the time where that is less. A value that is no positive duration counts as absent.
func requestTime(rawQuery string, most time.Duration) time.Duration {
	d := most
	if asked := timeoutParam(rawQuery); asked > 0 {
		d = min(asked, most)
	}
	return d - min(answerMargin, d/2)
}

// timeoutParam finds timeout in a raw query. url.ParseQuery would build a map for each request.
func timeoutParam(rawQuery string) time.Duration {
	for rawQuery != "" {
		var pair string
		pair, rawQuery, _ = strings.Cut(rawQuery, "&")
		name, value, _ := strings.Cut(pair, "=")
		if name != "timeout" {
			continue
		}
		value, err := url.QueryUnescape(value)
		if err != nil {
			return 0
		}
		d, err := time.ParseDuration(value)
		if err != nil {
			return 0
		}
		return d
	}
	return 0
}

// A deadlineContext is context.WithDeadline for contexts that nobody waits on: it makes the timer
// when Done is first called or the time is up. Converters compute and only look at Err, so most
// requests do without a timer and its bookkeeping, which cost more than all else in this package.
type deadlineContext struct {
	parent   context.Context //nolint:containedctx // this type is a context
	deadline time.Time
	admission

	mu     sync.Mutex
	armed  context.Context //nolint:containedctx // what the parent becomes once somebody waits
	cancel context.CancelFunc
}

var _ context.Context = (*deadlineContext)(nil)

func (c *deadlineContext) Deadline() (time.Time, bool) {
	if d, ok := c.parent.Deadline(); ok && d.Before(c.deadline) {
		return d, true
	}
	return c.deadline, true
}

func (c *deadlineContext) Done() <-chan struct{} { return c.arm().Done() }

func (c *deadlineContext) Err() error {
	if ctx := c.current(); ctx != c.parent {
		return ctx.Err()
	}
	if time.Now().Before(c.deadline) {
		return c.parent.Err()
	}
	return c.arm().Err() // from now on the same error for ever
}

func (c *deadlineContext) Value(key any) any {
	if key == (admissionKey{}) {
		return &c.admission
	}
	return c.current().Value(key)
}

// stop frees the timer, if there is one.
func (c *deadlineContext) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cancel != nil {
		c.cancel()
	}
}

func (c *deadlineContext) current() context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.armed != nil {
		return c.armed
	}
	return c.parent
}

func (c *deadlineContext) arm() context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.armed == nil {
		c.armed, c.cancel = context.WithDeadline(c.parent, c.deadline)
	}
	return c.armed
}
