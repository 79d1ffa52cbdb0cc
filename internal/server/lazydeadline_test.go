package server

import (
	"errors"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"
)

// timed is a conn over one end of a pipe, which counts how often its socket is told a deadline.
type timed struct {
	*conn

	peer net.Conn
	told int
}

func newTimed(t *testing.T) *timed {
	t.Helper()
	own, peer := net.Pipe()
	t.Cleanup(func() {
		own.Close()
		peer.Close()
	})
	d := &timed{peer: peer}
	count := func(set func(time.Time) error) func(time.Time) error {
		return func(at time.Time) error {
			d.told++
			return set(at)
		}
	}
	d.conn = &conn{
		Conn: own, phase: serving,
		reading: lazyDeadline{set: count(own.SetReadDeadline)}, writing: lazyDeadline{set: count(own.SetWriteDeadline)},
	}
	return d
}

// after returns when a call, begun now, ended and whether by a deadline.
func after(t *testing.T, call func() error) (time.Duration, bool) {
	t.Helper()
	began := time.Now()
	err := call()
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("unexpected error: %v", err)
	}
	return time.Since(began), err != nil
}

func TestLazyDeadlines(t *testing.T) {
	t.Parallel()
	second := func(n int) time.Time {
		if n < 0 {
			return time.Time{}
		}
		return time.Now().Add(time.Duration(n) * time.Second)
	}
	for _, test := range []struct {
		name     string
		before   []int // deadlines in seconds from now, -1 for none, with a call that is served after each
		deadline int
		during   []int // deadlines that are set while the call waits, a second apart
		want     int   // second in which the deadline strikes; -1: never, the peer comes after 100 s
	}{
		{"the first deadline strikes", nil, 5, nil, 5},
		{"none is set", nil, -1, nil, -1},
		{"a later one replaces one that is armed", []int{5}, 30, nil, 30},
		{"an earlier one replaces one that is armed", []int{30}, 5, nil, 5},
		{"one that was cleared does not strike", []int{5}, -1, nil, -1},
		{"one that has passed strikes at once", []int{5}, 0, nil, 0},
		{"one that is set meanwhile strikes", nil, -1, []int{3}, 4},
		{"an earlier one that is set meanwhile strikes", nil, 30, []int{3}, 4},
		{"one that is set to the past meanwhile strikes at once", nil, 30, []int{0}, 1},
		{"a later one that is set meanwhile counts", nil, 3, []int{10}, 11},
		{"one that is cleared meanwhile does not strike", nil, 3, []int{-1}, -1},
		{"the last that is set meanwhile counts", nil, 30, []int{3, 20}, 22},
	} {
		for _, direction := range []struct {
			name           string
			call, peer     func(*timed) error
			setDeadline    func(*timed, time.Time) error
			otherDirection func(*timed, time.Time) error
		}{
			{
				"read",
				func(d *timed) error { _, err := d.Read(make([]byte, 1)); return err },
				func(d *timed) error { _, err := d.peer.Write([]byte{1}); return err },
				func(d *timed, at time.Time) error { return d.SetReadDeadline(at) },
				func(d *timed, at time.Time) error { return d.SetWriteDeadline(at) },
			},
			{
				"write",
				func(d *timed) error { _, err := d.Write([]byte{1}); return err },
				func(d *timed) error { _, err := d.peer.Read(make([]byte, 1)); return err },
				func(d *timed, at time.Time) error { return d.SetWriteDeadline(at) },
				func(d *timed, at time.Time) error { return d.SetReadDeadline(at) },
			},
		} {
			t.Run(direction.name+": "+test.name, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					d := newTimed(t)
					set := func(n int) {
						if err := direction.setDeadline(d, second(n)); err != nil {
							t.Errorf("set deadline: %v", err)
						}
					}
					if err := direction.otherDirection(d, time.Now()); err != nil {
						t.Fatal(err)
					}
					for _, n := range test.before {
						set(n)
						go func() { _ = direction.peer(d) }()
						if took, struck := after(t, func() error { return direction.call(d) }); struck || took > 0 {
							t.Fatalf("a call that is served at once: deadline %t after %s", struck, took)
						}
					}
					set(test.deadline)
					for i, n := range test.during {
						time.AfterFunc(time.Duration(i+1)*time.Second, func() { set(n) })
					}
					if test.want < 0 {
						time.AfterFunc(100*time.Second, func() { _ = direction.peer(d) })
					}
					took, struck := after(t, func() error { return direction.call(d) })
					want := time.Duration(test.want) * time.Second
					if test.want < 0 {
						want = 100 * time.Second
					}
					if took != want || struck != (test.want >= 0) {
						t.Errorf("ended after %s, by the deadline: %t; want %s, %t", took, struck, want, test.want >= 0)
					}
				})
			})
		}
	}
}

