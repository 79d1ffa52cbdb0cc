package hold_test

import (
	"runtime/debug"
	"testing"
)

// The laws are checked on many small objects that are soon garbage. With the usual setting,
// collecting it would take half of the time.
func TestMain(m *testing.M) {
	debug.SetGCPercent(800)
	m.Run()
}
