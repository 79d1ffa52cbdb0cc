package server

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// TestCallContext checks that a context behaves the same whether or not something has waited for it
// before, which makes its timer.
func TestCallContext(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		end  func(c *callContext, cancelRequest func())
		want error
	}{
		{"goes on", func(*callContext, func()) { advance(9 * time.Second) }, nil},
		{"passes its deadline", func(*callContext, func()) { advance(10 * time.Second) }, context.DeadlineExceeded},
		{"loses its client", func(_ *callContext, cancel func()) { cancel() }, context.Canceled},
		{"is answered", func(c *callContext, _ func()) { c.end() }, context.Canceled},
	} {
		for _, waited := range []bool{false, true} {
			t.Run(tt.name, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					request, cancel := context.WithCancel(t.Context())
					c := &callContext{Context: request, deadline: time.Now().Add(10 * time.Second), admission: &admission{}}
					defer c.end()
					if waited {
						_ = c.Done()
					}
					derived, cancelDerived := context.WithCancel(context.WithValue(c, admissionKey{}, nil))
					defer cancelDerived()
					if !waited { // the derived one has waited
						c = &callContext{Context: request, deadline: c.deadline, admission: c.admission}
					}
					tt.end(c, cancel)
					synctest.Wait()
					if err := c.Err(); !errors.Is(err, tt.want) {
						t.Errorf("error %v, want %v", err, tt.want)
					}
					select {
					case <-c.Done():
						if tt.want == nil {
							t.Error("it is done")
						}
					default:
						if tt.want != nil {
							t.Error("it is not done")
						}
					}
					if err := derived.Err(); waited && !errors.Is(err, tt.want) {
						t.Errorf("a context made from it has the error %v, want %v", err, tt.want)
					}
					cancel()
				})
			})
		}
	}
}
