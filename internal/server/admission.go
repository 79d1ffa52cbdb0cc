package server

import (
	"context"
	"errors"
	"net/http"
)

// An admission is a request's share of the memory. Only one goroutine at a time uses it: the
// request's, until it calls Hold.
type admission struct {
	gate  *gate
	hooks *Hooks
	share *share
	held  bool // set by Hold; used only by the goroutine of the request
}

type admissionKey struct{}

// Reserve asks for additional bytes of memory, apart from the body, for the request that
// [Options].Webhook got with ctx, until it is answered. It waits as the body does. The StatusCode
// method of its error returns the code to answer: 429 while there is too little memory, counted as
// shed, or 413 if there can never be enough, counted as rejected. With a context of another origin
// it does nothing. It is not safe for concurrent use within one request.
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

// Hold keeps the memory of the request that [Options].Webhook got with ctx counted after the
// answer, until release is called. It is for a handler that leaves its body, and its memory from
// [Reserve], to another goroutine. The request itself is no longer counted. A call of Reserve may
// be in progress on the other goroutine, which must call release afterwards.
func Hold(ctx context.Context) (release func()) {
	a, ok := ctx.Value(admissionKey{}).(*admission)
	if !ok || a.held {
		return func() {}
	}
	a.held = true
	a.gate.answered(a.share)
	return func() { a.gate.release(a.share) }
}

// grow enlarges the share to total bytes.
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

// release releases the share, unless it is held.
func (a *admission) release() {
	if a.share != nil && !a.held {
		a.gate.release(a.share)
	}
}

// A footprintError says that one review needs more memory than all reviews together may use.
type footprintError struct{}

func (footprintError) Error() string {
	return "request has more arrays and objects than webhookd has memory for at once: " +
		"send fewer objects, give it more memory or raise max-in-flight-bytes"
}

// StatusCode returns the HTTP code to answer.
func (footprintError) StatusCode() int { return http.StatusRequestEntityTooLarge }
