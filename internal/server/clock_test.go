package server

import (
	"testing/synctest"
	"time"
)

// advance moves the clock of a synctest bubble on by d and lets everything in it come to rest. It
// panics elsewhere.
func advance(d time.Duration) {
	time.Sleep(d) //nolint:forbidigo // the clock of a bubble
	synctest.Wait()
}
