package server

import (
	"net/http"
	"time"
)

// paceGrace is how long a body may stay below its minimum rate at the start.
const paceGrace = 5 * time.Second

// A pace moves the read deadline of a body with the bytes that have arrived, so a body that
// trickles fails long before ReadTimeout.
type pace struct {
	conn    *conn     // nil: no deadline
	rate    float64   // bytes a second; 0: any
	started time.Time // before the waits of its share
	share   *share
	whole   time.Duration // time for the whole body
	until   time.Time     // deadline of the request
	size    int64         // negative: unknown
}

// pace returns the pace of the body of r, which the server starts to read, and sets its first
// deadline. The minimum rate is at least the one at which the body takes half of ReadTimeout.
func (l *Limits) pace(c *call, r *http.Request) pace {
	if c.answer.conn == nil || r.ContentLength == 0 {
		return pace{size: r.ContentLength}
	}
	until, _ := c.ctx.Deadline()
	p := pace{
		conn: c.answer.conn, rate: float64(l.MinBodyRate), started: c.answer.arrived, share: &c.share,
		whole: l.ReadTimeout, until: until, size: r.ContentLength,
	}
	if l.MinBodyRate > 0 {
		p.rate = max(p.rate, float64(p.size)/(l.ReadTimeout/2).Seconds())
	}
	p.follow(0)
	return p
}

// end removes the deadline: net/http keeps reading, to notice when the client leaves.
func (p *pace) end() {
	if p.conn != nil {
		p.conn.reading.setOwn(time.Time{})
	}
}

// follow sets the deadline for the bytes read so far. The client is not to blame for the time in
// which the server did not read.
func (p *pace) follow(read int64) {
	if p.conn == nil {
		return
	}
	started := p.started.Add(p.share.waited)
	t := started.Add(p.whole)
	if p.rate > 0 {
		paced := started.Add(paceGrace + time.Duration(float64(read)/p.rate*float64(time.Second)))
		if paced.Before(t) {
			t = paced
		}
	}
	if t.After(p.until) {
		t = p.until
	}
	p.conn.reading.setOwn(t)
}
