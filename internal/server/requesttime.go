package server

import (
	"net/url"
	"strings"
	"time"
)

// answerMargin is how much earlier than its client the server gives up, so that the client gets an
// answer and not a broken connection.
const answerMargin = time.Second

// requestTime returns how long a request may take: the lesser of `?timeout=` and most, less a
// margin of a second or of half the time, whichever is less. It ignores a timeout that is not a
// positive duration.
func requestTime(rawQuery string, most time.Duration) time.Duration {
	d := most
	if asked := timeoutParam(rawQuery); asked > 0 {
		d = min(asked, most)
	}
	return d - min(answerMargin, d/2)
}

// timeoutParam returns the timeout of a raw query, or 0. url.ParseQuery would build a map for each
// request.
func timeoutParam(rawQuery string) time.Duration {
	for rawQuery != "" {
		var pair string
		pair, rawQuery, _ = strings.Cut(rawQuery, "&")
		name, value, _ := strings.Cut(pair, "=")
		if name != "timeout" {
			continue
		}
		value, err := url.QueryUnescape(value)
		if err != nil {
			return 0
		}
		d, err := time.ParseDuration(value)
		if err != nil {
			return 0
		}
		return d
	}
	return 0
}
