package server

import (
	"net/url"
	"time"
)

// answerMargin is how much earlier than its client the server gives up, so that the client gets an
// answer and not a broken connection.
const answerMargin = time.Second

// requestTime returns how long a request may take: the lesser of `?timeout=` and most, less a
// margin of a second or of half the time, whichever is less. It ignores a timeout that is not a
// positive duration.
func requestTime(query url.Values, most time.Duration) time.Duration {
	d := most
	if asked, err := time.ParseDuration(query.Get("timeout")); err == nil && asked > 0 {
		d = min(asked, most)
	}
	return d - min(answerMargin, d/2)
}
