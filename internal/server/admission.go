package server

import (
	"context"
	"errors"
	"net/http"
)

// An admission is a request's leave to take memory. One goroutine at a time uses it: the request's, until it says Hold.
type admission struct {
	gate  *gate
	hooks *Hooks
	share *share
	held  bool // by Hold; only for the goroutine of the request
}

type admissionKey struct{}

// Reserve asks for bytes of memory more for the request that [Options].Webhook got with ctx, beside those of its body, until
// it is answered. It waits as the body had to. The error is what to answer: its StatusCode method returns 429 while there is
// too little, which this call has counted as shed, and 413 where there never will be enough, counted as rejected. In a context
// of another origin nothing is bounded. Not for concurrent use within one request.
func Reserve(ctx context.Context, bytes int64) error {
	a, ok := ctx.Value(admissionKey{}).(*admission)
	if !ok {
		return nil
	}
	total := a.share.bytes + bytes
	if total > a.gate.largest() {
		a.hooks.rejected(http.StatusRequestEntityTooLarge)
		return footprintError{}
	}
	return a.grow(ctx, total)
}

// Hold keeps the memory of the request that [Options].Webhook got with ctx counted after its answer, until release is called:
// for a handler that leaves its body, and what it asked for by [Reserve], to another goroutine. The request itself no longer
// counts. A call of Reserve may be in progress on the other goroutine, which has to call release after it.
func Hold(ctx context.Context) (release func()) {
	a, ok := ctx.Value(admissionKey{}).(*admission)
	if !ok || a.held {
		return func() {}
	}
	a.held = true
	a.gate.answered(a.share)
	return func() { a.gate.release(a.share) }
}

// grow makes the share total bytes in all.
func (a *admission) grow(ctx context.Context, total int64) error {
	err := a.gate.grow(ctx, a.share, total)
	if err == nil {
		return nil
	}
	if over, ok := errors.AsType[overloadError](err); ok {
		a.hooks.shed(string(over))
	}
	return overloadError(ShedBytes)
}

// release gives the share back, unless it is held.
func (a *admission) release() {
	if a.share != nil && !a.held {
		a.gate.release(a.share)
	}
}

// A footprintError says that one review needs more memory than there may be for all.
type footprintError struct{}

func (footprintError) Error() string {
	return "request has more arrays and objects than webhookd has memory for at once: " +
		"send fewer objects, give it more memory or raise max-in-flight-bytes"
}

// StatusCode returns the HTTP code to answer.
func (footprintError) StatusCode() int { return http.StatusRequestEntityTooLarge }
