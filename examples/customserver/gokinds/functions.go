package gokinds

import (
	"github.com/crdconvert/webhookd/examples/customserver/window"
	"github.com/crdconvert/webhookd/internal/converters/rules/transform"
)

// Functions returns the functions that conversion rules call with `go: NAME`. To add one, write it
// in a folder next to this one and add its line here. Callers must not change the map.
func Functions() map[string]transform.GoFunc {
	return map[string]transform.GoFunc{
		"example.com/window": window.Function(),
	}
}
