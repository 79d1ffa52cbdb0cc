package server

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"time"
)

// firstChunk is what a body of unknown length is given to begin with.
const firstChunk = 64 << 10

// A watchedBody is a request body that has to come fast enough. It reports, once, that it could not be read: the answer is
// the webhook handler's, but it gets no review to tell of, so nobody else would count it.
type watchedBody struct {
	io.ReadCloser

	hooks  *Hooks
	pace   pace
	failed bool
}

// Read passes on what the body says.
func (b *watchedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err == nil || errors.Is(err, io.EOF) {
		b.pace.advance(n, err != nil)
	} else if !b.failed {
		b.failed = true
		b.hooks.rejected(unreadCode(err))
	}
	return n, err
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

// A chunkedBody is a request body without a Content-Length. It reserves its share of the byte budget as it grows.
type chunkedBody struct {
	ctx       context.Context //nolint:containedctx // Read has no parameter for it
	admission *admission
	body      *watchedBody // limited to limit bytes
	limit     int64
	read      int64
	room      int64 // that is reserved
	refused   error
}

// Read fails with an *http.MaxBytesError beyond the limit and with an overloadError when the
// budget is used up.
func (b *chunkedBody) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if err := b.reserve(); err != nil {
		return 0, err
	}
	// At the limit one more byte is asked for: only that tells the end from an excess.
	room := max(b.room-b.read, 1)
	n, err := b.body.Read(p[:min(int64(len(p)), room)])
	b.read += int64(n)
	return n, err
}

// Close closes the body.
func (b *chunkedBody) Close() error { return b.body.Close() }

func (b *chunkedBody) reserve() error {
	if b.refused != nil || b.read < b.room || b.room >= b.limit {
		return b.refused
	}
	more := min(b.room, b.limit-b.room)
	asked := time.Now()
	if b.refused = b.admission.grow(b.ctx, b.admission.share.total()+more); b.refused == nil {
		b.room += more
		b.body.pace.pause(time.Since(asked)) // that time is not its client's
	}
	return b.refused
}
