// Package wait lets a test wait for what should happen at once.
package wait

import (
	"testing"
	"time"
)

// Patience only ends a test that hangs.
const Patience = 2 * time.Minute

// Until looks every few milliseconds until ok, and ends the test where that takes longer than
// [Patience]. It belongs on the test's own goroutine.
func Until(tb testing.TB, what string, ok func() bool) {
	tb.Helper()
	Within(tb, Patience, what, ok)
}

// Within is Until with another patience. It returns how long the wait was.
func Within(tb testing.TB, patience time.Duration, what string, ok func() bool) time.Duration {
	tb.Helper()
	ticker := time.NewTicker(2 * time.Millisecond)
	defer ticker.Stop()
	begin := time.Now()
	for !ok() {
		if time.Since(begin) > patience {
			tb.Fatalf("waited %s for %s, which never came", patience, what)
		}
		<-ticker.C
	}
	return time.Since(begin)
}

// For lets d pass, or less where the test ends.
func For(tb testing.TB, d time.Duration) {
	tb.Helper()
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-tb.Context().Done():
	}
}
