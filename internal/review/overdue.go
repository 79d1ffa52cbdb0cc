package review

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// A converter is told of the deadline by its context. Nothing can stop one that does not listen, and the client of a review
// without an answer learns nothing but that its own time is up. So a review whose converter has not returned when it is
// overdue is answered from outside, and its converter is left to itself.

const (
	overdueAfter = 250 * time.Millisecond // the deadline, so that a converter which listens answers itself
	lookInterval = 100 * time.Millisecond
	maxStuck     = 8 // conversions of one kind; more would only take more memory and processors along
)

var (
	errStuck = errors.New("converter did not return before the deadline of the request, fix it")
	errFull  = errors.New(strconv.Itoa(maxStuck) +
		" conversions of this kind have never returned, fix the converter and restart webhookd")
	errOvertaken = errors.New("the review has been answered")
)

// A watch answers the reviews of one handler that are overdue. Its timer runs only while there are any reviews.
type watch struct {
	reviewer *Reviewer
	send     func(w http.ResponseWriter, c *conversion) error

	mu       sync.Mutex
	first    *attempt
	looking  bool
	stuck    map[string]int // conversions that have not returned, by the name of their kind
	anyStuck atomic.Bool
}

// An attempt is what a watch knows of a review in progress: enough to answer it while another goroutine is at work on its
// conversion.
type attempt struct {
	of       *conversion     // whose envelope and registry alone may be read here: they stay as they are once object is set
	ctx      context.Context //nolint:containedctx // of the request
	w        http.ResponseWriter
	body     []byte
	started  time.Time
	deadline time.Time
	object   atomic.Int64 // the index of the one that a converter has, plus one

	previous, next *attempt
	answered       chan struct{} // closed when the watch has answered; nil: it has not begun to
	kind           string        // that was counted as stuck; empty: none
	broken         bool          // the answer is none, or half of one
}

// begin has a review watched until end. One without a deadline is never overdue.
func (o *watch) begin(ctx context.Context, w http.ResponseWriter, body []byte, c *conversion) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return
	}
	a := &c.attempt
	a.of, a.ctx, a.w, a.body, a.started, a.deadline = c, ctx, w, body, time.Now(), deadline
	a.object.Store(0)
	o.mu.Lock()
	defer o.mu.Unlock()
	if a.next = o.first; a.next != nil {
		a.next.previous = a
	}
	o.first = a
	if !o.looking {
		o.looking = true
		time.AfterFunc(lookInterval, o.look)
	}
}

// end reports whether the review is still to be answered; if not, it has been. It aborts the request if that failed. Only
// the first call does anything.
func (o *watch) end(a *attempt) bool {
	if a.w == nil {
		return true
	}
	o.mu.Lock()
	answered := a.answered
	if answered == nil {
		o.remove(a)
	}
	o.mu.Unlock()
	if answered != nil {
		<-answered
	}
	kind, broken := a.kind, a.broken
	a.of, a.ctx, a.w, a.body, a.answered, a.kind, a.broken = nil, nil, nil, nil, nil, "", false
	if kind != "" {
		o.count(kind, -1)
	}
	if broken {
		panic(http.ErrAbortHandler) // an ordinary return would make it a whole answer
	}
	return answered == nil
}

// remove takes a out of the list. Callers hold mu.
func (o *watch) remove(a *attempt) {
	if a.previous == nil {
		o.first = a.next
	} else {
		a.previous.next = a.next
	}
	if a.next != nil {
		a.next.previous = a.previous
	}
	a.previous, a.next = nil, nil
}

// look has those answered that are overdue, and looks again as long as there are others.
func (o *watch) look() {
	now := time.Now()
	o.mu.Lock()
	defer o.mu.Unlock()
	for a := o.first; a != nil; {
		next := a.next
		if object := a.object.Load(); object > 0 && now.After(a.deadline.Add(overdueAfter)) {
			o.remove(a)
			a.answered = make(chan struct{})
			go o.answer(a, int(object-1))
		}
		a = next
	}
	if o.looking = o.first != nil; o.looking {
		time.AfterFunc(lookInterval, o.look)
	}
}

// answer answers a review whose converter has not returned an object. The connection ends with it, for its goroutine is
// the converter's.
func (o *watch) answer(a *attempt, index int) {
	defer close(a.answered)
	// None of the reviewer's conversions: those ask for memory, which only the goroutine of the request may do.
	c, pair := &conversion{doc: &jsondoc.Document{}, hooks: o.reviewer.hooks}, unknownPair()
	defer func() {
		if v := recover(); v != nil {
			a.broken = true
			_ = c.panicked(a.ctx, pair, v)
		}
	}()
	pair = c.giveUp(a, index)
	a.kind = pair.Kind
	o.count(a.kind, 1)
	a.w.Header().Set("Connection", "close")
	if o.send(a.w, c) == nil {
		_ = http.NewResponseController(a.w).Flush() // a client that has gone needs no answer
	}
}

// giveUp makes the answer to a review that failed at one object, and reads only that object again.
func (c *conversion) giveUp(a *attempt, index int) Pair {
	c.now = time.Now()
	c.reset(a.of.registry, c.hooks, len(a.body))
	c.envelope = a.of.envelope
	group, version, _ := c.envelope.target()
	to := schema.GroupVersion{Group: group, Version: version}
	src := c.readAgain(a.body, c.envelope.objects[index].Span)
	apiVersion, kind, _ := c.identify(src.Outline)
	_, pair, _ := c.route(apiVersion, kind, to)
	c.describe(index, &src, to, errStuck)
	c.doc.Reset(a.body) // which has the uid
	c.observe(pair, c.now.Sub(a.started), errStuck)
	c.flush()
	c.fail(failureMessage(c.failures, c.failed, len(c.envelope.objects)))
	c.report(a.ctx, nil, c.now.Sub(a.started))
	return pair
}

// readAgain makes the object at a place of the body the document.
func (c *conversion) readAgain(body []byte, at jsondoc.Span) source {
	c.doc.Reset(body[at.Start:at.End])
	s, err := c.doc.Scanner(jsondoc.MaxDepth)
	if err != nil { // not possible: the same text has been read before
		return source{}
	}
	src, _ := decodeObject(c.doc, s) // without an outline, nothing of the object is named
	return src
}

// count adds to the conversions of a kind that have not returned.
func (o *watch) count(kind string, more int) {
	o.mu.Lock()
	if o.stuck == nil {
		o.stuck = map[string]int{}
	}
	o.stuck[kind] += more
	if o.stuck[kind] == 0 {
		delete(o.stuck, kind)
	}
	o.anyStuck.Store(len(o.stuck) > 0)
	o.mu.Unlock()
	if o.reviewer.hooks.Stuck != nil {
		o.reviewer.hooks.Stuck(kind, more)
	}
}

// full reports whether no more conversions of a kind may be begun.
func (o *watch) full(kind string) bool {
	if o == nil || !o.anyStuck.Load() {
		return false
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.stuck[kind] >= maxStuck
}
