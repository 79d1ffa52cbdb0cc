//go:build unix

package costtest

import (
	"syscall"
	"time"
)

// processorTime returns what this process has taken so far.
func processorTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err) // it has no cause
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
