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

// Read reserves memory for p and fills it. It fails with an [overloadError] if there is no memory,
// or if the body was too slow while another request waited; with an *http.MaxBytesError beyond the
// limit; and with [os.ErrDeadlineExceeded] if the body arrives too slowly.
func (b *body) Read(p []byte) (int, error) {
	if len(p) == 0 || b.failure != nil {
		return 0, b.failure
	}
	want := min(b.read+int64(len(p)), b.size)
	if err := b.reserve(want); err != nil {
		return 0, err
	}
	b.call.gate.shrink(&b.call.share, want)
	n, err := b.ReadCloser.Read(p)
	b.read += int64(n)
	b.call.share.transfer.done.Add(int64(n))
	if errors.Is(err, io.EOF) || err == nil && b.pace.complete(b.read) {
		b.finish()
		return n, err
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
	if both > b.call.gate.roomForLarge() { // there is only one body of this size at a time
		both = n
	}
	return b.reserve(both)
}

// reserve enlarges the share to n bytes, if it is smaller. If there is no room, it refuses the rest
// of the body.
func (b *body) reserve(n int64) error {
	if n <= b.call.share.bytes {
		return nil
	}
	b.failure = b.call.grow(&b.call.context, n)
	if b.failure != nil {
		b.call.discard = answerEarly(b.call.answer, b.call.request)
	}
	return b.failure
}

func (b *body) finish() {
	if b.done {
		return
	}
	b.done = true
	b.call.arrived(b.pace.size)
	b.pace.end()
}

// readError returns the error of a Read whose reader returned err, which may be nil, and counts it.
func (b *body) readError(err error) error {
	switch {
	case b.call.share.transfer.interrupted.Load():
		b.call.hooks.shed(ShedSlow)
		return overloadError(ShedSlow)
	case err != nil:
		b.call.hooks.rejected(unreadCode(err))
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
