package rules_test

import (
	"runtime/debug"
	"testing"
)

// The laws are held on many small objects, of which nothing stays: with the usual setting half of the time goes into
// collecting garbage.
func TestMain(m *testing.M) {
	debug.SetGCPercent(800)
	m.Run()
}
