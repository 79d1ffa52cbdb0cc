package server

import (
	"errors"
	"os"
	"sync"
	"time"
)

// A lazyDeadline is the read or the write deadline of a connection. net/http sets and clears seven of them for each request
// and waits for hardly any, and each costs the poller a timer. So the socket is told only when a call is about to block
// without a deadline that is early enough; one that is too early is found out when it strikes, and the call goes on
// (make bench-serve: 2 % of the CPU of a small request). Safe for concurrent use.
type lazyDeadline struct {
	set func(time.Time) error // that of the socket

	mu     sync.Mutex
	wanted time.Time // zero: none
	most   time.Time // which wanted may not exceed; zero: it may
	armed  time.Time // what the socket has: never later than due while a call is in progress
	calls  int       // in progress
}

// want makes t the deadline, for calls in progress too.
func (d *lazyDeadline) want(t time.Time) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.wanted = t
	return d.change()
}

// limit makes t the deadline wherever a later one is wanted, or none, until it is lifted with a zero t.
func (d *lazyDeadline) limit(t time.Time) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.most = t
	return d.change()
}

// change tells the socket if a call in progress would miss the deadline. Callers hold mu.
func (d *lazyDeadline) change() error {
	if d.calls == 0 || !d.late() {
		return nil
	}
	d.armed = d.due()
	return d.set(d.armed)
}

// due returns the deadline, or zero where there is none. Callers hold mu.
func (d *lazyDeadline) due() time.Time {
	if d.most.IsZero() || !d.wanted.IsZero() && d.wanted.Before(d.most) {
		return d.wanted
	}
	return d.most
}

// do calls call, which reads or writes from where it left off, until it ends otherwise than by a deadline that nobody
// wants.
func (d *lazyDeadline) do(call func() error) error {
	if err := d.begin(); err != nil {
		return err
	}
	defer d.end()
	for {
		err := call()
		if err == nil || !errors.Is(err, os.ErrDeadlineExceeded) || d.struck() {
			return err
		}
	}
}

func (d *lazyDeadline) begin() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.late() {
		if !time.Now().Before(d.due()) {
			return os.ErrDeadlineExceeded
		}
		d.armed = d.due()
		if err := d.set(d.armed); err != nil {
			return err
		}
	}
	d.calls++
	return nil
}

func (d *lazyDeadline) end() {
	d.mu.Lock()
	d.calls--
	d.mu.Unlock()
}

// late reports whether the socket's deadline, or that it has none, comes after the one that is wanted. Callers hold mu.
func (d *lazyDeadline) late() bool {
	due := d.due()
	return !due.IsZero() && (d.armed.IsZero() || due.Before(d.armed))
}

// struck reports whether the deadline that has passed is the one that is wanted, and else arms that.
func (d *lazyDeadline) struck() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	due := d.due()
	if !due.IsZero() && !time.Now().Before(due) {
		return true
	}
	d.armed = due
	return d.set(due) != nil
}
