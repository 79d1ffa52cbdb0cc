package upstream_test

import (
	"runtime/debug"
	"testing"
)

// The laws make many small objects, all of them garbage soon: with the usual setting half of the
// time goes into collecting it.
func TestMain(m *testing.M) {
	debug.SetGCPercent(800)
	m.Run()
}
