package review

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// A RequestError says why a body cannot be answered with a ConversionReview: it is no JSON, or no review, or has no uid.
// It quotes nothing of the body.
type RequestError struct{ problem string }

// Error implements error.
func (e *RequestError) Error() string { return e.problem }

// ErrDeadline is why the objects fail that were not converted when the deadline of the request came.
var ErrDeadline = errors.New(
	"deadline of the request exceeded, make the converter faster or raise request-timeout up to 30 s")

const (
	maxMessage = 1024 // bounds the message of a failed review, in bytes; what it leaves out it counts
	minShare   = 256  // of the message, that an object has for itself before others are only counted
	maxNamed   = 100  // more objects than that have no room in a message
	maxName    = 253  // bytes of a name or key that are shown: the longest name of an object
	maxLabel   = 63   // bytes of a kind, version or namespace that are shown
)

// A failure is an object that could not be converted.
type failure struct {
	index          int
	kind, name, ns string
	from, to       string
	reason         string
}

// String names the object, the versions and the reason: objects[2] CronTab default/a v1beta1 -> v1: REASON: PATH.
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

// failureMessage names the failing objects, of which there are failed among so many objects, as far as maxMessage bytes
// go. They share the room, so that a long reason does not hide the next object.
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
		if i > 0 && len(text) > room {
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

// converterError keeps what a converter's error says, fit to be shown, and nothing else of it: its methods are code of
// the converter.
func converterError(err error) error { return errors.New(reason(err)) }

// reason is the text of an error on one line.
func reason(err error) string {
	return printable(strings.ReplaceAll(clip(err.Error(), 2*maxMessage), "\n", "; "), maxMessage)
}

// printable makes a text fit to be shown: without what could forge a log line or steer a terminal, and not too long.
func printable(text string, size int) string {
	return strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsGraphic(r) {
			return '?'
		}
		return r
	}, clip(text, size))
}

// clip shortens a text to size bytes, between two characters, with three dots more where something is missing.
func clip(text string, size int) string {
	if len(text) <= size {
		return text
	}
	for size > 0 && !utf8.RuneStart(text[size]) {
		size--
	}
	return text[:size] + "..."
}

// requestError wraps what the scanner found.
func requestError(err error) error {
	if _, ok := errors.AsType[*jsondoc.SyntaxError](err); ok {
		return &RequestError{"body cannot be read, send a ConversionReview as JSON: " + err.Error()}
	}
	return &RequestError{err.Error()}
}
