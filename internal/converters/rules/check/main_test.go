package check_test

import (
	"runtime/debug"
	"testing"
)

// The tests make many small, short-lived objects: with the default GOGC, half of the time would go
// into collecting garbage.
func TestMain(m *testing.M) {
	debug.SetGCPercent(800)
	m.Run()
}
