// Package panics makes errors of panics, for goroutines that must outlive them.
package panics

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// A Error is a panic of a goroutine that must outlive it. Its text has no value but those of the runtime's own errors,
// which are types, indexes and lengths.
type Error struct {
	text  string
	Stack []byte
}

func (e *Error) Error() string { return "panic, the log has the stack: " + e.text }

// Survive runs f and makes its panic an error.
func Survive(f func()) (err error) {
	defer func() {
		value := recover()
		if value == nil {
			return
		}
		failed := &Error{text: fmt.Sprintf("%T", value), Stack: debug.Stack()}
		if fault, ok := value.(runtime.Error); ok {
			failed.text = fault.Error()
		}
		err = failed
	}()
	f()
	return nil
}
