package review

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A RequestError says why a body cannot be answered with a ConversionReview: it is not JSON, not a
// review, or has no uid. It quotes nothing of the body.
type RequestError struct{ problem string }

// Error implements error.
func (e *RequestError) Error() string { return e.problem }

// ErrDeadline is the failure of objects that were not converted before the deadline of the request.
var ErrDeadline = errors.New(
	"deadline of the request exceeded, make the converter faster or raise request-timeout up to 30 s")

const (
	maxMessage = 1024 // bytes in the message of a failed review; it counts what it leaves out
	minShare   = 256  // bytes of the message that a named object gets at least; further objects are only counted
	maxNamed   = 100  // objects that a message has room for
	maxName    = 253  // bytes shown of a name or key: the longest name of an object
	maxLabel   = 63   // bytes shown of a kind, version or namespace
)

// A failure is an object that could not be converted.
type failure struct {
	index          int
	kind, name, ns string
	from, to       string
	reason         string
}

// String names the object, the versions and the reason:
// "objects[2] CronTab default/a v1beta1 -> v1: REASON: PATH".
func (f *failure) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "objects[%d]", f.index)
	if f.kind != "" {
		b.WriteString(" " + printable(f.kind, maxLabel))
	}
	if f.ns != "" {
		b.WriteString(" " + printable(f.ns, maxLabel) + "/" + printable(f.name, maxName))
	} else if f.name != "" {
		b.WriteString(" " + printable(f.name, maxName))
	}
	if f.from != "" {
		b.WriteString(" " + printable(f.from, maxLabel) + " -> " + printable(f.to, maxLabel))
	}
	return b.String() + ": " + f.reason
}

// failureMessage names the failed objects in at most maxMessage bytes. failures has the first of
// them; failed and objects are counts. The objects share the room, so one long reason does not hide
// the next object.
func failureMessage(failures []failure, failed, objects int) string {
	var b strings.Builder
	if objects > 1 {
		fmt.Fprintf(&b, "%d of %d objects cannot be converted: ", failed, objects)
	}
	for i := range failures {
		room := maxMessage - b.Len()
		text := clip(failures[i].String(), max(room/(failed-i)-len("; ..."), minShare))
		if i > 0 {
			text = "; " + text
		}
		if len(text) > room {
			failures = failures[:i]
			break
		}
		b.WriteString(text)
	}
	if more := failed - len(failures); more > 0 {
		fmt.Fprintf(&b, "; and %d more", more)
	}
	return b.String()
}

// converterError keeps only the printable text of a converter's error: the methods of the error are
// code of the converter.
func converterError(err error) error { return errors.New(reason(err)) }

// reason returns the text of an error on one line.
func reason(err error) string {
	return printable(strings.ReplaceAll(clip(err.Error(), 2*maxMessage), "\n", "; "), maxMessage)
}

// printable removes what could forge a log line or steer a terminal, and shortens text to size
// bytes.
func printable(text string, size int) string {
	return strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsGraphic(r) {
			return '?'
		}
		return r
	}, clip(text, size))
}

// clip shortens text to size bytes, at a character boundary, and marks the cut with three dots.
func clip(text string, size int) string {
	if len(text) <= size {
		return text
	}
	for size > 0 && !utf8.RuneStart(text[size]) {
		size--
	}
	return text[:size] + "..."
}

// requestError wraps an error of the scanner.
func requestError(err error) error {
	return &RequestError{"body cannot be read, send a ConversionReview as JSON: " + err.Error()}
}
