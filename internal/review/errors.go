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
var ErrDeadline = errors.New("deadline of the request exceeded, raise request-timeout or send fewer objects at once")

// maxMessage bounds the message of a failed review, in bytes. What it leaves out it counts.
const maxMessage = 1024

// A failure is an object that could not be converted.
type failure struct {
	index          int
	kind, name, ns string
	from, to       string
	err            error
}

// String names the object, the versions and the reason: objects[2] CronTab default/a v1beta1 -> v1: REASON: PATH.
func (f *failure) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "objects[%d]", f.index)
	if f.kind != "" {
		b.WriteString(" " + printable(f.kind))
	}
	if f.ns != "" {
		b.WriteString(" " + printable(f.ns) + "/" + printable(f.name))
	} else if f.name != "" {
		b.WriteString(" " + printable(f.name))
	}
	if f.from != "" {
		b.WriteString(" " + printable(f.from) + " -> " + printable(f.to))
	}
	return b.String() + ": " + flatten(f.err.Error())
}

// failureMessage names every failing object, up to maxMessage bytes.
func failureMessage(failures []failure, objects int) string {
	var b strings.Builder
	if objects > 1 {
		fmt.Fprintf(&b, "%d of %d objects cannot be converted: ", len(failures), objects)
	}
	for i := range failures {
		text := failures[i].String()
		if i > 0 && b.Len()+len(text) > maxMessage {
			fmt.Fprintf(&b, "; and %d more", len(failures)-i)
			break
		}
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(truncate(text, maxMessage-min(maxMessage/2, b.Len())))
	}
	return b.String()
}

// printable makes a name fit to be shown: whole if it is like a Kubernetes name, else without what could forge a log
// line or a terminal, and not longer than a name may be.
func printable(name string) string {
	name = truncate(name, 253)
	return strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsGraphic(r) {
			return '?'
		}
		return r
	}, name)
}

func flatten(text string) string { return strings.ReplaceAll(text, "\n", "; ") }

func truncate(text string, size int) string {
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
	var syntax *jsondoc.SyntaxError
	if errors.As(err, &syntax) {
		return &RequestError{"body is not valid JSON, send a ConversionReview: " + err.Error()}
	}
	return err
}
