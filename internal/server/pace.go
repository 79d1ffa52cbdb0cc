package server

import (
	"net/http"
	"time"
)

// paceGrace is how long a body may take to gather speed.
const paceGrace = 5 * time.Second

// A pace makes the deadline of reading a body follow what has come of it, so that one which trickles is given up long
// before ReadTimeout.
type pace struct {
	conn    *conn         // nil: the body has all the time there is
	rate    float64       // bytes a second; 0: any
	started time.Time     // later by the pauses that there were
	whole   time.Duration // that it may take
	until   time.Time     // end of the request, and so of its body
	size    int64         // negative: not known
}

// pace returns that of the body of r, which is wanted from now on and not beyond the request's deadline, and sets its first
// deadline. Half of ReadTimeout has to be enough for it at its speed.
func (l *Limits) pace(r *http.Request, now time.Time) pace {
	c := connOfRequest(r)
	if c == nil || r.ContentLength == 0 {
		return pace{}
	}
	deadline, _ := r.Context().Deadline()
	p := pace{conn: c, rate: float64(l.MinBodyRate), started: now, whole: l.ReadTimeout, until: deadline, size: r.ContentLength}
	if l.MinBodyRate > 0 {
		p.rate = max(p.rate, float64(p.size)/(l.ReadTimeout/2).Seconds())
	}
	p.follow(0)
	return p
}

// complete reports whether n bytes are all.
func (p *pace) complete(n int64) bool { return p.conn != nil && n == p.size }

// end lifts the deadline: net/http goes on reading, to learn whether the client leaves.
func (p *pace) end() {
	if p.conn != nil {
		p.conn.reading.setOwn(time.Time{})
	}
}

// pause leaves out d, in which nobody wanted the body.
func (p *pace) pause(d time.Duration) { p.started = p.started.Add(d) }

// follow sets the deadline that goes with what has been read.
func (p *pace) follow(read int64) {
	if p.conn == nil {
		return
	}
	t := p.started.Add(p.whole)
	if p.rate > 0 {
		paced := p.started.Add(paceGrace + time.Duration(float64(read)/p.rate*float64(time.Second)))
		if paced.Before(t) {
			t = paced
		}
	}
	if t.After(p.until) {
		t = p.until
	}
	p.conn.reading.setOwn(t)
}
