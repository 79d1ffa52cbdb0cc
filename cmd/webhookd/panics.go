package main

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"

	"go.uber.org/zap"
)

// A panicError is a panic of a goroutine that must outlive it. Its text has no value but those of the runtime's own errors,
// which are types, indexes and lengths.
type panicError struct {
	text  string
	stack []byte
}

func (e *panicError) Error() string { return "panic, the log has the stack: " + e.text }

// survive runs f and makes its panic an error.
func survive(f func()) (err error) {
	defer func() {
		value := recover()
		if value == nil {
			return
		}
		failed := &panicError{text: fmt.Sprintf("%T", value), stack: debug.Stack()}
		if fault, ok := value.(runtime.Error); ok {
			failed.text = fault.Error()
		}
		err = failed
	}()
	f()
	return nil
}

// stackOf returns the field of the log that an error has, if it was a panic.
func stackOf(err error) []zap.Field {
	if failed, ok := errors.AsType[*panicError](err); ok {
		return []zap.Field{zap.ByteString("stack", failed.stack)}
	}
	return nil
}
