package review

import (
	"context"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// A converter learns of the deadline from its context. Rules look at it as they go on. Go code need not, and nothing can
// stop it. So objects of such kinds are converted apart: on a goroutine of their own. The goroutine of the review waits
// until the review is overdue, then gives the conversion up and answers that it failed. What the other goroutine holds
// stays with it and is not used again: the conversion, the body, and the memory that is counted for both.

// overdueAfter is how long after the deadline a review is overdue, so that a converter which listens answers itself.
const overdueAfter = 250 * time.Millisecond

// stackRoom is what a conversion of the compiled-in kinds takes of a stack, in bytes.
const stackRoom = 8 << 10

// A task is what the two goroutines of a conversion know of each other. It is reused with the conversion.
type task struct {
	state  atomic.Int32
	object atomic.Int64  // the index of the one that is being converted
	ended  chan struct{} // receives once the conversion has ended in time
	timer  *time.Timer
	fault  *fault

	// Of a conversion that was given up; set before answered is closed.
	answered chan struct{}
	kind     string // that counts as stuck; empty: none
	release  func() // gives the memory back; nil: it is not counted
}

// The states of a task.
const (
	taskRuns int32 = iota
	taskEnded
	taskGivenUp
)

// A fault is a panic of something else than a converter, which must not end the process either.
type fault struct{ kind, stack string }

// begin readies the task for a conversion that is overdue after some time.
func (t *task) begin(first int, overdue time.Duration) {
	t.state.Store(taskRuns)
	t.object.Store(int64(first))
	if t.timer != nil {
		t.timer.Reset(overdue)
		return
	}
	t.ended, t.answered, t.timer = make(chan struct{}, 1), make(chan struct{}), time.NewTimer(overdue)
}

// wait reports whether the conversion has ended. If not, it was overdue and is given up.
func (t *task) wait() bool {
	defer t.timer.Stop()
	select {
	case <-t.ended:
	case <-t.timer.C:
		if t.state.CompareAndSwap(taskRuns, taskGivenUp) {
			return false
		}
		<-t.ended
	}
	return true
}

// givenUp reports whether the review was answered without this conversion.
func (t *task) givenUp() bool { return t.state.Load() == taskGivenUp }

// convertApart converts the remaining objects on another goroutine. It reports false if it gave that up: the conversion
// now belongs to the other goroutine, and giveUp makes the answer.
func (c *conversion) convertApart(ctx context.Context, to schema.GroupVersion) bool {
	deadline, _ := ctx.Deadline()
	c.task.begin(c.next, time.Until(deadline)+overdueAfter)
	go func() {
		growStack(c.next)
		c.apart(ctx, to)
	}()
	if !c.task.wait() {
		return false
	}
	if f := c.task.fault; f != nil {
		c.tellPanic(ctx, unknownPair(), f.kind, f.stack)
		panic(f) // the request's goroutine knows what to do with it
	}
	return true
}

// growStack has the stack of a new goroutine grow once, while there is nothing on it to move. Most conversions need it, and
// would have it grow three times (BenchmarkHandler).
//
//go:noinline
func growStack(i int) byte {
	var room [stackRoom]byte
	return room[i%stackRoom] // which the compiler does not know
}

// apart is the other goroutine.
func (c *conversion) apart(ctx context.Context, to schema.GroupVersion) {
	whole := false
	defer func() {
		if v := recover(); v != nil {
			c.task.fault = &fault{panicType(v), stack(3)}
		} else if !whole {
			c.task.fault = &fault{"call of runtime.Goexit", stack(3)}
		}
		if c.task.state.CompareAndSwap(taskRuns, taskEnded) {
			c.task.ended <- struct{}{}
		} else {
			c.leave(ctx)
		}
	}()
	c.alone = true
	c.convertAll(ctx, to)
	whole = true
}

// leave ends a conversion that was given up.
func (c *conversion) leave(ctx context.Context) {
	defer func() { _ = recover() }() // of a hook: there is no request any more that it could fail
	<-c.task.answered
	if c.task.release != nil {
		c.task.release()
	}
	c.stuck.count(c.task.kind, -1)
	if f := c.task.fault; f != nil {
		c.tellPanic(ctx, unknownPair(), f.kind, f.stack)
	}
}
