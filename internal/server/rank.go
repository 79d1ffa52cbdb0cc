package server

// A rank is a list of connections of one standing, the oldest first. A connection is in at most one
// rank, and moves between them without an allocation. The zero rank is empty.
type rank struct {
	oldest, latest *conn
	length         int
}

// neighbours are a connection's in its rank.
type neighbours struct{ older, later *conn }

func (r *rank) add(c *conn) {
	c.rank = neighbours{older: r.latest}
	if r.latest == nil {
		r.oldest = c
	} else {
		r.latest.rank.later = c
	}
	r.latest = c
	r.length++
}

// remove removes c, which must be in the rank.
func (r *rank) remove(c *conn) {
	older, later := c.rank.older, c.rank.later
	if older == nil {
		r.oldest = later
	} else {
		older.rank.later = later
	}
	if later == nil {
		r.latest = older
	} else {
		later.rank.older = older
	}
	c.rank = neighbours{}
	r.length--
}
