package ruleset

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// A PanicError is a panic as an error. Its text is the type of the panic's value, or the text of a
// runtime error, which has only types, indexes and lengths.
type PanicError struct {
	text  string
	Stack []byte
}

// Error implements error.
func (e *PanicError) Error() string { return "panic, the log has the stack: " + e.text }

// Survive runs f and returns its panic as a *PanicError, for goroutines that must not end the
// process.
func Survive(f func()) (err error) {
	defer func() {
		value := recover()
		if value == nil {
			return
		}
		failed := &PanicError{text: fmt.Sprintf("%T", value), Stack: debug.Stack()}
		if fault, ok := value.(runtime.Error); ok {
			failed.text = fault.Error()
		}
		err = failed
	}()
	f()
	return nil
}
