package conversion

import "github.com/crdconvert/webhookd/internal/converters"

// Internal returns a kind as the rest of webhookd has it.
func Internal(k Kind) converters.Kind { return k.internal() }
