//go:build !unix

package costtest

import "time"

// processorTime is not known: only memory is compared.
func processorTime() time.Duration { return 0 }
