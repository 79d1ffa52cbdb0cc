package server

import (
	"net/http"
	"time"
)

// paceGrace is how long a body may take to gather speed.
const paceGrace = 5 * time.Second

// A pace makes the deadline of reading a body follow what has come of it, so that one which trickles is given up long
// before ReadTimeout. Its zero value lets a body take all the time that net/http gives it.
type pace struct {
	conn    *conn
	rate    int64         // bytes a second; 0: any
	started time.Time     // later by the pauses that there were
	whole   time.Duration // that it may take
	end     time.Time     // of the request, and so of its body
	left    int64         // of its bytes; negative: not known
	read    int64
}

// pace returns that of the body of r, which is wanted from now on and not beyond the request's deadline, and sets its first
// deadline in place of net/http's.
func (l *Limits) pace(r *http.Request, now, deadline time.Time) pace {
	c, ok := r.Context().Value(connKey{}).(*conn)
	if !ok || r.ContentLength == 0 {
		return pace{}
	}
	p := pace{conn: c, rate: l.MinBodyRate, started: now, whole: l.ReadTimeout, end: deadline, left: r.ContentLength}
	p.follow()
	return p
}

// advance moves the deadline on after n bytes more. When the body is complete there is none: net/http goes on reading, to
// learn whether the client leaves, and takes a deadline for that.
func (p *pace) advance(n int, end bool) {
	if p.conn == nil {
		return
	}
	p.read += int64(n)
	if p.left -= int64(n); end || p.left == 0 {
		_ = p.conn.reading.want(time.Time{})
		p.conn = nil
		return
	}
	p.follow()
}

// pause leaves out d, in which nobody wanted the body.
func (p *pace) pause(d time.Duration) {
	if p.conn == nil {
		return
	}
	p.started = p.started.Add(d)
	p.follow()
}

// follow sets the deadline that goes with what has been read.
func (p *pace) follow() {
	t := p.started.Add(p.whole)
	if p.rate > 0 {
		paced := p.started.Add(paceGrace + time.Duration(float64(p.read)/float64(p.rate)*float64(time.Second)))
		if paced.Before(t) {
			t = paced
		}
	}
	if t.After(p.end) {
		t = p.end
	}
	_ = p.conn.reading.want(t) // what is wrong with the socket, the next Read says
}
