package server

import (
	"net/url"
	"strings"
	"time"
)

// answerMargin is how much earlier than its client the server gives up, so that the client gets an
// answer and not a broken connection.
const answerMargin = time.Second

// requestTime returns how long a request may take: the lesser of `timeout=` in its query and most,
// less a margin of a second or of half the time, whichever is less. It ignores a timeout that is
// not a positive duration.
func requestTime(query string, most time.Duration) time.Duration {
	d := most
	for part := range strings.SplitSeq(query, "&") {
		if text, is := strings.CutPrefix(part, "timeout="); is {
			text, _ = url.QueryUnescape(text)
			if asked, err := time.ParseDuration(text); err == nil && asked > 0 {
				d = min(asked, most)
			}
			break
		}
	}
	return d - min(answerMargin, d/2)
}
