package review

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"strings"
)

// errPanicked is the message for the user; the log has the stack.
var errPanicked = errors.New("converter panicked, see the log of webhookd for the stack and fix the converter")

// panicked reports a panic to the hook and returns the error for the user. It must be called by the
// deferred function that recovered.
func (c *conversion) panicked(ctx context.Context, pair Pair, v any) error {
	c.reportPanic(ctx, pair, panicType(v), stack(4))
	return errPanicked
}

func (c *conversion) reportPanic(ctx context.Context, pair Pair, kind, stack string) {
	if c.hooks.Panicked != nil {
		c.hooks.Panicked(ctx, Panic{Pair: pair, UID: c.loggableUID(), Type: kind, Stack: stack})
	}
}

// panicType describes the value of a panic by its type, because its text may contain a field's
// value. The runtime's own errors contain only indexes and types. It calls no method of any other
// type, because that may panic again.
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

// stack returns the functions on the stack without their arguments, skipping as many frames as
// runtime.Callers with the same argument.
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
