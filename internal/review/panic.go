package review

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"strings"
)

// errPanicked is what the user reads of a panic; the log has the stack.
var errPanicked = errors.New("converter panicked, see the log of webhookd for the stack and fix the converter")

// panicked tells the hook of a panic, whose deferred function it must be called by, and returns what the user reads of it.
func (c *conversion) panicked(ctx context.Context, pair Pair, v any) error {
	if c.hooks.Panicked != nil {
		c.tellPanic(ctx, pair, panicType(v), stack(4))
	}
	return errPanicked
}

func (c *conversion) tellPanic(ctx context.Context, pair Pair, kind, stack string) {
	if c.hooks.Panicked != nil {
		c.hooks.Panicked(ctx, Panic{Pair: pair, UID: c.loggableUID(), Type: kind, Stack: stack})
	}
}

// panicType describes the value of a panic by its type: its text may hold a field's value. The runtime's own errors hold
// indexes and types only. No method of another type is called, since it may panic again.
func panicType(v any) string {
	t := reflect.TypeOf(v)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if fault, ok := v.(runtime.Error); ok && t.PkgPath() == "runtime" {
		return fault.Error()
	}
	return fmt.Sprintf("%T", v)
}

// stack returns the functions on the stack without their arguments, from the one that so many calls lead from to
// runtime.Callers.
func stack(calls int) string {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(calls, pcs)])
	var b strings.Builder
	for {
		f, more := frames.Next()
		fmt.Fprintf(&b, "%s %s:%d\n", f.Function, f.File, f.Line)
		if !more {
			return b.String()
		}
	}
}
