package check_test

import (
	"runtime/debug"
	"testing"
)

// Many small objects are made, of which nothing stays: with the usual setting half of the time goes
// into collecting garbage.
func TestMain(m *testing.M) {
	debug.SetGCPercent(800)
	m.Run()
}
