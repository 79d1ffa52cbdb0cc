package listen

import (
	"testing/synctest"
	"time"
)

// advance moves the clock of a synctest bubble by d and waits until all goroutines in it block. It
// panics elsewhere.
func advance(d time.Duration) {
	time.Sleep(d) //nolint:forbidigo // the clock of a bubble
	synctest.Wait()
}
