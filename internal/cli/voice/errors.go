package voice

import (
	"errors"
	"fmt"
	"io"
	"strings"
)

// Messages for people go to stderr. Each line begins with "webhookd: ", in lower case, without a
// full stop. A remedy that is a guess follows on a line that begins with "hint: ".

// A usageError is a wrong command line or configuration. The program exits with 2.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// A hintError adds a hint to an error.
type hintError struct {
	error
	hint string
}

func (e hintError) Unwrap() error { return e.error }

// Hint adds a hint to an error.
func Hint(err error, hint string) error { return hintError{err, hint} }

// ErrReported ends the program without another message. It exits with 1 unless a usageError is
// joined to it.
var ErrReported = errors.New("failed")

// Problem returns an error if there is one, so that all problems of a command line are joined.
func Problem(is bool, format string, args ...any) error {
	if !is {
		return nil
	}
	return fmt.Errorf(format, args...)
}

// Usage makes err a usageError with a hint, which may be empty. It returns nil for nil.
func Usage(err error, hint string) error {
	if err == nil {
		return nil
	}
	if hint != "" {
		err = hintError{err, hint}
	}
	return usageError{err}
}

// Report prints err unless it is nil or was printed before, and returns the exit code.
func (p *Program) Report(err error) int {
	if err == nil {
		return ExitOK
	}
	if !errors.Is(err, ErrReported) {
		Say(p.Stderr, err, p.Colored(p.Stderr))
	}
	if _, ok := errors.AsType[usageError](err); ok {
		return exitUsage
	}
	return ExitFailed
}

// Say prints err, one line for each joined problem, and its hint.
func Say(stderr io.Writer, err error, colored bool) {
	name, hint := "webhookd:", "hint:"
	if colored {
		name, hint = paint(Red, name), paint(cyan, hint)
	}
	for line := range strings.Lines(err.Error()) {
		fmt.Fprintf(stderr, "%s %s\n", name, strings.TrimSuffix(line, "\n"))
	}
	if hinted, ok := errors.AsType[hintError](err); ok {
		fmt.Fprintf(stderr, "%s %s\n", hint, hinted.hint)
	}
}
