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
	errStuck = errors.New("converter did not return before the deadline of the request, mend it")
	errFull  = errors.New(strconv.Itoa(maxStuck) +
		" conversions of this kind have never returned, mend the converter and restart webhookd")
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

// An attempt is what a watch knows of a review in progress: enough to answer it without the state of its conversion, which
// another goroutine is at work on.
type attempt struct {
	ctx      context.Context //nolint:containedctx // of the request
	w        http.ResponseWriter
	body     []byte
	started  time.Time
	deadline time.Time
	object   atomic.Int64 // the index of the one that a converter has, plus one

	previous, next *attempt
	answered       chan struct{} // closed when the watch has answered; nil: it has not begun to
	kind           string        // that was counted as stuck
}

// begin has a review watched until end. One without a deadline is never overdue.
func (o *watch) begin(ctx context.Context, w http.ResponseWriter, body []byte, a *attempt) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return
	}
	a.ctx, a.w, a.body, a.started, a.deadline = ctx, w, body, time.Now(), deadline
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

// end reports whether the review is still to be answered; if not, it has been. Only the first call does anything.
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
		o.count(a.kind, -1)
	}
	a.ctx, a.w, a.body, a.answered, a.kind = nil, nil, nil, nil, ""
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
	c := o.reviewer.begin()
	defer o.reviewer.end(c)
	pair := c.giveUp(a, index, o.reviewer)
	a.kind = pair.Kind
	o.count(a.kind, 1)
	a.w.Header().Set("Connection", "close")
	if o.send(a.w, c) == nil {
		_ = http.NewResponseController(a.w).Flush() // a client that has gone needs no answer
	}
}

// giveUp makes the answer to a review that failed at one object.
func (c *conversion) giveUp(a *attempt, index int, r *Reviewer) Pair {
	c.now = time.Now()
	c.reset(r.registry(), r.hooks, len(a.body))
	c.ctx = a.ctx
	if err := c.envelope.decode(c.doc, a.body); err != nil { // not possible: the same text has been read before
		return unknownPair()
	}
	group, version, _ := c.envelope.target()
	to := schema.GroupVersion{Group: group, Version: version}
	apiVersion, kind, _ := c.identify(c.envelope.objects[index].Outline)
	_, pair, _ := c.route(apiVersion, kind, to) // the registry may be another one by now
	c.describe(index, to, errStuck)
	c.observe(pair, c.now.Sub(a.started), errStuck)
	c.flush()
	c.fail(failureMessage(c.failures, c.failed, len(c.envelope.objects)))
	c.report(a.ctx, nil, c.now.Sub(a.started))
	return pair
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
