package server

import (
	"errors"
	"io"
	"net/http"
	"os"
)

// A body is the body of a review. It takes its share of the byte budget as it arrives, must arrive
// fast enough, and reports once if it could not be read: the webhook handler answers such a
// request, but reports no review.
type body struct {
	io.ReadCloser

	call    *call
	size    int64 // of the whole body, or its limit if that is unknown
	pace    pace
	read    int64
	failure error
	done    bool
}

// Read reserves memory for p and fills it. With the end of the body, it waits for the turn to
// convert. It fails with an [overloadError] if there is no memory, or if the request was given up;
// with an *http.MaxBytesError beyond the limit; and with [os.ErrDeadlineExceeded] if the body
// arrives too slowly.
func (b *body) Read(p []byte) (int, error) {
	if len(p) == 0 || b.failure != nil {
		return 0, b.failure
	}
	want := min(b.read+int64(len(p)), b.size)
	if err := b.reserve(want); err != nil {
		return 0, err
	}
	if share := &b.call.share; share.bytes > want { // the rest was for a buffer that is not used any more
		b.call.server.ledger.shrink(share, amount{requests: share.requests, bytes: want})
	}
	n, err := b.ReadCloser.Read(p)
	b.read += int64(n)
	b.call.share.done.Add(int64(n))
	if errors.Is(err, io.EOF) || err == nil && b.read == b.pace.size {
		return n, b.finish(err)
	}
	if err == nil {
		b.pace.follow(b.read)
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
	if both > b.call.server.ledger.room() { // there is only one body of this size at a time
		both = n
	}
	return b.reserve(both)
}

// reserve enlarges the share to n bytes, if it is smaller. If there is no room, it refuses the rest
// of the body.
func (b *body) reserve(n int64) error {
	want := b.call.share.amount
	if n <= want.bytes {
		return nil
	}
	want.bytes = n
	b.failure = b.call.grow(want)
	if b.failure != nil {
		b.call.discard = answerEarly(b.call.answer, b.call.request)
	}
	return b.failure
}

// finish ends the reading with err.
func (b *body) finish(err error) error {
	if b.done {
		return err
	}
	b.done = true
	b.pace.end()
	if b.failure = b.call.arrived(); b.failure != nil {
		return b.failure
	}
	return err
}

// readError returns the error of a Read whose reader returned err, which may be nil, and counts it.
func (b *body) readError(err error) error {
	if reason := b.call.share.refused.Load(); reason != nil {
		return b.call.shed(*reason)
	}
	if err != nil {
		b.call.server.opts.Hooks.rejected(unreadCode(err))
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
