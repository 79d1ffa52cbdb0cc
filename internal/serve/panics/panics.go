// Package panics converts panics to errors, for goroutines that must not end the process.
package panics

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// Error is a panic as an error. Its text is the type of the panic's value, or the text of a runtime
// error, which has only types, indexes and lengths.
type Error struct {
	text  string
	Stack []byte
}

func (e *Error) Error() string { return "panic, the log has the stack: " + e.text }

// Survive runs f and returns its panic as an *Error.
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
