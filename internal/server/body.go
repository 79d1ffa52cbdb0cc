package server

import (
	"errors"
	"io"
	"net/http"
	"os"
	"time"
)

// A body is the body of a review. It takes its share of the memory as it arrives, must arrive fast
// enough, and reports once if it could not be read: the webhook handler answers such a request, but
// reports no review.
type body struct {
	io.ReadCloser

	call    *call
	length  int64 // of the whole body; negative: unknown
	size    int64 // length, or the limit if that is unknown
	read    int64
	failure error
	done    bool
}

const (
	// minBodyRate is the rate, in bytes per second, that a body must have reached from its sixth
	// second on. A slower one would keep its share for all of its request's time.
	minBodyRate = 1 << 10
	// largeBodyTime is the time for a large body, after paceGrace.
	largeBodyTime = 15 * time.Second
	// paceGrace is how long a body may stay below its minimum rate at the start.
	paceGrace = 5 * time.Second
)

// Read reserves memory for p and fills it. With the end of the body, it waits for the turn to
// convert. It fails with a [gate.OverloadError] if there is no memory, or if the request was given
// up; with an *http.MaxBytesError beyond the limit; and with [os.ErrDeadlineExceeded] if the body
// arrives too slowly.
func (b *body) Read(p []byte) (int, error) {
	if b.failure != nil {
		return 0, b.failure
	}
	want := min(b.read+int64(len(p)), b.size)
	if err := b.reserve(want); err != nil {
		return 0, err
	}
	if share := &b.call.share; share.Bytes() > want { // the rest was for a buffer that is not used any more
		share.Settle(want)
	}
	n, err := b.ReadCloser.Read(p)
	b.read += int64(n)
	b.call.share.Done(int64(n))
	if errors.Is(err, io.EOF) || b.read == b.length {
		return n, b.finish(err)
	}
	if err == nil {
		b.pace()
	}
	b.failure = b.readError(err)
	return n, b.failure
}

// Room reserves memory for a buffer of n bytes before the caller makes it. The bytes read so far
// may be in another buffer until the next Read. Its errors are those of Read.
func (b *body) Room(n int64) error {
	if b.failure != nil {
		return b.failure
	}
	both := n + b.read
	if both > b.call.server.ledger.Room() { // there is only one body of this size at a time
		both = n
	}
	return b.reserve(both)
}

// reserve enlarges the share to n bytes, if it is smaller. If there is no room, it refuses the rest
// of the body.
func (b *body) reserve(n int64) error {
	b.failure = b.call.shed(b.call.share.Reserve(n))
	if b.failure != nil {
		b.call.answerEarly()
	}
	return b.failure
}

// pace moves the read deadline with the bytes that have arrived, so a body that trickles fails long
// before its request does. The client is not to blame for the time in which the server did not
// read.
func (b *body) pace() {
	c := b.call
	if c.answer.conn == nil {
		return
	}
	rate := max(minBodyRate, float64(b.length)/largeBodyTime.Seconds())
	t := c.answer.arrived.Add(c.share.Waited() + paceGrace + time.Duration(float64(b.read)/rate*float64(time.Second)))
	if until, _ := c.ctx.Deadline(); t.After(until) {
		t = until
	}
	c.answer.conn.SetBodyDeadline(t)
}

// finish ends the reading with err.
func (b *body) finish(err error) error {
	if b.done {
		return err
	}
	b.done = true
	if conn := b.call.answer.conn; conn != nil {
		conn.SetBodyDeadline(time.Time{}) // net/http keeps reading, to notice when the client leaves
	}
	if b.failure = b.call.arrived(); b.failure != nil {
		return b.failure
	}
	return err
}

// readError returns the error of a Read whose reader returned err, which may be nil, and counts it.
func (b *body) readError(err error) error {
	if reason := b.call.share.Refused(); reason != nil {
		return b.call.shed(reason)
	}
	if err != nil {
		b.call.server.opts.Hooks.Rejected(unreadCode(err))
	}
	return err
}

// unreadCode returns the code that [Options].Webhook answers if reading the body fails with err.
func unreadCode(err error) int {
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return http.StatusRequestEntityTooLarge
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return http.StatusRequestTimeout
	}
	return http.StatusBadRequest
}
