package server

import (
	"context"
	"net/http"
)

type callKey struct{}

// callOf returns the call of the request that [Options].Webhook got with ctx, or nil for a context
// of another origin, for which the functions of this file do nothing.
func callOf(ctx context.Context) *call {
	c, _ := ctx.Value(callKey{}).(*call)
	return c
}

// Reserve asks for additional bytes of memory, apart from the body, for the request that
// [Options].Webhook got with ctx, until its answer begins. It waits as the body does. The
// StatusCode method of its error returns the code to answer: 429 if there is too little memory or
// the request was given up, counted as shed, or 413 if there can never be enough, counted as
// rejected. It is not safe for concurrent use within one request.
func Reserve(ctx context.Context, bytes int64) error {
	c := callOf(ctx)
	if c == nil {
		return nil
	}
	want := c.share.Bytes() + bytes
	if want > c.server.ledger.LargestReview() {
		c.server.opts.Hooks.Rejected(http.StatusRequestEntityTooLarge)
		return footprintError{}
	}
	return c.shed(c.share.Reserve(want))
}

// Settle reduces what is reserved for the request that [Options].Webhook got with ctx to the given
// bytes, which it needs to write its answer.
func Settle(ctx context.Context, bytes int64) {
	if c := callOf(ctx); c != nil && !c.held {
		c.share.Settle(bytes)
	}
}

// Heavy waits until an object of so many bytes may be converted next to others of the request that
// [Options].Webhook got with ctx, and of other requests. The object takes the place of the last
// one. Its error is that of [Reserve].
func Heavy(ctx context.Context, bytes int64) error {
	c := callOf(ctx)
	if c == nil {
		return nil
	}
	return c.shed(c.share.Heavy(bytes))
}

// Yield returns the turn of the request that [Options].Webhook got with ctx, for a handler that
// waits for something else than a processor.
func Yield(ctx context.Context) {
	if c := callOf(ctx); c != nil {
		c.share.Yield()
	}
}

// Hold keeps the memory of the request that [Options].Webhook got with ctx counted after the
// answer, until release is called. It is for a handler that leaves its body, and its memory from
// [Reserve], to another goroutine. The request itself is no longer counted. A call of Reserve may
// be in progress on the other goroutine, which must call release afterwards.
func Hold(ctx context.Context) (release func()) {
	c := callOf(ctx)
	if c == nil || c.held {
		return func() {}
	}
	c.held = true
	c.share.Hold()
	return c.share.Release
}

// A footprintError says that one review needs more memory than all reviews together may use.
type footprintError struct{}

func (footprintError) Error() string {
	return "request takes more memory than webhookd has for all of them: " +
		"send fewer objects, give it more memory or raise max-in-flight-bytes"
}

// StatusCode returns the HTTP code to answer.
func (footprintError) StatusCode() int { return http.StatusRequestEntityTooLarge }
