package server

import (
	"context"
	"errors"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestSelfCheckSchedule checks that a reload in progress does not make the server unready, and that
// a wrong certificate does so within two intervals (C8).
func TestSelfCheckSchedule(t *testing.T) {
	t.Parallel()
	broken := errors.New("connection refused")
	tests := map[string]struct {
		looks []error // the last one repeats
		want  []error // the state after each second, from 0 s on
	}{
		"good":              {[]error{nil}, []error{nil, nil, nil}},
		"wrong from start":  {[]error{errStale}, []error{errStale, errStale, errStale}},
		"reload under way":  {[]error{nil, errStale, nil}, []error{nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil}},
		"reload that fails": {[]error{nil, errStale}, []error{nil, nil, nil, nil, nil, nil, nil, nil, nil, errStale, errStale}},
		"unreachable once":  {[]error{nil, broken, nil}, []error{nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil}},
		"unreachable":       {[]error{nil, broken, broken, nil}, []error{nil, nil, nil, nil, nil, nil, nil, nil, nil, broken, broken, broken, broken, broken, nil}},
		"wrong, then other": {[]error{nil, errStale, broken}, []error{nil, nil, nil, nil, nil, nil, nil, nil, nil, broken}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c := newSelfCheck(nil, nil)
				if err := c.check(t.Context()); !errors.Is(err, errNotChecked) {
					t.Errorf("before the first look: %v, want %v", err, errNotChecked)
				}
				ctx, cancel := context.WithCancel(t.Context())
				looked := 0
				go c.run(ctx, func(context.Context) error {
					err := tt.looks[min(looked, len(tt.looks)-1)]
					looked++
					return err
				})
				synctest.Wait()
				for second, want := range tt.want {
					if got := c.check(ctx); !errors.Is(got, want) || (got == nil) != (want == nil) {
						t.Errorf("after %d s: %v, want %v", second, got, want)
					}
					<-time.After(time.Second)
					synctest.Wait()
				}
				cancel()
			})
		})
	}
}

func TestOwnAddresses(t *testing.T) {
	t.Parallel()
	for listen, want := range map[string][]string{
		"0.0.0.0:9443":     {"127.0.0.1:9443"},
		"[::]:9443":        {"127.0.0.1:9443", "[::1]:9443"},
		"10.1.2.3:9443":    {"10.1.2.3:9443"},
		"[fe80::1%lo]:443": {"[fe80::1%lo]:443"},
	} {
		addr, err := net.ResolveTCPAddr("tcp", listen)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, ownAddresses(addr)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", listen, diff)
		}
	}
}
