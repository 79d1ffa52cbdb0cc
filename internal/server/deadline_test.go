package server

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestRequestTime(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]time.Duration{
		"":                            29 * time.Second,
		"timeout=30s":                 29 * time.Second,
		"timeout=10s":                 9 * time.Second,
		"timeout=2s":                  time.Second,
		"timeout=1s":                  500 * time.Millisecond,
		"timeout=1ms":                 500 * time.Microsecond,
		"timeout=1h":                  29 * time.Second,
		"timeout=10":                  29 * time.Second,
		"timeout=-5s":                 29 * time.Second,
		"timeout=0s":                  29 * time.Second,
		"timeout=":                    29 * time.Second,
		"timeout":                     29 * time.Second,
		"timeout=soon":                29 * time.Second,
		"timeout=%zz":                 29 * time.Second,
		"timeout=9999999999999999h":   29 * time.Second,
		"timeout=%31%30s":             9 * time.Second,
		"a=b&timeout=10s&timeout=20s": 9 * time.Second,
		"xtimeout=10s&Timeout=10s":    29 * time.Second,
		"&&=&;timeout=10s":            29 * time.Second,
	} {
		if got := requestTime(query, 30*time.Second); got != want {
			t.Errorf("%q: %s, want %s", query, got, want)
		}
	}
}

// TestDeadlineContext compares a deadlineContext with what the standard library makes of the same.
func TestDeadlineContext(t *testing.T) {
	t.Parallel()
	type key struct{}
	type outcome struct {
		deadline   time.Duration
		err, cause error
		value      any
	}
	tests := map[string]func(ctx context.Context, cancelParent func()){
		"time not up":              func(context.Context, func()) {},
		"time up, never waited on": func(context.Context, func()) { advance(time.Minute) },
		"time up, waited on":       func(ctx context.Context, _ func()) { <-ctx.Done() },
		"parent ends":              func(_ context.Context, cancel func()) { cancel() },
		"parent ends, waited on":   func(ctx context.Context, cancel func()) { done := ctx.Done(); cancel(); <-done },
		"time up, then parent ends": func(ctx context.Context, cancel func()) {
			advance(time.Minute)
			_ = ctx.Err()
			cancel()
		},
		"parent ends, then time up":  func(_ context.Context, cancel func()) { cancel(); advance(time.Minute) },
		"time up as a child waits":   func(ctx context.Context, _ func()) { waitOnChild(ctx) },
		"a function runs afterwards": func(ctx context.Context, _ func()) { waitAfterFunc(ctx) },
	}
	for name, act := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				run := func(lazy bool) outcome {
					parent, cancelParent := context.WithCancel(context.WithValue(t.Context(), key{}, "value"))
					defer cancelParent()
					start := time.Now()
					var ctx context.Context
					if lazy {
						c := &deadlineContext{parent: parent, deadline: start.Add(30 * time.Second)}
						defer c.stop()
						ctx = c
					} else {
						c, cancel := context.WithTimeout(parent, 30*time.Second)
						defer cancel()
						ctx = c
					}
					act(ctx, cancelParent)
					synctest.Wait()
					d, _ := ctx.Deadline()
					err := ctx.Err() // before Cause
					return outcome{deadline: d.Sub(start), err: err, cause: context.Cause(ctx), value: ctx.Value(key{})}
				}
				want, got := run(false), run(true)
				if got.deadline != want.deadline || !errors.Is(got.err, want.err) || !errors.Is(got.cause, want.cause) || got.value != want.value {
					t.Errorf("got %v, want %v", got, want)
				}
			})
		})
	}
}

func waitOnChild(ctx context.Context) {
	child, cancel := context.WithCancel(ctx)
	defer cancel()
	<-child.Done()
}

func waitAfterFunc(ctx context.Context) {
	done := make(chan struct{})
	context.AfterFunc(ctx, func() { close(done) })
	<-done
}

func TestDeadlineOfParentComesFirst(t *testing.T) {
	t.Parallel()
	parent, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	ctx := &deadlineContext{parent: parent, deadline: time.Now().Add(time.Hour)}
	want, _ := parent.Deadline()
	if got, ok := ctx.Deadline(); !ok || !got.Equal(want) {
		t.Errorf("deadline %v, want the parent's %v", got, want)
	}
}
