package server

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"

	"github.com/crdconvert/webhookd/internal/apistatus"
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

// A chunkedBody is a request body without a Content-Length. It reserves its share of the byte budget
// as it grows, and answers the request itself when there is none left.
//
// It is also the handler's ResponseWriter: whatever the handler makes of the failed read, the client
// has got its 429 by then.
type chunkedBody struct {
	http.ResponseWriter // of the request

	ctx   context.Context //nolint:containedctx // Read has no parameter for it
	hooks *Hooks
	gate  *gate
	share lease
	body  io.ReadCloser // limited to limit bytes
	limit int64
	read  int64

	refused bool
	ignored http.Header // what Header returns after a refusal
}

// newChunkedBody takes over share, which close gives back.
func newChunkedBody(w http.ResponseWriter, r *http.Request, hooks *Hooks, g *gate, share lease, limit int64, paced pace) *chunkedBody {
	return &chunkedBody{
		ResponseWriter: w,
		ctx:            r.Context(),
		hooks:          hooks,
		gate:           g,
		share:          share,
		body:           &watchedBody{ReadCloser: http.MaxBytesReader(w, r.Body, limit), hooks: hooks, pace: paced},
		limit:          limit,
	}
}

// reader returns b as a request body.
func (b *chunkedBody) reader() io.ReadCloser {
	return struct {
		io.Reader
		io.Closer
	}{b, b.body}
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
	room := max(b.share.total()-b.read, 1)
	n, err := b.body.Read(p[:min(int64(len(p)), room)])
	b.read += int64(n)
	return n, err
}

func (b *chunkedBody) reserve() error {
	if b.refused {
		return overloadError(ShedBytes)
	}
	have := b.share.total()
	if b.read < have || have >= b.limit {
		return nil
	}
	share, err := b.gate.grow(b.ctx, b.share, min(2*have, b.limit))
	if err != nil {
		b.refuse(err)
		return err
	}
	b.share = share
	return nil
}

func (b *chunkedBody) refuse(err error) {
	if over, ok := errors.AsType[overloadError](err); ok {
		b.hooks.shed(string(over))
	}
	apistatus.WriteOverloaded(b.ResponseWriter, overloadedText)
	b.refused = true
	b.ignored = make(http.Header)
}

func (b *chunkedBody) release() { b.gate.release(b.share) }

// Header is that of the answer, and nobody's after a refusal.
func (b *chunkedBody) Header() http.Header {
	if b.refused {
		return b.ignored
	}
	return b.ResponseWriter.Header()
}

// WriteHeader does nothing after a refusal.
func (b *chunkedBody) WriteHeader(code int) {
	if !b.refused {
		b.ResponseWriter.WriteHeader(code)
	}
}

// Write does nothing after a refusal.
func (b *chunkedBody) Write(p []byte) (int, error) {
	if b.refused {
		return len(p), nil
	}
	return b.ResponseWriter.Write(p)
}

// Unwrap is for http.ResponseController.
func (b *chunkedBody) Unwrap() http.ResponseWriter { return b.ResponseWriter }
