package cluster

import (
	"encoding/json"
	"time"
)

// NextLimit is nextLimit.
func NextLimit(objects []json.RawMessage, took time.Duration) int64 { return nextLimit(objects, took) }
