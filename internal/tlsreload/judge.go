package tlsreload

import "time"

// skew is how far the clocks of a CA and of this host may be apart.
const skew = 5 * time.Minute

type verdict int

const (
	serve   verdict = iota // the pair on disk takes over
	wait                   // it is not valid yet, and the current pair still serves
	expired                // it has expired, and the current pair has not
)

// judge decides whether the pair on disk replaces the current one at the time now. Every reading
// calls it, with the wall clock, so neither a suspended host nor a clock that jumps can make it
// miss a moment.
//
// A leaf that is not valid yet waits for its NotBefore as long as the current one is valid: that
// costs nothing, whichever clock is wrong. When the current one is not valid, a NotBefore within
// the difference of clocks does not wait. With nothing to keep, any pair serves: a client can still
// decide, and a process that refuses to start helps no client.
func judge(current, disk *pair, now time.Time) verdict {
	if current == nil || current == disk {
		return serve
	}
	currentValid := current.validAt(now)
	if now.Before(disk.event.NotBefore) {
		if !currentValid && !now.Add(skew).Before(disk.event.NotBefore) {
			return serve
		}
		return wait
	}
	if currentValid && now.After(disk.event.NotAfter) {
		return expired
	}
	return serve
}
