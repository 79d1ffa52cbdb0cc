package server

import (
	"context"
	"math/rand/v2"
	"net"
	"net/http"
	"time"
)

// A client keeps its connection to one replica for as long as it can. So that replicas which came
// later get their part of the load, and a node that was lost is not waited for, a connection that
// has reached a certain age ends with the next answer on it. The age varies by a fifth, or all the
// connections that a restart made at once would end at once.

type connKey struct{}

// withConn makes a connection's state known to the requests on it.
func withConn(ctx context.Context, c net.Conn) context.Context {
	if own := connOf(c); own != nil {
		return context.WithValue(ctx, connKey{}, own)
	}
	return ctx
}

// connOfRequest returns the connection that r came on, or nil.
func connOfRequest(r *http.Request) *conn {
	c, _ := r.Context().Value(connKey{}).(*conn)
	return c
}

// connExpired reports whether r came on a connection that is to end.
func connExpired(r *http.Request, now time.Time) bool {
	c := connOfRequest(r)
	return c != nil && !c.expires.IsZero() && now.After(c.expires)
}

// expiry returns when a connection made now is to end: never (zero) for age 0.
func expiry(now time.Time, age time.Duration) time.Time {
	if age == 0 {
		return time.Time{}
	}
	return now.Add(time.Duration(float64(age) * (0.8 + 0.4*rand.Float64()))) //nolint:gosec // not a secret
}
