package listen

import (
	"errors"
	"os"
	"sync"
	"time"
)

// A deadline is when the reads or the writes of a socket fail. It changes many times in a request
// and hardly ever passes, but each change of a socket's own deadline moves a timer of the runtime.
// So the socket keeps an earlier one, and gets the right one when that has passed. It is safe for
// concurrent use.
type deadline struct {
	set func(t time.Time) error // sets the socket's

	mu        sync.Mutex
	http, own time.Time // net/http's and the server's; the earlier one counts; zero: none
	socket    time.Time // zero: none
	busy      bool      // a read or a write waits for the socket
}

// setHTTP sets the deadline of net/http.
func (d *deadline) setHTTP(t time.Time) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.http = t
	return d.changed()
}

// setOwn sets the deadline of the server. If it cannot be set, the next read or write fails.
func (d *deadline) setOwn(t time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.own = t
	_ = d.changed()
}

// due returns the deadline that counts. Callers hold mu.
func (d *deadline) due() time.Time {
	if d.http.IsZero() || !d.own.IsZero() && d.own.Before(d.http) {
		return d.own
	}
	return d.http
}

// changed passes an earlier deadline on to a read or a write in progress. Callers hold mu.
func (d *deadline) changed() error {
	if !d.busy {
		return nil
	}
	return d.arm()
}

// arm makes the socket's deadline no later than the one that counts. Callers hold mu.
func (d *deadline) arm() error {
	t := d.due()
	if t.IsZero() || !d.socket.IsZero() && !t.Before(d.socket) {
		return nil
	}
	d.socket = t
	return d.set(t)
}

// begin precedes a read or a write, which fails if the deadline cannot be set.
func (d *deadline) begin() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.busy = true
	_ = d.arm()
}

// end follows a read or a write, which failed with err. It reports whether to repeat it because
// only an earlier deadline has passed.
func (d *deadline) end(err error) (again bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.busy = false
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		return false
	}
	t := d.due()
	if !t.IsZero() && !time.Now().Before(t) {
		return false
	}
	d.socket = t
	return d.set(t) == nil
}
