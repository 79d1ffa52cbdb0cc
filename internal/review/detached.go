package review

import (
	"context"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// A converter learns of the deadline from its context. Rules check the context as they go. Go code
// need not, and cannot be stopped. So objects of such kinds are converted on a goroutine of their
// own. The goroutine of the review waits until the review is overdue, then abandons the conversion
// and answers that it failed. Whatever the other goroutine holds stays with it and is not reused:
// the conversion, the body, and the memory counted for both.

// overdueAfter is how long after its deadline a review is overdue. It leaves a converter that
// watches its context time to return an error of its own.
const overdueAfter = 250 * time.Millisecond

// stackRoom is how many bytes of stack a conversion of the compiled-in kinds uses.
const stackRoom = 8 << 10

// A task is the state that the two goroutines of a conversion share. It is reused with the
// conversion.
type task struct {
	state  atomic.Int32
	object atomic.Int64  // index of the object being converted
	ended  chan struct{} // receives when the conversion ends in time
	timer  *time.Timer
	fault  *fault

	// Only for an abandoned conversion; set before answered is closed.
	answered chan struct{}
	kind     string // counted as stuck; empty: none
	release  func() // releases the memory; nil: it is not counted
}

// The states of a task.
const (
	taskRunning int32 = iota
	taskEnded
	taskAbandoned
)

// A fault is a panic outside a converter. It must not end the process either.
type fault struct{ kind, stack string }

// begin prepares the task for a conversion that may take the given time.
func (t *task) begin(first int, overdue time.Duration) {
	t.state.Store(taskRunning)
	t.object.Store(int64(first))
	if t.timer != nil {
		t.timer.Reset(overdue)
		return
	}
	t.ended, t.answered, t.timer = make(chan struct{}, 1), make(chan struct{}), time.NewTimer(overdue)
}

// wait reports whether the conversion ended in time. If not, it abandons the conversion.
func (t *task) wait() bool {
	defer t.timer.Stop()
	select {
	case <-t.ended:
	case <-t.timer.C:
		if t.state.CompareAndSwap(taskRunning, taskAbandoned) {
			return false
		}
		<-t.ended
	}
	return true
}

// abandoned reports whether the review was answered without this conversion.
func (t *task) abandoned() bool { return t.state.Load() == taskAbandoned }

// convertDetached converts the remaining objects on another goroutine. It returns false if it
// abandoned the conversion: c then belongs to the other goroutine, and answerAbandoned builds the
// answer.
func (c *conversion) convertDetached(ctx context.Context, to schema.GroupVersion) bool {
	if c.hooks.Yield != nil {
		c.hooks.Yield(ctx)
	}
	deadline, _ := ctx.Deadline()
	c.task.begin(c.next, time.Until(deadline)+overdueAfter)
	go func() {
		growStack(c.next)
		c.runDetached(ctx, to)
	}()
	if !c.task.wait() {
		return false
	}
	if f := c.task.fault; f != nil {
		c.reportPanic(ctx, unknownPair(), f.kind, f.stack)
		panic(f) // for the recover of the request's goroutine
	}
	return true
}

// growStack grows the stack of a new goroutine once, while there is nothing on it to copy. Most
// conversions would otherwise grow it three times (BenchmarkHandler).
//
//go:noinline
func growStack(i int) byte {
	var room [stackRoom]byte
	return room[i%stackRoom] // an index that the compiler does not know, so it keeps the array
}

// runDetached is the body of the other goroutine.
func (c *conversion) runDetached(ctx context.Context, to schema.GroupVersion) {
	whole := false
	defer func() {
		if v := recover(); v != nil {
			c.task.fault = &fault{panicType(v), stack(3)}
		} else if !whole {
			c.task.fault = &fault{"call of runtime.Goexit", stack(3)}
		}
		if c.task.state.CompareAndSwap(taskRunning, taskEnded) {
			c.task.ended <- struct{}{}
		} else {
			c.finishAbandoned(ctx)
		}
	}()
	c.inline = true
	c.convertAll(ctx, to)
	whole = true
}

// finishAbandoned releases what an abandoned conversion holds, once it has returned.
func (c *conversion) finishAbandoned(ctx context.Context) {
	defer func() { _ = recover() }() // a hook may panic, and no request is left to fail
	<-c.task.answered
	if c.task.release != nil {
		c.task.release()
	}
	c.stuck.count(c.task.kind, -1)
	if f := c.task.fault; f != nil {
		c.reportPanic(ctx, unknownPair(), f.kind, f.stack)
	}
}
