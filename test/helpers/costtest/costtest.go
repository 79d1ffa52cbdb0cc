// Package costtest lets a test hold work to linear cost. It compares two sizes in one run, and
// counts processor time, which other programs do not change, so it does not depend on the speed of
// the machine.
package costtest

import (
	"runtime"
	"testing"
	"time"
)

const (
	// Times is how much larger the larger of the two sizes is. Quadratic work takes its square.
	Times = 8
	// slack is how much more than linear the processor time may grow: caches are only so large.
	slack = 3
	tries = 3
	// Less is noise.
	noise      = 20 * time.Millisecond
	noiseBytes = 1 << 20
)

// Linear fails the test if the function that prepare returns for Times the size takes far more than
// Times the memory or the processor time of the one for the size. What prepare does is not counted.
// The test must not be parallel: it counts what the process takes.
func Linear(tb testing.TB, size int, prepare func(size int) (run func())) {
	tb.Helper()
	for try := 1; ; try++ {
		smallTime, smallBytes := cost(prepare(size))
		largeTime, largeBytes := cost(prepare(Times * size))
		if largeBytes > 2*Times*smallBytes+noiseBytes {
			tb.Errorf("%d bytes of memory for size %d, %d for %d times that", smallBytes, size, largeBytes, Times)
			return
		}
		if largeTime <= slack*Times*smallTime+noise {
			return
		}
		if try == tries {
			tb.Errorf("%v of processor time for size %d, %v for %d times that", smallTime, size, largeTime, Times)
			return
		}
	}
}

func cost(run func()) (time.Duration, uint64) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	began := processorTime()
	run()
	took := processorTime() - began
	runtime.ReadMemStats(&after)
	return took, after.TotalAlloc - before.TotalAlloc
}
