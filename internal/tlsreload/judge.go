package tlsreload

import "time"

// skew is how much the clocks of a CA and of this host may differ.
const skew = 5 * time.Minute

type verdict int

const (
	serve   verdict = iota // the pair on disk replaces the current one
	wait                   // it is not valid yet; the current pair stays
	expired                // it has expired; the current pair has not
)

// judge decides whether the pair on disk replaces the current one at the time now. Every reading
// calls it with the wall clock, so neither a suspended host nor a clock that jumps can make it miss
// a moment.
//
// A leaf that is not valid yet waits for its NotBefore as long as the current one is valid: that
// costs nothing, whichever clock is wrong. If the current one is not valid, a NotBefore within skew
// does not wait. Without a current pair any pair is served: a client can still decide, and a
// process that refuses to start helps no client.
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
