package server

import (
	"context"
	"math/rand/v2"
	"net"
	"net/http"
	"time"
)

// A client keeps its connection to one replica as long as it can. A connection that reaches a
// certain age ends with its next answer, so new replicas get their share of the load, and clients
// leave a lost node. The age varies by a fifth: otherwise all connections made after a restart
// would end at once.

type connKey struct{}

// withConn adds the connection's state to the context of its requests.
func withConn(ctx context.Context, c net.Conn) context.Context {
	if own := connOf(c); own != nil {
		return context.WithValue(ctx, connKey{}, own)
	}
	return ctx
}

// connOfRequest returns the connection of r, or nil.
func connOfRequest(r *http.Request) *conn {
	c, _ := r.Context().Value(connKey{}).(*conn)
	return c
}

// expired reports whether the connection must end. A nil one never does.
func (c *conn) expired(now time.Time) bool {
	return c != nil && !c.expires.IsZero() && now.After(c.expires)
}

// expiry returns when a connection made now must end: never (zero) for age 0.
func expiry(now time.Time, age time.Duration) time.Time {
	if age == 0 {
		return time.Time{}
	}
	return now.Add(time.Duration(float64(age) * (0.8 + 0.4*rand.Float64()))) //nolint:gosec // not a secret
}
