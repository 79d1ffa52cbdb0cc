package server

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"time"
)

// A body is that of a review. It takes its share of the byte budget as it comes, has to come fast enough, and reports, once,
// that it could not be read: the answer is the webhook handler's, but it gets no review to tell of, so nobody else would count it.
type body struct {
	io.ReadCloser

	*admission

	ctx     context.Context //nolint:containedctx // the request's
	size    int64            // of all of it, or where that is unknown the most that it may have
	pace    pace
	arrived func() // called once all of it has come
	refused func() // called where there is no room for more
	read    int64
	failure error
	unheard bool // it was refused, and its client is still sending
	done    bool
}

// Read asks for the room that there is in p, and fills it. It fails with an [overloadError] where there is none, or where the
// body was too slow while another request waited; with an *http.MaxBytesError beyond the limit; and with
// [os.ErrDeadlineExceeded] where the body comes too slowly at any time.
func (b *body) Read(p []byte) (int, error) {
	if len(p) == 0 || b.failure != nil {
		return 0, b.failure
	}
	want := min(b.read+int64(len(p)), b.size)
	if err := b.reserve(want); err != nil {
		b.failure = err
		b.refused()
		return 0, err
	}
	b.gate.shrink(b.share, want)
	n, err := b.ReadCloser.Read(p)
	b.read += int64(n)
	b.share.transfer.done.Add(int64(n))
	if errors.Is(err, io.EOF) || err == nil && b.pace.complete(b.read) {
		b.finish()
		return n, err
	}
	if err == nil {
		b.pace.follow(b.read)
	}
	b.failure = b.because(err)
	return n, b.failure
}

// Room asks for a buffer of n bytes in all, before it is made; what has been read may be in another one until the next Read. Its
// error is that of a Read.
func (b *body) Room(n int64) error {
	if b.failure != nil {
		return b.failure
	}
	both := n + b.read
	if both > b.gate.roomForLarge() { // a body of which there is only one at a time
		both = n
	}
	if err := b.reserve(both); err != nil {
		b.failure = err
		b.refused()
		return err
	}
	return nil
}

// reserve asks for a share of n bytes, unless it has more.
func (b *body) reserve(n int64) error {
	if n > b.share.bytes {
		asked := time.Now()
		if err := b.grow(b.ctx, n); err != nil {
			return err
		}
		b.pace.pause(time.Since(asked)) // that time is not its client's
	}
	return nil
}

func (b *body) finish() {
	if b.done {
		return
	}
	b.done = true
	if b.arrived != nil {
		b.arrived()
	}
	b.pace.end()
}

// because returns what the body says where reading it has come to err, or to nil.
func (b *body) because(err error) error {
	switch {
	case b.share.transfer.interrupted.Load():
		b.hooks.shed(ShedSlow)
		return overloadError(ShedSlow)
	case err != nil:
		b.hooks.rejected(unreadCode(err))
	}
	return err
}

// unreadCode returns what [Options].Webhook answers where reading the body fails with err.
func unreadCode(err error) int {
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return http.StatusRequestEntityTooLarge
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return http.StatusRequestTimeout
	}
	return http.StatusBadRequest
}