// TestLimitOfADeadline holds that a limit is a deadline of its own, for a call that waits and for the next one.
func TestLimitOfADeadline(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name          string
		wanted, limit int // seconds from now, -1 for none
		during        bool
		want          int // second in which the deadline strikes; -1: never, the peer comes after 100 s
	}{
		{"alone", -1, 5, false, 5},
		{"alone, meanwhile", -1, 5, true, 5},
		{"before what is wanted", 30, 5, false, 5},
		{"before what is wanted, meanwhile", 30, 5, true, 5},
		{"after what is wanted", 5, 30, false, 5},
		{"after what is wanted, meanwhile", 5, 30, true, 5},
		{"lifted", 5, -1, false, 5},
		{"lifted, meanwhile", 5, -1, true, 5},
		{"lifted, with none wanted", -1, -1, true, -1},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				d, began := newTimed(t), time.Now()
				at := func(n int) time.Time {
					if n < 0 {
						return time.Time{}
					}
					return began.Add(time.Duration(n) * time.Second)
				}
				limit := func() {
					if err := d.reading.limit(at(test.limit)); err != nil {
						t.Error(err)
					}
				}
				if err := errors.Join(d.SetReadDeadline(at(test.wanted)), d.reading.limit(at(2))); err != nil {
					t.Fatal(err)
				}
				if test.during {
					time.AfterFunc(time.Second, limit)
				} else {
					limit()
				}
				if test.want < 0 {
					time.AfterFunc(100*time.Second, func() { _, _ = d.peer.Write([]byte{1}) })
				}
				took, struck := after(t, func() error { _, err := d.Read(make([]byte, 1)); return err })
				want := time.Duration(test.want) * time.Second
				if test.want < 0 {
					want = 100 * time.Second
				}
				if took != want || struck != (test.want >= 0) {
					t.Errorf("ended after %s, by the deadline: %t; want %s, %t", took, struck, want, test.want >= 0)
				}
			})
		})
	}
}

// TestDeadlinesOfRequestsAreRarelyTold does what net/http does for each of many requests.
func TestDeadlinesOfRequestsAreRarelyTold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newTimed(t)
		go func() {
			for buffer := make([]byte, 1); ; {
				if _, err := d.peer.Write(buffer); err != nil {
					return
				}
				if _, err := d.peer.Read(buffer); err != nil {
					return
				}
			}
		}()
		const requests = 1000
		for range requests {
			now := time.Now()
			for _, set := range []func() error{
				func() error { return d.SetReadDeadline(now.Add(120 * time.Second)) }, // idle
				func() error { _, err := d.Read(make([]byte, 1)); return err },
				func() error { return d.SetReadDeadline(now.Add(5 * time.Second)) },   // header
				func() error { return d.SetReadDeadline(now.Add(30 * time.Second)) },  // body
				func() error { return d.SetWriteDeadline(now.Add(35 * time.Second)) }, // answer
				func() error { return d.SetReadDeadline(time.Unix(1, 0)) },            // the background read ends
				func() error { return d.SetReadDeadline(time.Time{}) },
				func() error { _, err := d.Write(make([]byte, 1)); return err },
				func() error { return d.SetWriteDeadline(time.Time{}) },
			} {
				if err := set(); err != nil {
					t.Fatal(err)
				}
			}
		}
		if d.told > 2 {
			t.Errorf("the socket was told %d deadlines for %d requests, want 2", d.told, requests)
		}
	})
}

// TestWriteGoesOnWhereItWas lets a deadline that nobody wants any more strike in the middle of a write.
func TestWriteGoesOnWhereItWas(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newTimed(t)
		if err := d.SetWriteDeadline(time.Now().Add(time.Second)); err != nil {
			t.Fatal(err)
		}
		got := make([]byte, 6)
		go func() { _, _ = d.peer.Read(got[:1]) }()
		if _, err := d.Write([]byte("0")); err != nil {
			t.Fatal(err)
		}
		if err := d.SetWriteDeadline(time.Now().Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		go func() {
			_, _ = d.peer.Read(got[1:3])
			time.AfterFunc(10*time.Second, func() { _, _ = d.peer.Read(got[3:]) })
		}()
		if n, err := d.Write([]byte("12345")); n != 5 || err != nil || string(got) != "012345" {
			t.Errorf("wrote %d of 5 bytes (%v), the peer has %q", n, err, got)
		}
	})
}
